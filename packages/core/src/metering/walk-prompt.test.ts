import type { Item, JsonObject, Part, Prompt } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { eachField, walkPrompt } from './walk-prompt.ts'

/** What a visitor receives of a prompt, in order. */
function shown(prompt: Partial<Prompt>): readonly string[] {
  const seen: string[] = []
  walkPrompt(
    { input: [], ...prompt },
    {
      text: text => void seen.push(text),
      blob: field => void seen.push(`blob ${field}`),
      media: part => void seen.push(`media ${part.type}`),
      sealed: text => void seen.push(`sealed ${text}`),
    },
  )
  return seen.filter(text => text !== '')
}

const native = (body: JsonObject) => ({ type: 'native', dialect: 'responses', body }) as const
const parts = (...content: readonly Part[]): Partial<Prompt> => ({ input: [{ type: 'message', role: 'user', content }] })

test('each part of a message is visited by its kind', () => {
  const media = { type: 'file', url: 'https://a.example/1', filename: 'book', context: 'By Ada.' } as const
  expect(
    shown(parts({ type: 'text', text: 'a' }, { type: 'refusal', refusal: 'b' }, { type: 'image', url: 'https://a.example/1' }, media)),
  ).toEqual(['a', 'b', 'blob image', 'media file', 'book', 'By Ada.'])
})

test('calls, their results and reasoning are visited with all of their texts', () => {
  const items: readonly Item[] = [
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x":1}' },
    { type: 'function_call_output', call_id: 'c', output: 'done' } as Item,
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'text', text: 'in parts' }] } as Item,
    { type: 'reasoning', summary: ['s1', 's2'], content: ['c1'], encrypted_content: 'e' } as Item,
    { type: 'reasoning', summary: [] },
  ]
  expect(shown({ input: items })).toEqual(['f', '{"x":1}', 'done', 'in parts', 'sealed e', 's1', 's2', 'c1'])
})

test('of a native item each field, its punctuation and its text are visited, and bytes as blobs', () => {
  expect(shown(parts(native({ type: 'x', data: 'AAAA' })))).toEqual(['"":,', 'data', '"":,', 'blob data', 'type', '"":,', 'x'])
  expect(shown({ input: [native({ a: 'b' }) as unknown as Item] })).toEqual(['"":,', 'a', '"":,', 'b'])
})

test('fields of bytes, URLs and data URLs are blobs, but text in a data URL is not', () => {
  const seen: (readonly [string, string, boolean])[] = []
  const body = {
    ...{ data: 'a', my_data: 'b', image_url: 'c', file_url: 'd', file_id: 'e', datas: 'f', other: 'data:image/png;base64,A' },
    ...{ plain: 'data:text/plain,words', number_data: 5, list: ['x', { deep: 'y' }] },
  }
  eachField(body as JsonObject, (field, text, isBlob) => void seen.push([field, text, isBlob]))
  const of = (name: string) => seen.filter(([field]) => field === name).map(([, text, isBlob]) => [text, isBlob])
  for (const name of ['data', 'my_data', 'image_url', 'file_url', 'file_id', 'other']) expect(of(name)).toEqual([['', true]])
  expect([of('datas'), of('plain'), of('number_data'), of('deep')]).toEqual([
    [['f', false]],
    [['data:text/plain,words', false]],
    [['', false]],
    [['y', false]],
  ])
  expect(of('')).toHaveLength(3)
})

test('instructions are visited first, then items and tools, then native content and the response schema', () => {
  const prompt: Partial<Prompt> = {
    instructions: 'Be brief.',
    input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [{ type: 'function', name: 'f', description: 'd' }, native({ type: 'web_search' })],
    extensions: { top_k: 5 },
    native: native({ store: true }),
    text: { format: { type: 'json_schema', name: 'n', description: 'd', schema: { type: 'object' } } },
  }
  expect(shown(prompt)).toEqual([
    ...['Be brief.', 'Hi', '{"name":"f","description":"d"}', '{"type":"web_search"}', '{"top_k":5}', '{"store":true}'],
    '{"name":"n","description":"d","schema":{"type":"object"}}',
  ])
})

test('JSON of any depth is visited', () => {
  let body: JsonObject = { end: 'x' }
  for (let depth = 0; depth < 100_000; depth += 1) body = { a: body }
  let last = ''
  eachField(body, (field, text) => {
    last = `${field} ${text}`
  })
  expect(last).toBe('end x')
})
