import type { FunctionTool, Item, JsonObject, Part, Prompt } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { estimateTokens } from './count.ts'

const user = (...content: readonly Part[]): Item => ({ type: 'message', role: 'user', content })
const text = (words: string): Part => ({ type: 'text', text: words })
const native = (body: JsonObject) => ({ type: 'native', dialect: 'responses', body }) as const
const tokens = (prompt: Partial<Prompt>): number => estimateTokens({ input: [], ...prompt })

test('a conversation is counted with the framing of chat models: a start, a role and an end for each message, and a start for the response', () => {
  const turns = [
    ['user', 'Which platform does the train to Bern leave from, and how long does the journey take?'],
    ['assistant', 'It leaves from platform 32 and takes just under an hour. Shall I look for a seat in the quiet coach?'],
    ['user', 'Yes please, and tell me what it costs with a half-fare card.'],
  ] as const
  const instructions = 'You are a travel assistant of the railways. Answer briefly and name your sources.'
  const framed = [['system', instructions], ...turns].reduce(
    (sum, [role = '', words = '']) => sum + 3 + encode(role).length + encode(words).length,
    3,
  )
  const input = turns.map(([role, words]): Item => ({ type: 'message', role, content: [text(words)] }))
  expect(Math.abs(tokens({ instructions, input }) - framed) / framed).toBeLessThanOrEqual(0.1)
})

test('every part of a prompt adds to its count', () => {
  const base64 = btoa('x'.repeat(300_000))
  const parts: readonly Partial<Prompt>[] = [
    { instructions: 'Be brief.' },
    { input: [user(text('Hello there'))] },
    { input: [user({ type: 'refusal', refusal: 'I will not.' })] },
    { input: [user({ type: 'image', url: 'https://images.example/a.png' })] },
    { input: [user({ type: 'file', url: `data:application/pdf;base64,${base64}` })] },
    { input: [user({ type: 'audio', data: base64, format: 'wav' })] },
    { input: [user(native({ type: 'input_note', note: 'Hello there' }))] },
    { input: [native({ type: 'computer_call', action: { type: 'click', x: 1 } })] },
    { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] },
    { input: [{ type: 'function_call_output', call_id: 'c', output: 'Rain.' }] },
    { input: [{ type: 'function_call_output', call_id: 'c', output: [text('Rain.')] }] },
    { input: [{ type: 'reasoning', summary: [], encrypted_content: base64 }] },
    { input: [{ type: 'reasoning', summary: [], content: ['Let me think.'] }] },
    { tools: [{ type: 'function', name: 'f', description: 'Does it.', parameters: { type: 'object', properties: {} } }] },
    { tools: [native({ type: 'web_search' })] },
    { text: { format: { type: 'json_schema', name: 's', schema: { type: 'object', properties: { city: { type: 'string' } } } } } },
  ]
  for (const part of parts) expect(tokens(part), JSON.stringify(part).slice(0, 100)).toBeGreaterThan(tokens({}))
})

test('bytes in native content do not count as text', () => {
  const shot = native({ type: 'computer_call_output', output: { image_url: `data:image/png;base64,${'A'.repeat(4_000_000)}` } })
  expect(tokens({ input: [shot] })).toBeLessThan(2_000)
})

test('longer texts, more items and more tools never count less, and a count is always a whole number', () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 100 })
  const item = fc.oneof(
    words.map(each => user(text(each))),
    words.map((output): Item => ({ type: 'function_call_output', call_id: 'c', output })),
    fc.record({ name: words, args: words }).map(({ name, args }): Item => ({ type: 'function_call', call_id: 'c', name, arguments: args })),
    words.map(url => user({ type: 'image', url })),
    fc.jsonValue().map(value => native({ any: value as JsonObject })),
  )
  const tool = words.map((description): FunctionTool => ({ type: 'function', name: 'f', description }))
  fc.assert(
    fc.property(fc.array(item), fc.array(tool), item, (input, tools, more) => {
      const count = tokens({ input, tools })
      expect(Number.isSafeInteger(count) && count > 0).toBe(true)
      expect(tokens({ input: [...input, more], tools })).toBeGreaterThan(count)
      expect(tokens({ input, tools: [...tools, { type: 'function', name: 'g' }] })).toBeGreaterThan(count)
    }),
  )
})

/** A square of 4,000 pixels, as in the first bytes of a PNG. */
const largePng = `data:image/png;base64,${btoa(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x0f\xa0\0\0\x0f\xa0${'\0'.repeat(40)}`)}`

test('a tool result in parts counts the same as those parts in a message', () => {
  const parts: readonly Part[] = [
    text('What the screen shows after the click, in a few words.'),
    { type: 'image', url: largePng },
    { type: 'file', url: `data:text/plain;base64,${btoa('x'.repeat(4_000))}` },
    { type: 'audio', data: 'A'.repeat(4_000), format: 'wav' },
    native({ type: 'input_thing', note: 'something of their own' }),
  ]
  const result = (output: string | readonly Part[]): Item => ({ type: 'function_call_output', call_id: 'c', output })
  const inMessage = tokens({ input: [user(...parts)] }) - tokens({ input: [user()] })
  const inResult = tokens({ input: [result(parts)] }) - tokens({ input: [result('')] })
  expect(inResult).toBe(inMessage)
  expect(inResult).toBeGreaterThan(1_600)
})

test('an image of 4,000 × 4,000 pixels counts as 1,600 tokens, the maximum of an image', () => {
  expect(tokens({ input: [user({ type: 'image', url: largePng })] }) - tokens({ input: [user()] })).toBe(1_600)
})

test('the presence of tools counts 12 tokens in addition to each tool', () => {
  const tool: FunctionTool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
  const [none, one, two] = [tokens({}), tokens({ tools: [tool] }), tokens({ tools: [tool, tool] })] as const
  expect(one - none - (two - one)).toBe(12)
})

test('reasoning that is sent back is counted, both raw text and summary', () => {
  const words = 'The train leaves from platform 32 and takes an hour.'
  const reasoning = (more: object): Item => ({ type: 'reasoning', summary: [], ...more })
  const bare = tokens({ input: [reasoning({})] })
  expect(tokens({ input: [reasoning({ summary: [words] })] })).toBeGreaterThan(bare + 5)
  expect(tokens({ input: [reasoning({ content: [words] })] })).toBeGreaterThan(bare + 5)
})
