import { messagesProvider } from '@signalbox/dialects'
import { fold, type InferenceResponse, type Item } from '@signalbox/dialects/protocol'
import { anthropic } from '@signalbox/providers'
import { expect, test } from 'vitest'
import { answerWriters, type CannedAnswerName, cannedAnswers } from '../src/answers/index.ts'
import { chaosProvider, defaultText, testGateway } from '../src/index.ts'

const read = (name: CannedAnswerName, delivery: 'whole' | 'stream'): InferenceResponse => {
  const { whole, opening, content, closing } = answerWriters.messages.write(cannedAnswers[name], { model: 'm', includeUsage: true })
  if (delivery === 'whole') return messagesProvider.decodeResponse(whole)
  const decoder = messagesProvider.decodeEvents()
  return fold([...decoder.read([...opening, ...content, ...closing]), ...decoder.end()])
}

/** Without extra state; arguments as values, since a whole message holds an object. */
const said = ({ output, outcome, usage }: InferenceResponse): unknown =>
  JSON.parse(JSON.stringify({ output: output.map(meant), outcome, usage }))
const meant = (item: Item): unknown => (item.type === 'function_call' ? { ...item, arguments: JSON.parse(item.arguments) } : item)

test.each(Object.keys(cannedAnswers) as CannedAnswerName[])('%s has the same complete content whole and streamed', name => {
  const whole = read(name, 'whole')
  expect(said(read(name, 'stream'))).toEqual(said(whole))
  const { text = '', refusal } = cannedAnswers[name] as { readonly text?: string; readonly refusal?: string }
  const words = whole.output
    .flatMap(item => (item.type === 'message' ? item.content : []))
    .map(part => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : ''))
  expect(words.join('')).toBe(refusal ?? text)
})

const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] }] as const
const offer = (provider_model_id: string) => ({
  provider: 'anthropic',
  model: provider_model_id,
  api: 'messages',
  price: { input: 1, output: 1 },
})

test.each(['whole', 'stream'] as const)('a server on a socket supports it, and breaks in it: %s', async delivery => {
  const server = await chaosProvider()
  const { gateway, caller, close } = await testGateway({
    providers: [anthropic({ apiKey: 'sk-ant-test', baseURL: server.url })],
    models: ['say:tool', 'say:reasoning', 'fault:status-503', 'plain'].map(id => ({ id, offers: [offer(id), offer('plain')] })),
  })
  const ask = (model: string) =>
    gateway.infer({ prompt: { input }, routing: { models: [model], allow_fallbacks: true }, delivery }, { caller }).whole()

  const { output } = await ask('say:tool')
  expect(output.map(meant)).toMatchObject([{ type: 'function_call', arguments: { city: 'Zürich', unit: 'celsius' } }])
  expect((await ask('say:reasoning')).output).toMatchObject([
    { type: 'reasoning', encrypted_content: expect.stringMatching(/^gw1\./) },
    { content: [{ text: defaultText }] },
  ])
  for (const model of ['plain', 'fault:status-503'])
    expect(await ask(model)).toMatchObject({ output: [{ content: [{ text: defaultText }] }], outcome: { status: 'completed' } })
  expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': 'sk-ant-test', 'anthropic-version': '2023-06-01' })
  expect(server.unexpectedRequests).toEqual([])
  await close()
  await server.close()
})
