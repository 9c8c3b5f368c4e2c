import { nodeTransport, serve } from '@signalbox/node-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cannedAnswers } from '../src/answers/index.ts'
import { type ChaosProvider, chaosProvider, defaultText, type TestGateway, testGateway } from '../src/index.ts'
import { clients } from './drivers/clients.ts'
import { found, languages } from './drivers/languages.ts'
import { look } from './drivers/scenes.ts'

// The same over sockets on both sides: what no test in one process sees is framing, and paths.

describe.each(languages)('a provider of $name on a socket', language => {
  let provider: ChaosProvider
  let testbed: TestGateway
  let server: { readonly url: string; close(): Promise<void> }

  beforeAll(async () => {
    provider = await chaosProvider()
    testbed = await testGateway({ servers: [provider], dialect: language.name, transport: nodeTransport() })
    server = await serve(testbed.gateway, { port: 0 })
  })
  afterAll(async () => {
    await server.close()
    await testbed.close()
    await provider.close()
  })

  const deliveries = [false, true].flatMap(stream => clients.map(client => ({ client, language: client.language, stream })))

  test.each(deliveries)('serves a client of $language, streamed: $stream', async ({ client, stream }) => {
    const talk = client.converse({ secret: testbed.secret, url: server.url })
    talk.say('Go.')
    const { calls, told } = await talk.ask({ stream, model: 'say:tools', tools: [look] })
    expect(told).toBe(cannedAnswers.tools.text)
    expect(calls.map(call => JSON.parse(call.arguments))).toEqual(cannedAnswers.tools.tools.map(call => JSON.parse(call.arguments)))
    talk.answer(calls, ['Rain.', 'Sun.'])
    expect(await talk.ask({ stream, model: 'say:reasoning', tools: [look] })).toMatchObject({
      told: defaultText,
      text: defaultText,
      reasoning: cannedAnswers.reasoning.reasoning,
      finish: 'stop',
    })
    expect(found(provider.requests.at(-1)?.json, language.result).map(({ output }) => output)).toEqual(['Rain.', 'Sun.'])
    expect(provider.unexpectedRequests).toEqual([])
  })

  test.each(deliveries)('that breaks off gives a client of $language an error, streamed: $stream', async ({ client, stream }) => {
    const talk = client.converse({ secret: testbed.secret, url: server.url })
    talk.say('Go.')
    await expect(talk.ask({ stream, model: 'fault:reset-mid-stream' })).rejects.toBeInstanceOf(client.errors.any)
  })
})
