import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import type { InferenceEvent } from '../protocol/event.ts'
import { originalOf } from '../protocol/original.ts'
import type { Frame } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { templateOf, textInFrame } from './delta-template.ts'

// A decoder forgets its template at each frame that it decodes, so a stream with an empty frame after each frame is decoded without any.

type Dialect = 'responses' | 'chat' | 'messages' | 'bedrock'

const emptyFrame: Frame = { data: '' }
const runs = inject('isLongRun') ? 20_000 : 1_500

const described = (events: readonly InferenceEvent[]): unknown => events.map(event => [event, originalOf(event)?.body])

function decode(dialect: Dialect, frames: readonly Frame[]): unknown {
  const decoder = providerDialects[dialect].decodeEvents({ answerTool: 'answer' })
  return described([...frames.flatMap(frame => decoder.read([frame])), ...decoder.end()])
}

const withoutTemplates = (frames: readonly Frame[]): readonly Frame[] => frames.flatMap(frame => [frame, emptyFrame])

/** Frames of one delta in each dialect, and how each begins a stream. */
const dialects: Readonly<Record<Dialect, { readonly opening: readonly Frame[]; readonly delta: (text: string, at: number) => Frame }>> = {
  responses: {
    opening: [{ data: '{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[]}}' }],
    delta: (delta, at) => ({
      event: 'response.output_text.delta',
      data: JSON.stringify({
        ...{ type: 'response.output_text.delta', sequence_number: at, item_id: 'm', output_index: 0, content_index: 0 },
        ...{ delta, logprobs: [], obfuscation: 'x'.repeat(at % 7) },
      }),
    }),
  },
  chat: {
    opening: [],
    delta: (content, at) => ({
      data: JSON.stringify({
        ...{ id: 'c', created: 1_770_000_000 + at, model: 'm' },
        choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
        ...{ usage: null, obfuscation: 'x'.repeat(at % 7) },
      }),
    }),
  },
  messages: {
    opening: [{ data: '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}' }],
    delta: text => ({ data: JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }) }),
  },
  bedrock: {
    opening: [],
    delta: (text, at) => ({
      event: 'contentBlockDelta',
      data: JSON.stringify({ contentBlockIndex: 0, delta: { text }, p: 'abcdefgh'.slice(at % 8) }),
    }),
  },
}
const names = Object.keys(dialects) as Dialect[]

/** Ways to change the JSON of a frame: valid and invalid, inside and outside the text. */
const edits = fc.constantFrom(
  (json: string) => json,
  (json: string) => json.replace(/\}$/, ',"more":1}'),
  (json: string) => json.replace(/\}$/, ''),
  (json: string) => `${json} `,
  (json: string) => json.replaceAll(':', ': '),
  (json: string) => json.replace(/"(delta|text|content)":"/, '"$1":"\\'),
  (json: string) => json.replace(/"(delta|text|content)":"/, '"$1":"\u0001'),
  (json: string) => json.replace(/"(delta|text|content)":"/, '"$1":"\\u00e9\\ud83d'),
  (json: string) => json.replace(/"(delta|text|content)":"/, '"\\"$1":"'),
  (json: string) => json.replace(/"(delta|text|content)":("[^"]*")/, '"$1":$2,"$1":$2'),
  (json: string) => json.replace(/"(delta|text|content)":"[^"]*"/, '"$1":null'),
  (json: string) => json.replace(/"(delta|text|content)":("[^"]*")/, '"$1":[$2]'),
  (json: string) => json.replace(/"sequence_number":/, '"sequence_number":0'),
  (json: string) => json.replace(/"sequence_number":/, '"sequence_number":-'),
  (json: string) => json.replace(/"(obfuscation|p)":"/, '"$1":"\\q'),
  (json: string) => json.replace(/"(obfuscation|p)":"[^"]*"/, '"$1":{"a":[1,"b"]}'),
  (json: string) => json.replace(/"(index|output_index|contentBlockIndex)":0/, '"$1":1'),
  (json: string) => json.replace('"logprobs":[]', '"logprobs":[{"token":"a"}]'),
  (json: string) => json.replace('"finish_reason":null', '"finish_reason":"stop"'),
  (json: string) => json.replace('"usage":null', '"usage":{"prompt_tokens":1,"completion_tokens":2}'),
  (json: string) => json.replace(/("content":"[^"]*")/, '$1,"reasoning_details":[{"type":"reasoning.text","text":"b"}]'),
  (json: string) => json.replace('"delta":{"content"', '"delta":{"reasoning_details":[{"type":"reasoning.text","text":"b"}],"content"'),
)
const texts = fc.oneof(fc.constantFrom('a', 'text', '"', '\\', '{"delta":"a"}', '\n', ' word', 'probe', '0', ''), fc.string())

describe('a stream decodes to the same events with and without templates', () => {
  test.each(names)('frames of %s that were changed at random', dialect => {
    const { opening, delta } = dialects[dialect]
    // Frames with the same change follow one another, because a template is made of the first and read with the second.
    const alike = fc.record({ edit: edits, texts: fc.array(texts, { minLength: 1, maxLength: 4 }) })
    fc.assert(
      fc.property(fc.array(alike, { maxLength: 5 }), groups => {
        const changed = groups.flatMap(({ edit, texts: all }) => all.map(text => ({ edit, text })))
        const frames = [...opening, ...changed.map(({ text, edit }, at) => ({ ...delta(text, at), data: edit(delta(text, at).data) }))]
        expect(decode(dialect, frames)).toEqual(decode(dialect, withoutTemplates(frames)))
      }),
      { numRuns: runs },
    )
  })

  const longKey = (content: string): Frame => ({ data: JSON.stringify({ ['k'.repeat(5_000)]: 1, choices: [{ delta: { content } }] }) })
  const part = { output_index: 0, content_index: 0 }
  const started = (index: number, content_block: object, more?: object): Frame => ({
    data: JSON.stringify({ type: 'content_block_start', index, content_block, ...more }),
  })
  test.each<readonly [string, Dialect, readonly Frame[]]>([
    [
      'chunks with a finish reason that is no text',
      'chat',
      ['a', 'b', 'c'].map(content => ({ data: JSON.stringify({ choices: [{ delta: { content }, finish_reason: true }] }) })),
    ],
    ['a key that is too long only in a long frame', 'chat', ['a', 'b', 'c'.repeat(20_000)].map(longKey)],
    ['a key that is too long only among many brackets', 'chat', ['a', 'b', '{'.repeat(500)].map(longKey)],
    [
      'the end of a part, with a delta beside its text',
      'responses',
      ['abc', 'xyz'].map(delta => ({ data: JSON.stringify({ type: 'response.output_text.done', ...part, text: 'abc', delta }) })),
    ],
    [
      'the start of a block, with a delta beside its text',
      'messages',
      [dialects.messages.delta('a', 0), ...['abc', 'xyz'].map(text => started(1, { type: 'text', text: 'abc' }, { delta: { text } }))],
    ],
    [
      'the end of an answer block, with a delta beside it',
      'messages',
      [
        started(0, { type: 'text', text: 'a' }),
        started(1, { type: 'tool_use', id: 'i', name: 'answer', input: { a: 1 } }),
        ...['{"a":1}', 'xyz'].map(text => ({ data: JSON.stringify({ type: 'content_block_stop', index: 1, delta: { text } }) })),
      ],
    ],
  ])('%s', (_, dialect, frames) => {
    const all = [...dialects[dialect].opening, ...frames]
    expect(decode(dialect, all)).toEqual(decode(dialect, withoutTemplates(all)))
  })
})

describe('the template of a frame', () => {
  const deltaFrames = { textOf: ({ delta }: { readonly delta?: unknown }) => delta as string, varying: ['n', 'pad'] }
  const frame = (delta: string, more: object = {}): Frame => ({ data: JSON.stringify({ n: 7, ...more, delta, pad: 'xyz' }) })

  test('reads frames that differ in their text and the varying fields', () => {
    const template = templateOf(frame('a'), 'a', deltaFrames)
    expect(template && textInFrame(template, { data: '{"n":12345,"delta":"b\\n","pad":""}' })).toBe('b\n')
  })

  test('takes the text from its own field if others hold the same string', () => {
    const template = templateOf(frame('a', { other: 'a' }), 'a', deltaFrames)
    expect(template && textInFrame(template, frame('b', { other: 'a' }))).toBe('b')
    expect(template && textInFrame(template, frame('a', { other: 'b' }))).toBeUndefined()
  })

  test.each([
    ['another event name', { ...frame('b'), event: 'other' }],
    ['one more field', frame('b', { more: 1 })],
    ['text that is not closed', { data: '{"n":7,"delta":"b' }],
    ['a bad escape', { data: '{"n":7,"delta":"\\q","pad":"xyz"}' }],
    ['a number with a leading zero', { data: '{"n":07,"delta":"b","pad":"xyz"}' }],
    ['no number', { data: '{"n":,"delta":"b","pad":"xyz"}' }],
    ['text after its end', { data: `${frame('b').data}{}` }],
    ['no text', frame('')],
  ])('does not fit a frame with %s', (_, other) => {
    const template = templateOf(frame('a'), 'a', deltaFrames)
    expect(template && textInFrame(template, other)).toBeUndefined()
  })

  test('is made of a frame with escapes beyond ASCII', () => {
    const template = templateOf({ data: '{"n":7,"delta":"\\u4e2d\\ud83d\\ude82","pad":"xyz"}' }, '中🚂', deltaFrames)
    expect(template && textInFrame(template, { data: '{"n":8,"delta":"\\u6587","pad":""}' })).toBe('文')
  })

  test('is not made of a long frame', () => {
    expect(templateOf(frame('a', { more: 'x'.repeat(10_000) }), 'a', deltaFrames)).toBeUndefined()
    expect(templateOf({ ...frame('a'), event: 'x'.repeat(10_000) }, 'a', deltaFrames)).toBeUndefined()
  })

  test('does not keep the read in memory that its frame came with', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const kept: unknown[] = []
    collect()
    const before = process.memoryUsage().heapUsed
    for (let at = 0; at < 40; at += 1) {
      const read = `content_block_delta${frame(`text ${at}`).data}${'x'.repeat(1_000_000)}`
      const cut = { event: read.slice(0, 19), data: read.slice(19, read.indexOf('}') + 1) }
      kept.push(templateOf(cut, `text ${at}`, deltaFrames))
    }
    collect()
    expect(kept.every(template => template !== undefined)).toBe(true)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000)
  })
})
