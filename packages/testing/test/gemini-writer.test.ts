import { geminiProvider } from '@signalbox/dialects'
import { fold, type InferenceResponse } from '@signalbox/dialects/protocol'
import { google } from '@signalbox/providers'
import { expect, test } from 'vitest'
import { answerWriters, type CannedAnswerName, cannedAnswers } from '../src/answers/index.ts'
import { acts, chaosProvider, defaultText, scriptedProvider, testGateway } from '../src/index.ts'

const read = (name: CannedAnswerName, delivery: 'whole' | 'stream'): InferenceResponse => {
  const { whole, opening, content, closing } = answerWriters.gemini.write(cannedAnswers[name], { model: 'm', includeUsage: true })
  if (delivery === 'whole') return geminiProvider.decodeResponse(whole)
  const decoder = geminiProvider.decodeEvents()
  return fold([...decoder.read([...opening, ...content, ...closing]), ...decoder.end()])
}
const said = ({ output, outcome, usage }: InferenceResponse) => ({ output, outcome, usage })

test.each(Object.keys(cannedAnswers) as CannedAnswerName[])('%s has the same complete content whole and streamed', name => {
  const whole = read(name, 'whole')
  expect(said(read(name, 'stream'))).toEqual(said(whole))
  const { text = '', tools = [] } = cannedAnswers[name] as { text?: string; tools?: readonly { readonly name: string }[] }
  const words = whole.output
    .flatMap(item => (item.type === 'message' ? item.content : []))
    .map(part => (part.type === 'text' ? part.text : ''))
  expect(words.join('')).toBe(text)
  expect(whole.output.flatMap(item => (item.type === 'function_call' ? [item.name] : []))).toEqual(tools.map(each => each.name))
})

test('a scripted provider supports it', async () => {
  const provider = scriptedProvider({
    id: 'g',
    dialect: geminiProvider,
    acts: [acts.status(503, { code: 'server_is_overloaded' }), acts.reply('Hi')],
  })
  const { gateway, caller, close } = await testGateway({ providers: [provider] })
  const request = { prompt: { input }, routing: { models: ['test-model'], allow_fallbacks: true }, delivery: 'whole' } as const
  const { output } = await gateway.infer(request, { caller }).whole()
  expect(output).toMatchObject([{ content: [{ text: 'Hi' }] }])
  expect(provider.calls.map(({ body }) => Object.keys(body))).toEqual([
    ['generationConfig', 'contents'],
    ['generationConfig', 'contents'],
  ])
  await close()
})

const offer = (provider_model_id: string) => ({
  provider: 'google',
  model: provider_model_id,
  api: 'gemini',
  price: { input: 1, output: 1 },
})
const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] }] as const

test.each(['whole', 'stream'] as const)('a server on a socket finds the model and the delivery in the path: %s', async delivery => {
  const server = await chaosProvider()
  const { gateway, caller, close } = await testGateway({
    providers: [google({ apiKey: 'k', baseURL: server.url })],
    models: ['say:tool', 'fault:status-503', 'plain'].map(id => ({ id, offers: [offer(id), offer('plain')] })),
  })
  const ask = (model: string) =>
    gateway.infer({ prompt: { input }, routing: { models: [model], allow_fallbacks: true }, delivery }, { caller }).whole()

  expect((await ask('say:tool')).output.at(-1)).toMatchObject({ type: 'function_call', arguments: '{"city":"Zürich","unit":"celsius"}' })
  for (const model of ['plain', 'fault:status-503'])
    expect(await ask(model)).toMatchObject({ output: [{ content: [{ text: defaultText }] }], outcome: { status: 'completed' } })
  const method = delivery === 'whole' ? 'generateContent' : 'streamGenerateContent?alt=sse'
  expect(server.requests.map(({ path, fault }) => [path, fault])).toContainEqual([`/v1/models/fault%3Astatus-503:${method}`, 'status-503'])
  expect(server.unexpectedRequests).toEqual([])
  await close()
  await server.close()
})
