import type { JsonObject, Offer, Part, Prompt } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { estimateInput, estimateMaxCost } from './estimate.ts'

const base64 = 'A'.repeat(4_000_000)
const native = (body: JsonObject) => ({ type: 'native', dialect: 'responses', body }) as const
const promptOf = (...bodies: readonly JsonObject[]): Prompt => ({ input: [{ type: 'message', role: 'user', content: bodies.map(native) }] })

test.each<[string, JsonObject]>([
  ['a file', { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64}` }],
  ['a file in plain base64', { type: 'input_file', file_data: base64 }],
  ['a file by id', { type: 'input_file', file_id: 'file_1' }],
  ['audio', { type: 'input_audio', input_audio: { data: base64, format: 'mp3' } }],
  ['an image in an unknown part', { type: 'screenshot', shots: [{ any: `data:image/png;base64,${base64}` }] }],
])('%s counts the same, whatever its size', (_, body) => {
  const tokens = estimateInput(promptOf(body))
  expect(tokens).toBeGreaterThan(1_500)
  expect(tokens).toBeLessThan(1_700)
})

test('files and audio are counted by size, so a hold for a book covers a book', () => {
  const countOf = (...content: readonly Part[]): number => estimateInput({ input: [{ type: 'message', role: 'user', content }] })
  const text = countOf({ type: 'file', url: `data:text/plain;base64,${base64}` })
  expect(text).toBeGreaterThan(700_000)
  expect(text).toBeLessThan(800_000)
  expect(countOf({ type: 'file', url: `data:application/pdf;base64,${base64}` })).toBeGreaterThan(100_000)
  expect(countOf({ type: 'audio', data: base64, format: 'mp3' })).toBeGreaterThan(4_000)
  expect(countOf({ type: 'image', url: `data:image/png;base64,${base64}` })).toBeLessThan(1_700)
  expect(estimateInput(promptOf({ type: 'input_file', file_data: `data:text/csv;base64,${base64}` }))).toBeGreaterThan(700_000)
})

test('bytes in a native item do not count as text', () => {
  const screenshot = native({
    type: 'computer_call_output',
    output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${base64}` },
  })
  expect(estimateInput({ input: [screenshot] })).toBeLessThan(1_700)
})

test('text in a native part counts as text', () => {
  expect(estimateInput(promptOf({ type: 'input_note', note: 'x'.repeat(4_000) }))).toBeGreaterThanOrEqual(1_000)
  expect(estimateInput(promptOf({ type: 'input_note', note: `data: ${'x'.repeat(40_000)}` }))).toBeGreaterThanOrEqual(10_000)
})

test('JSON of any depth is counted', () => {
  const deep = JSON.parse(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`) as JsonObject
  expect(estimateInput({ input: [native(deep)] })).toBeGreaterThan(0)
})

const offer: Offer = { provider: 'p', model: 'm', api: 'chat', price: { input: 1_000_000, output: 2_000_000 } }

test('a hold is a safe integer for any request at the highest price', () => {
  const dearest = { ...offer, price: { input: 1e12, output: 1e12, cacheWrite: 1e12 } }
  const held = estimateMaxCost(dearest, { likely: Number.MAX_SAFE_INTEGER, max: Number.POSITIVE_INFINITY, output: Number.MAX_SAFE_INTEGER })
  expect(Number.isSafeInteger(held)).toBe(true)
  expect(held).toBeGreaterThan(0)
})
