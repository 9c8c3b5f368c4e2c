import type { InferenceEvent, InferenceRequest, InferenceResponse, Item, ResponseMetadata } from '@signalbox/dialects/protocol'
import { fold, unfold } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { decodeCallOptions } from './decode-request.ts'
import { encodeResult } from './encode-response.ts'
import { PartWriter } from './encode-stream.ts'
import { encodeFailure } from './errors.ts'

const request: InferenceRequest = { prompt: { input: [] }, routing: { models: ['small'], allow_fallbacks: true }, delivery: 'stream' }
const metadataOf = (): ResponseMetadata => {
  let items = 0
  return { id: 'resp_1', model: 'small', created_at: 1_700_000_000, itemId: prefix => `${prefix}_${++items}`, warnings: [] }
}
const responseOf = (output: readonly Item[]): InferenceResponse => ({
  id: 'x',
  model: 'm',
  created_at: 1,
  output,
  outcome: { status: 'completed' },
})
const resultOf = (output: readonly Item[]) => encodeResult(responseOf(output), request, metadataOf())

const image: Item = {
  type: 'native',
  dialect: 'responses',
  body: { type: 'image_generation_call', id: 'ig_1', result: 'AAAA', output_format: 'webp' },
}
const search: Item = { type: 'native', dialect: 'responses', body: { type: 'web_search_call', id: 'ws_1', status: 'completed' } }

test('an image is a file, and an item without an AI SDK type is a custom part that is sent back unchanged', () => {
  const { content } = resultOf([image, search])
  expect(content).toMatchObject([
    { type: 'file', mediaType: 'image/webp', data: { type: 'data', data: 'AAAA' } },
    { type: 'custom', kind: 'gateway.web_search_call' },
  ])
  const back = content.slice(1).map(({ providerMetadata, ...part }) => ({ ...part, providerOptions: providerMetadata }))
  const options = { prompt: [{ role: 'assistant', content: back }] } as never
  const { input } = decodeCallOptions(options, { modelId: 'small', stream: false, header: () => undefined }).prompt
  expect(JSON.parse(JSON.stringify(input))).toEqual([{ ...search, isRecord: true }])
})

test('citations are sources, each once, and passages of the text', () => {
  const annotations = [
    { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 },
    { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 5, end_index: 8 },
    { type: 'file_citation', file_id: 'f1', filename: 'b.pdf' },
  ]
  const { content } = resultOf([{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Yes, indeed.', annotations }] }])
  const [text, ...sources] = content
  expect(text).toMatchObject({ type: 'text', text: 'Yes, indeed.', citations: [{ startIndex: 0 }, { startIndex: 5 }, {}] })
  expect(sources).toMatchObject([
    { type: 'source', sourceType: 'url', url: 'https://a.example' },
    { type: 'source', sourceType: 'document', filename: 'b.pdf' },
  ])
})

test('a refusal is text that is sent back as a refusal, with a finish reason of its own', () => {
  const { content, finishReason } = resultOf([{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }])
  expect(content).toEqual([{ type: 'text', text: 'No.', providerMetadata: { gateway: { refusal: true } } }])
  expect(finishReason).toEqual({ unified: 'content-filter', raw: 'refusal' })
})

test('of a response with comments the final text is the structured output', () => {
  const message = (text: string, phase: 'commentary' | 'final_answer'): Item => ({
    type: 'message',
    role: 'assistant',
    phase,
    content: [{ type: 'text', text }],
  })
  expect(resultOf([message('Hm.', 'commentary'), message('{"a":1}', 'final_answer')]).structuredOutputText).toBe('{"a":1}')
  expect(resultOf([message('{"a":1}', 'final_answer')]).structuredOutputText).toBeUndefined()
})

const items: readonly Item[] = [
  { type: 'reasoning', summary: ['One.', 'Two.'], content: ['Raw.'], encrypted_content: 'gw1.s' },
  { type: 'reasoning', summary: [], encrypted_content: 'gw1.t', redacted: true },
  {
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: 'World.' },
    ],
  },
  { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
  { type: 'function_call', call_id: 'c2', name: 'g', arguments: '' },
]

test('every block begins once, has its deltas between, and ends once, however the events are cut into batches', () => {
  const events = [...unfold(responseOf(items))]
  const whole = resultOf(items)
  for (const size of [1, 2, 3, 1_000]) {
    const writer = new PartWriter(request, { metadata: metadataOf, encodeFailure })
    const open = new Map<string, string>()
    const ended = new Set<string>()
    for (let at = 0; at < events.length; at += size)
      for (const part of writer.write(events.slice(at, at + size))) {
        if (!('id' in part) || part.id === undefined || part.type === 'source' || part.type === 'response-metadata') continue
        if (part.type.endsWith('-start')) {
          expect([open.has(part.id), ended.has(part.id)]).toEqual([false, false])
          open.set(part.id, '')
        } else if (part.type.endsWith('-delta') && 'delta' in part) open.set(part.id, `${open.get(part.id)}${part.delta}`)
        else ended.add(part.id)
      }
    expect([...open.keys()].sort()).toEqual([...ended].sort())
    expect([...open.values()]).toEqual(['One.', 'Two.', 'Raw.', '', 'Hello.', 'World.', '{"a":1}', '{}'])
  }
  expect(whole.content.map(part => part.type)).toEqual([...Array(4).fill('reasoning'), 'text', 'text', 'tool-call', 'tool-call'])
  expect(whole.finishReason.unified).toBe('tool-calls')
})

test('nothing is written after the end, and an unknown reason is the finish reason `other`', () => {
  const writer = new PartWriter(request, { metadata: metadataOf, encodeFailure })
  const finished: InferenceEvent = { type: 'finished', outcome: { status: 'incomplete', reason: 'pause_turn' } }
  expect(writer.write([finished]).at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'other', raw: 'pause_turn' } })
  expect(writer.write([finished])).toEqual([])
  expect(fold([finished]).outcome.status).toBe('incomplete')
})
