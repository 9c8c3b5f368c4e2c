import { expect, test } from 'vitest'
import type { Part } from '../protocol/item.ts'
import type { Prompt } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { estimateInput } from './estimate.ts'
import { likelyInput, maxClaim, sampledInput, sizeOfPrompt } from './prompt-size.ts'

const saying = (...content: readonly Part[]): Prompt => ({ input: [{ type: 'message', role: 'user', content }] })
const text = (words: string): Prompt => saying({ type: 'text', text: words })
const native = (body: JsonObject) => ({ type: 'native', dialect: 'responses', body }) as const
const most = (prompt: Prompt): number => sizeOfPrompt(prompt, true).max

test('the likely length is what routing and tokens a minute go by, whether or not money bounds the request', () => {
  const prompt = text('A signal box controls trains. '.repeat(100))
  for (const isBounded of [true, false]) expect(sizeOfPrompt(prompt, isBounded).likely).toBe(estimateInput(prompt))
})

test('a provider may claim no more tokens than the prompt has bytes, and what templates put around them', () => {
  const plain = text('x'.repeat(10_000))
  expect(maxClaim(plain)).toBeGreaterThanOrEqual(10_000)
  expect(maxClaim(plain)).toBeLessThan(12_000)
  expect(maxClaim(text('好'.repeat(10_000)))).toBeGreaterThanOrEqual(30_000)
  expect(maxClaim(text('好'.repeat(10_000)))).toBeLessThan(32_000)
})

test('a sample of a prompt comes near to the count of all of it, in each script and in a mixture', () => {
  const scripts = ['A signal box controls trains. ', '信号楼是铁路上用来控制道岔。', '[{"id":17},{"id":18}]', 'กล่องสัญญาณเป็นอาคาร']
  const long = scripts.map((words, at): Part => ({ type: 'text', text: words.repeat(400 + 100 * at) }))
  const many = Array.from({ length: 60 }, (_, at): Part => ({ type: 'text', text: (scripts[0] ?? '').repeat(40 + at) }))
  for (const prompt of [...long.map(part => saying(part)), saying(...long), saying(...many), saying(...long, ...many), text('')]) {
    const all = likelyInput(prompt)
    expect(sampledInput(prompt)).toBeGreaterThanOrEqual(0.95 * all - 2)
    expect(sampledInput(prompt)).toBeLessThanOrEqual(1.05 * all + 2)
  }
})

test('what may be claimed is never less than what is held for', () => {
  for (const words of ['Hello.', 'x'.repeat(5_000), '好'.repeat(5_000), '😀'.repeat(500), '[1,2,3]'.repeat(500)])
    expect(maxClaim(text(words))).toBeGreaterThanOrEqual(most(text(words)))
})

const tool = (body: JsonObject): Prompt => ({ ...text('Hi'), tools: [native(body)] })

test.each<[string, Prompt]>([
  ['a tool that the provider runs', tool({ type: 'web_search' })],
  ['a tool that names no type', tool({ google_search: {} })],
  ['a file by its id', saying(native({ type: 'input_file', file_id: 'file_1' }))],
  ['a file by its address', saying({ type: 'file', url: 'https://files.example/book.pdf' })],
  ['an item that the provider keeps', { input: [native({ type: 'item_reference', id: 'msg_1' })] }],
  ['an extension that searches', { ...text('Hi'), extensions: { search_parameters: { mode: 'on' } } }],
  ['a field that no language of ours knows, and that searches', { ...text('Hi'), native: native({ web_search_options: {} }) }],
])('%s adds to the prompt: only the context window bounds it', (_, prompt) => {
  expect(most(prompt)).toBe(Number.POSITIVE_INFINITY)
  expect(maxClaim(prompt)).toBeGreaterThanOrEqual(10_000_000)
})

test.each<[string, Prompt]>([
  ['a tool that the client runs', tool({ type: 'computer_20250124', name: 'computer' })],
  ['an extension that only steers', { ...text('Hi'), extensions: { top_k: 5, enable_thinking: false } }],
  ['a function', { ...text('Hi'), tools: [{ type: 'function', name: 'find', parameters: { type: 'object' } }] }],
])('%s leaves the prompt as long as it is', (_, prompt) => {
  expect(most(prompt)).toBeLessThan(1_000)
  expect(maxClaim(prompt)).toBeLessThan(10_000)
})

test('true counts of images, sounds and documents are within what may be claimed', () => {
  const base64 = 'A'.repeat(1_000_000)
  // The dearest image of a small model of OpenAI's, ten minutes of sound at the least rate, a document of 600 pages.
  expect(maxClaim(saying({ type: 'image', url: 'https://images.example/a.png' }))).toBeGreaterThanOrEqual(48_000)
  expect(maxClaim(saying({ type: 'audio', data: base64, format: 'mp3' }))).toBeGreaterThanOrEqual(10_000_000)
  expect(maxClaim(saying({ type: 'file', url: `data:application/pdf;base64,${base64}` }))).toBeGreaterThanOrEqual(10_000_000)
})

test('thoughts that come back sealed are held for by less than their base64', () => {
  const sealed = { type: 'reasoning', summary: [], encrypted_content: 'A1b2'.repeat(10_000) } as const
  expect(most({ input: [sealed] })).toBeLessThan(11_000)
})
