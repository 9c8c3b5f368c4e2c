import type { JsonObject, Part, Prompt } from '@signalbox/dialects/protocol'
import { remember } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { estimateInput, estimateMaxCost } from './estimate.ts'
import { likelyInput, maxClaim, maxClaimAt, sampledInput, sizeAt, sizeOfPrompt } from './prompt-size.ts'

const userPrompt = (...content: readonly Part[]): Prompt => ({ input: [{ type: 'message', role: 'user', content }] })
const text = (value: string): Prompt => userPrompt({ type: 'text', text: value })
const native = (body: JsonObject) => ({ type: 'native', dialect: 'responses', body }) as const
const most = (prompt: Prompt): number => sizeOfPrompt(prompt, true).max

test('the likely size is used for routing and token limits, whether or not money bounds the request', () => {
  const prompt = text('A signal box controls trains. '.repeat(100))
  for (const isBounded of [true, false]) expect(sizeOfPrompt(prompt, isBounded).likely).toBe(estimateInput(prompt))
})

test('a provider may report no more tokens than the prompt has bytes, plus its template', () => {
  const plain = text('x'.repeat(10_000))
  expect(maxClaim(plain)).toBeGreaterThanOrEqual(10_000)
  expect(maxClaim(plain)).toBeLessThan(12_000)
  expect(maxClaim(text('好'.repeat(10_000)))).toBeGreaterThanOrEqual(30_000)
  expect(maxClaim(text('好'.repeat(10_000)))).toBeLessThan(32_000)
})

test('a sampled prompt is near the count of all of it, in each script and in mixtures', () => {
  const scripts = ['A signal box controls trains. ', '信号楼是铁路上用来控制道岔。', '[{"id":17},{"id":18}]', 'กล่องสัญญาณเป็นอาคาร']
  const long = scripts.map((words, at): Part => ({ type: 'text', text: words.repeat(400 + 100 * at) }))
  const many = Array.from({ length: 60 }, (_, at): Part => ({ type: 'text', text: (scripts[0] ?? '').repeat(40 + at) }))
  for (const prompt of [
    ...long.map(part => userPrompt(part)),
    userPrompt(...long),
    userPrompt(...many),
    userPrompt(...long, ...many),
    text(''),
  ]) {
    const all = likelyInput(prompt)
    expect(sampledInput(prompt)).toBeGreaterThanOrEqual(0.95 * all - 2)
    expect(sampledInput(prompt)).toBeLessThanOrEqual(1.05 * all + 2)
  }
})

test('the maximum that a provider may report is never below the hold', () => {
  for (const words of ['Hello.', 'x'.repeat(5_000), '好'.repeat(5_000), '😀'.repeat(500), '[1,2,3]'.repeat(500)])
    expect(maxClaim(text(words))).toBeGreaterThanOrEqual(most(text(words)))
})

const webSearch = native({ type: 'web_search' })
const tool = (body: JsonObject): Prompt => ({ ...text('Hi'), tools: [native(body)] })

test.each<[string, Prompt]>([
  ['a tool that the provider runs', tool({ type: 'web_search' })],
  ['a tool without a type', tool({ google_search: {} })],
  ['a file by id', userPrompt(native({ type: 'input_file', file_id: 'file_1' }))],
  ['a file by URL', userPrompt({ type: 'file', url: 'https://files.example/book.pdf' })],
  ['an item that the provider keeps', { input: [native({ type: 'item_reference', id: 'msg_1' })] }],
  ['an extension that searches', { ...text('Hi'), extensions: { search_parameters: { mode: 'on' } } }],
  ['an unknown field that searches', { ...text('Hi'), native: native({ web_search_options: {} }) }],
  ['a shell in a container of the provider', tool({ type: 'shell', environment: { type: 'container_auto' } })],
  ['a shell in a container that exists', tool({ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } })],
  ['a hosted tool in a group', { ...text('Hi'), tools: [{ ...native({ type: 'namespace', name: 'g' }), tools: [webSearch] }] }],
  ['a hosted tool that an item adds', { input: [{ ...native({ type: 'additional_tools' }), tools: [webSearch] }] }],
  [
    'a hosted tool in a group that a search found',
    { input: [{ ...native({ type: 'tool_search_output' }), tools: [{ ...native({ type: 'namespace' }), tools: [webSearch] }] }] },
  ],
  ['a larger mode of reasoning', { ...text('Hi'), reasoning: remember({}, { dialect: 'responses', body: { mode: 'pro' } }) }],
  ['a larger mode in an extension', { ...text('Hi'), extensions: { reasoning: { mode: 'pro' } } }],
])('%s adds to the prompt, up to the context window', (_, prompt) => {
  expect(most(prompt)).toBe(Number.POSITIVE_INFINITY)
  expect(maxClaim(prompt)).toBeGreaterThanOrEqual(10_000_000)
})

test.each<[string, Prompt]>([
  ['a tool that the client runs', tool({ type: 'computer_20250124', name: 'computer' })],
  ['a shell of the client', tool({ type: 'shell', environment: { type: 'local' } })],
  ['an extension that only sets parameters', { ...text('Hi'), extensions: { top_k: 5, enable_thinking: false } }],
  ['a function', { ...text('Hi'), tools: [{ type: 'function', name: 'find', parameters: { type: 'object' } }] }],
])('%s does not add to the prompt', (_, prompt) => {
  expect(most(prompt)).toBeLessThan(1_000)
  expect(maxClaim(prompt)).toBeLessThan(10_000)
})

test('the standard mode of reasoning does not add to the prompt', () => {
  expect(most({ ...text('Hi'), reasoning: remember({}, { dialect: 'responses', body: { mode: 'standard' } }) })).toBeLessThan(1_000)
})

test('a prompt that the provider may compact is held twice, with a summary, since the compaction reads it too', () => {
  const words = text('x'.repeat(100_000))
  const held = (prompt: Prompt, context_window = 1_000_000) =>
    estimateMaxCost(
      { price: { input: 1_000_000, output: 1_000_000 }, contextWindow: context_window },
      { ...sizeOfPrompt(prompt, true), output: 0 },
    )
  const once = held(words)
  const edit = (type: string) => native({ context_management: { edits: [{ type }] } })
  const compacted = { ...words, native: edit('compact_20260112') }
  expect(held(compacted)).toBeGreaterThanOrEqual(2 * once + 20_000)
  expect(held(compacted, once)).toBe(2 * once + 20_000)
  const threshold = native({ context_management: [{ type: 'compaction', compact_threshold: 50_000 }] })
  expect(held({ ...words, native: threshold })).toBeGreaterThanOrEqual(2 * once + 20_000)
  expect(held({ ...words, native: edit('clear_thinking_20251015') })).toBeLessThan(1.1 * once)
})

test('an offer that adds to every prompt is bounded by its context window alone, in the hold and in what it may report', () => {
  const prompt = text('Hi')
  expect(maxClaimAt(prompt, { extendsPrompt: true })).toBe(Number.POSITIVE_INFINITY)
  expect(maxClaimAt(prompt, {})).toBe(maxClaim(prompt))
  expect(sizeAt(sizeOfPrompt(prompt, true), { extendsPrompt: true }).max).toBe(Number.POSITIVE_INFINITY)
  expect(sizeAt(sizeOfPrompt(prompt, true), {}).max).toBe(most(prompt))
})

test('real counts of images, audio and documents are within the maximum', () => {
  const base64 = 'A'.repeat(1_000_000)
  // The largest image of a small OpenAI model, ten minutes of audio at the lowest rate, a document of 600 pages.
  expect(maxClaim(userPrompt({ type: 'image', url: 'https://images.example/a.png' }))).toBeGreaterThanOrEqual(48_000)
  expect(maxClaim(userPrompt({ type: 'audio', data: base64, format: 'mp3' }))).toBeGreaterThanOrEqual(10_000_000)
  expect(maxClaim(userPrompt({ type: 'file', url: `data:application/pdf;base64,${base64}` }))).toBeGreaterThanOrEqual(10_000_000)
})

test('the hold for encrypted reasoning is less than for its base64 as text', () => {
  const sealed = { type: 'reasoning', summary: [], encrypted_content: 'A1b2'.repeat(10_000) } as const
  expect(most({ input: [sealed] })).toBeLessThan(11_000)
})
