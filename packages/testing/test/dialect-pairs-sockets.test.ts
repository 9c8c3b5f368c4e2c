import { nodeTransport, serve } from '@signalbox/node-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cannedAnswers } from '../src/answers/index.ts'
import { type ChaosProvider, chaosProvider, defaultText, type TestGateway, testGateway } from '../src/index.ts'
import { clients } from './drivers/clients.ts'
import { found, providerTraits } from './drivers/provider-traits.ts'
import { look } from './drivers/scenes.ts'

// The same over sockets on both sides: what no test in one process sees is framing, and paths.

describe.each(providerTraits)('a provider of $name on a socket', traits => {
  let provider: ChaosProvider
  let testbed: TestGateway
  let server: { readonly url: string; close(): Promise<void> }

  beforeAll(async () => {
    provider = await chaosProvider()
    testbed = await testGateway({ servers: [provider], dialect: traits.name, transport: nodeTransport() })
    server = await serve(testbed.gateway, { port: 0 })
  })
  afterAll(async () => {
    await server.close()
    await testbed.close()
    await provider.close()
  })

  const deliveries = [false, true].flatMap(stream => clients.map(client => ({ client, dialect: client.dialect, stream })))

  test.each(deliveries)('serves a client of $dialect, streamed: $stream', async ({ client, stream }) => {
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
    expect(found(provider.requests.at(-1)?.json, traits.result).map(({ output }) => output)).toEqual(['Rain.', 'Sun.'])
    expect(provider.unexpectedRequests).toEqual([])
  })

  test.each(deliveries)('that breaks off gives a client of $dialect an error, streamed: $stream', async ({ client, stream }) => {
    const talk = client.converse({ secret: testbed.secret, url: server.url })
    talk.say('Go.')
    await expect(talk.ask({ stream, model: 'fault:reset-mid-stream' })).rejects.toBeInstanceOf(client.errors.any)
  })
})
