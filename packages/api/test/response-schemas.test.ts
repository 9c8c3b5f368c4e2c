import { asIterator } from '@signalbox/core/runtime'
import { clientDialects } from '@signalbox/dialects'
import type { InferenceEvent, InferenceResponse, Item, Outcome } from '@signalbox/dialects/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { createApi } from '../src/index.ts'
import { makeDocument } from '../src/openapi/document.ts'
import { allRoutes as routes } from '../src/routes.ts'
import { ask, parsed } from './asking.ts'
import { fakeGateway, goodKey } from './fake-gateway.ts'

const document = JSON.parse(JSON.stringify(await makeDocument(routes, { ownedBy: 'x' })))
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).addSchema({ $id: 'document', ...document })
const faultsOf = (name: string, value: unknown): unknown => {
  const validate = ajv.getSchema(`document#/components/schemas/${name}`)
  return validate?.(value) ? [] : [value, validate?.errors]
}

const items: readonly Item[] = [
  { type: 'reasoning', summary: ['First I add.'], encrypted_content: 'gw1.state' },
  {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [
      {
        type: 'text',
        text: '2 and 3.',
        annotations: [{ type: 'url_citation', start_index: 0, end_index: 1, url: 'https://a.example', title: 'A' }],
      },
      { type: 'refusal', refusal: 'No more.' },
    ],
  },
  { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}', status: 'completed' },
]

const deltasOf = (index: number, item: Item): readonly InferenceEvent[] => {
  const delta = (kind: 'text' | 'refusal' | 'summary' | 'arguments', part: number, text: string): InferenceEvent => ({
    type: 'delta',
    index,
    delta: { kind, part, text },
  })
  if (item.type === 'reasoning') return item.summary.map((text, part) => delta('summary', part, text))
  if (item.type === 'function_call') return [delta('arguments', 0, item.arguments)]
  if (item.type !== 'message') return []
  return item.content.flatMap((part, at) =>
    part.type === 'text'
      ? [
          delta('text', at, part.text),
          ...(part.annotations ?? []).map(
            (annotation): InferenceEvent => ({ type: 'delta', index, delta: { kind: 'annotation', part: at, annotation } }),
          ),
        ]
      : part.type === 'refusal'
        ? [delta('refusal', at, part.refusal)]
        : [],
  )
}

const shellOf = (item: Item): Item => {
  if (item.type === 'message') return { ...item, content: [] }
  if (item.type === 'reasoning') return { type: 'reasoning', summary: [] }
  return item.type === 'function_call' ? { ...item, arguments: '' } : item
}

const usage = { input_tokens: 9, output_tokens: 5, cached_tokens: 1, cache_write_tokens: 0, reasoning_tokens: 2 }
const completed: Outcome = { status: 'completed' }

const eventsOf = (outcome: Outcome): readonly InferenceEvent[] => [
  { type: 'started', id: 'x', model: 'small', created_at: 1 },
  ...items.flatMap((item, index): readonly InferenceEvent[] => [
    { type: 'item_started', index, item: shellOf(item) },
    ...deltasOf(index, item),
    { type: 'item_finished', index, item },
  ]),
  { type: 'finished', outcome, usage },
]

const bodies: Readonly<Record<string, object>> = {
  '/v1/responses': { model: 'small', input: 'Hello.', temperature: 1, metadata: { a: 'b' } },
  '/v1/chat/completions': { model: 'small', messages: [{ role: 'user', content: 'Hello.' }], stream_options: { include_usage: true } },
  '/v1/messages': { model: 'small', messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 10 },
  '/v4/ai/language-model': { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }] },
}

const headers = { authorization: `Bearer ${goodKey}`, 'ai-language-model-id': 'small' }
const streaming = routes.flatMap(({ path, reply, stream }) => (stream === undefined ? [] : [{ path, reply, stream }]))

test.each(streaming)('whole responses of $path match $reply', async ({ path, reply }) => {
  const fake = fakeGateway({ dialects: clientDialects })
  const response: InferenceResponse = { id: 'x', model: 'small', created_at: 1, output: items, outcome: completed, usage }
  fake.act = () => ({ response: Promise.resolve(response) })
  const answer = await ask(createApi(fake.gateway), `POST ${path}`, { headers, body: JSON.stringify(bodies[path]) })
  expect([answer.status, faultsOf(reply, parsed(answer))]).toEqual([200, []])
})

test.each(streaming.flatMap(row => [completed, failed()].map(outcome => ({ ...row, outcome, status: outcome.status }))))(
  'each event of a $status stream of $path matches $stream',
  async ({ path, stream, outcome }) => {
    const fake = fakeGateway({ dialects: clientDialects })
    const batches = [eventsOf(outcome)]
    fake.act = () => ({
      batches: () => ({
        next: async () => {
          const value = batches.shift()
          return value === undefined ? { done: true, value } : { done: false, value }
        },
      }),
    })
    const answer = await ask(createApi(fake.gateway), `POST ${path}`, {
      headers: { ...headers, 'ai-language-model-streaming': 'true' },
      body: JSON.stringify({ ...bodies[path], stream: true }),
    })
    let text = ''
    if (typeof answer.body === 'string') throw new Error('It is not streamed.')
    const chunks = asIterator(answer.body)
    for (let step = await chunks.next(); !step.done; step = await chunks.next()) text += step.value
    const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line = '']): unknown => (line === '[DONE]' ? line : JSON.parse(line)))
    expect(data.length).toBeGreaterThan(5)
    for (const event of data) expect(faultsOf(stream, event)).toEqual([])
  },
)

function failed(): Outcome {
  return { status: 'failed', error: { kind: 'server_error', message: 'It broke.', code: 'provider_error', type: 'provider_error' } }
}
