import { bedrockProvider } from '@signalbox/dialects'
import { fold, type InferenceResponse } from '@signalbox/dialects/protocol'
import { nodeTransport } from '@signalbox/node-http'
import { amazonBedrock } from '@signalbox/providers'
import { describe, expect, test } from 'vitest'
import { answerWriters, type CannedAnswerName, cannedAnswers } from '../src/answers/index.ts'
import { streamed } from '../src/chaos/index.ts'
import { acts, chaosProvider, defaultText, scriptedProvider, testGateway } from '../src/index.ts'

const read = (name: CannedAnswerName, delivery: 'whole' | 'stream'): InferenceResponse => {
  const { whole, opening, content, closing } = answerWriters.bedrock.write(cannedAnswers[name], { model: 'm', includeUsage: true })
  if (delivery === 'whole') return bedrockProvider.decodeResponse(whole)
  const decoder = bedrockProvider.decodeEvents()
  return fold([...decoder.read([...opening, ...content, ...closing]), ...decoder.end()])
}
/** Blanks between the arguments of a call are its own in a stream, and nobody's in a whole answer. */
const said = ({ output, outcome, usage }: InferenceResponse) => ({
  outcome,
  usage,
  output: output.map(item => (item.type === 'function_call' ? { ...item, arguments: JSON.parse(item.arguments) as unknown } : item)),
})

test.each(Object.keys(cannedAnswers) as CannedAnswerName[])('%s has the same complete content whole and streamed', name => {
  const whole = read(name, 'whole')
  expect(said(read(name, 'stream'))).toEqual(said(whole))
  const {
    text = '',
    refusal = '',
    tools = [],
  } = cannedAnswers[name] as { text?: string; refusal?: string; tools?: readonly { readonly name: string }[] }
  const words = whole.output
    .flatMap(item => (item.type === 'message' ? item.content : []))
    .map(part => (part.type === 'text' ? part.text : ''))
  expect(words.join('')).toBe(text + refusal)
  expect(whole.output.flatMap(item => (item.type === 'function_call' ? [item.name] : []))).toEqual(tools.map(each => each.name))
})

test('its bytes are valid frames for the reader', () => {
  const { opening, content, closing } = answerWriters.bedrock.write(cannedAnswers.tools, { model: 'm', includeUsage: true })
  const frames = [
    ...opening,
    ...content,
    ...closing,
    ...answerWriters.bedrock.errorFrames({ message: 'm', type: 't', code: 'rate_limit_exceeded' }, { model: 'm', includeUsage: true }),
  ]
  expect(bedrockProvider.frames?.().push(answerWriters.bedrock.wire?.bytes(frames) ?? new Uint8Array())).toEqual(frames)
})

const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] }] as const

test('a scripted provider supports it', async () => {
  const provider = scriptedProvider({
    id: 'b',
    dialect: bedrockProvider,
    acts: [acts.status(503, { code: 'server_is_overloaded' }), acts.errorFirst('rate_limit_exceeded'), acts.reply('Hi')],
  })
  const { gateway, caller, close } = await testGateway({ providers: [provider] })
  const ask = (delivery: 'whole' | 'stream') =>
    gateway.infer({ prompt: { input }, routing: { models: ['test-model'], allow_fallbacks: true }, delivery }, { caller }).whole()
  await expect(ask('stream')).rejects.toThrow(/rate/i)
  expect((await ask('whole')).output).toMatchObject([{ content: [{ text: 'Hi' }] }])
  expect(provider.calls.map(({ body }) => Object.keys(body))).toEqual(Array.from({ length: 3 }, () => ['inferenceConfig', 'messages']))
  await close()
})

describe('a server on a socket', () => {
  const models = ['say:reasoning', 'say:tool', 'fault:status-503', 'fault:reset-mid-stream', 'plain', 'other'].map(id => {
    const offer = (provider_model_id: string) => ({
      provider: 'amazon-bedrock',
      model: provider_model_id,
      api: 'bedrock',
      price: { input: 1, output: 1 },
    })
    return { id, offers: [offer(id), ...(id === 'fault:status-503' ? [offer('plain')] : [])] }
  })

  async function testbed() {
    const server = await chaosProvider()
    const test = await testGateway({
      providers: [amazonBedrock({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', baseURL: server.url })],
      models,
      transport: nodeTransport(),
    })
    const ask = (model: string, delivery: 'whole' | 'stream') =>
      test.gateway
        .infer({ prompt: { input }, routing: { models: [model], allow_fallbacks: true }, delivery }, { caller: test.caller })
        .whole()
    const close = async (): Promise<void> => {
      await test.close()
      await server.close()
    }
    return { server, ask, close }
  }

  test.each(['whole', 'stream'] as const)('finds the model and the delivery in the path: %s', async delivery => {
    const { server, ask, close } = await testbed()
    expect((await ask('say:tool', delivery)).output).toMatchObject([{ type: 'function_call', call_id: 'tooluse_1', name: 'get_weather' }])
    expect((await ask('say:reasoning', delivery)).output).toMatchObject([
      { type: 'reasoning', summary: [cannedAnswers.reasoning.reasoning] },
      {},
    ])
    for (const model of ['plain', 'fault:status-503'])
      expect(await ask(model, delivery)).toMatchObject({ output: [{ content: [{ text: defaultText }] }], outcome: { status: 'completed' } })
    const operation = delivery === 'whole' ? 'converse' : 'converse-stream'
    expect(server.requests.map(({ path, fault }) => [path, fault])).toContainEqual([
      `/v1/model/fault%3Astatus-503/${operation}`,
      'status-503',
    ])
    for (const { headers } of server.requests) {
      expect(headers.authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date, /,
      )
      expect(headers.accept).toBe(delivery === 'whole' ? 'application/json' : 'application/vnd.amazon.eventstream')
    }
    expect(server.unexpectedRequests).toEqual([])
    await close()
  })

  test('a stream that breaks in the middle fails', async () => {
    const { ask, close } = await testbed()
    await expect(ask('fault:reset-mid-stream', 'stream')).rejects.toThrow(/ended before the response was complete/)
    await close()
  })

  test('a stream may arrive byte by byte, and one wrong byte ends it', async () => {
    const { server, ask, close } = await testbed()
    const { opening, content, closing } = answerWriters.bedrock.write({ text: 'Grüße 🚂' }, { model: 'm', includeUsage: true })
    const bytes = answerWriters.bedrock.wire?.bytes([...opening, ...content, ...closing]) ?? new Uint8Array()
    server.next(streamed([...bytes].map(byte => Uint8Array.of(byte))))
    expect(await ask('other', 'stream')).toMatchObject({ output: [{ content: [{ text: 'Grüße 🚂' }] }], outcome: { status: 'completed' } })
    const at = Math.floor(bytes.length / 2)
    server.next(streamed([bytes.subarray(0, at), Uint8Array.of((bytes[at] ?? 0) ^ 0x20), bytes.subarray(at + 1)]))
    await expect(ask('other', 'stream')).rejects.toThrow(/incomplete or invalid/)
    await close()
  })
})
