import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { faultsOf, metadataOf, plain } from '../../test/laws.ts'
import { readStrictly } from '../../test/messages-client-reader.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import { fold, unfold } from '../protocol/fold.ts'
import type { FunctionCallItem, Item, Part, ReasoningItem } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import type { Frame, JsonObject } from '../protocol/wire.ts'
import { writeFrames } from '../sse/write.ts'
import { messagesClient } from './client.ts'

const request: InferenceRequest = { prompt: { input: [] }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'stream' }
const encode = (events: readonly InferenceEvent[], facts: Partial<ResponseMetadata> = {}): readonly Frame[] => {
  const metadata = metadataOf(facts)
  return messagesClient.encodeEvents(request, () => metadata).write(events)
}
const read = (events: readonly InferenceEvent[], facts: Partial<ResponseMetadata> = {}) => readStrictly(encode(events, facts))
const wires = (frames: readonly Frame[]): readonly JsonObject[] => frames.map(({ data }) => JSON.parse(data) as JsonObject)
/** Frames in short notation: `0+text`, `0:text_delta`, `0-`, or the event name. */
const course = (events: readonly InferenceEvent[]): readonly string[] =>
  wires(encode(events)).map(({ type, index, content_block, delta }) => {
    if (type === 'content_block_start') return `${index}+${(content_block as JsonObject).type}`
    if (type === 'content_block_delta') return `${index}:${(delta as JsonObject).type}`
    return type === 'content_block_stop' ? `${index}-` : String(type)
  })

const started: InferenceEvent = { type: 'started', id: 'theirs', model: 'their-model', created_at: 9 }
const begin = (index: number, item: Item): InferenceEvent => ({ type: 'item_started', index, item })
type Growing = 'text' | 'refusal' | 'reasoning' | 'summary' | 'arguments'
/** `at`: the item, and its part unless it is the first. */
const grow = (at: number | readonly [index: number, part: number], kind: Growing, text: string): InferenceEvent => {
  const [index, part] = typeof at === 'number' ? [at, 0] : at
  return { type: 'delta', index, delta: { kind, part, text } }
}
const cite = (index: number, annotation: JsonObject, part = 0): InferenceEvent => ({
  type: 'delta',
  index,
  delta: { kind: 'annotation', part, annotation },
})
const end = (index: number, item: Item): InferenceEvent => ({ type: 'item_finished', index, item })
const usage: Usage = { input_tokens: 50, output_tokens: 3, cached_tokens: 10, cache_write_tokens: 20, reasoning_tokens: 1 }
const finish = (outcome: Outcome = { status: 'completed' }): InferenceEvent => ({ type: 'finished', outcome, usage })
const failed = (error: Partial<Failure> = {}): InferenceEvent => ({
  type: 'finished',
  outcome: { status: 'failed', error: { kind: 'server_error', message: 'It failed.', ...error } },
})

const empty: Item = { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
const message = (...content: readonly (string | Part)[]): Item => ({
  type: 'message',
  role: 'assistant',
  content: content.map(part => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  status: 'completed',
})
const call = (written: string, call_id = 'c1'): FunctionCallItem => ({ type: 'function_call', call_id, name: 'f', arguments: written })
const reasoning = (fields: Partial<ReasoningItem> = {}): ReasoningItem => ({ type: 'reasoning', summary: [], ...fields })
const native = (body: JsonObject, dialect = 'messages'): Item => ({ type: 'native', dialect, body })
const link = { type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 1 }

describe('the events of a Messages stream', () => {
  test('for a text', () => {
    const frames = encode([started, begin(0, empty), grow(0, 'text', 'He'), grow(0, 'text', 'y'), end(0, message('Hey')), finish()])
    expect(frames.map(({ event }) => event)).toEqual(wires(frames).map(({ type }) => type))
    expect(wires(frames)).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_ours',
          type: 'message',
          role: 'assistant',
          model: 'model',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'He' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'y' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: {
          input_tokens: 20,
          cache_creation_input_tokens: 20,
          cache_read_input_tokens: 10,
          output_tokens: 3,
          output_tokens_details: { thinking_tokens: 1 },
        },
      },
      { type: 'message_stop' },
    ])
  })

  test('start with an estimated prompt size until the provider has reported one', () => {
    const usageAt = (type: string, events: readonly InferenceEvent[]): unknown => {
      const found = wires(encode(events, { estimated_input_tokens: 321 })).find(wire => wire.type === type)
      return (found?.message as JsonObject | undefined)?.usage ?? found?.usage
    }
    const startWith = (counts: JsonObject): InferenceEvent => remember({ ...started }, { dialect: 'messages', body: { usage: counts } })
    expect(usageAt('message_start', [started, finish()])).toMatchObject({ input_tokens: 321, output_tokens: 0 })
    expect(usageAt('message_start', [startWith({ input_tokens: 0, output_tokens: 0 }), finish()])).toMatchObject({ input_tokens: 321 })
    expect(usageAt('message_start', [startWith({ input_tokens: 7, output_tokens: 1 }), finish()])).toMatchObject({ input_tokens: 7 })
    expect(usageAt('message_start', [startWith({ input_tokens: 0, cache_read_input_tokens: 90 }), finish()])).toMatchObject({
      input_tokens: 0,
    })
    expect(usageAt('message_delta', [started, finish()])).toMatchObject({ input_tokens: 20, output_tokens: 3 })
  })

  test('for thinking, a text and a call are numbered in order', () => {
    const events = [
      started,
      begin(0, reasoning()),
      grow(0, 'summary', 'hm'),
      end(0, reasoning({ summary: ['hm'], encrypted_content: 'sealed' })),
      begin(1, empty),
      grow(1, 'text', 'a'),
      end(1, message('a')),
      begin(2, call('')),
      grow(2, 'arguments', '{"a":'),
      grow(2, 'arguments', '1}'),
      end(2, call('{"a":1}')),
      finish(),
    ]
    expect(course(events)).toEqual([
      'message_start',
      ...['0+thinking', '0:thinking_delta', '0:signature_delta', '0-'],
      ...['1+text', '1:text_delta', '1-'],
      ...['2+tool_use', '2:input_json_delta', '2:input_json_delta', '2-'],
      ...['message_delta', 'message_stop'],
    ])
    expect(read(events).message).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sealed' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      ],
    })
  })

  test('are the same however the events are split into batches', () => {
    const events = [started, begin(0, empty), grow(0, 'text', 'a'), end(0, message('a')), finish()]
    const encoder = messagesClient.encodeEvents(request, () => metadataOf())
    expect(events.flatMap(event => encoder.write([event]))).toEqual(encode(events))
  })

  test('do not include events after the end', () => {
    expect(course([started, finish(), begin(0, empty), grow(0, 'text', 'a'), finish()])).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ])
  })

  test('take one line of data each', () => {
    expect(writeFrames(encode([started, begin(0, empty), grow(0, 'text', 'a\n\r\u2028b')]))).toMatch(
      /^(event: \w+\ndata: [^\n\r]+\n\n){3}$/,
    )
  })
})

describe('items that are open at the same time', () => {
  test('are sent one after the other, in the order of their start', () => {
    const events = [
      started,
      begin(0, call('', 'c0')),
      begin(1, call('', 'c1')),
      begin(2, empty),
      grow(1, 'arguments', '{"b":'),
      grow(2, 'text', 'after'),
      grow(0, 'arguments', '{}'),
      grow(1, 'arguments', '2}'),
      end(2, message('after')),
      end(1, call('{"b":2}', 'c1')),
      end(0, call('{}', 'c0')),
      finish(),
    ]
    expect(course(events)).toEqual([
      'message_start',
      ...['0+tool_use', '0:input_json_delta', '0-'],
      ...['1+tool_use', '1:input_json_delta', '1:input_json_delta', '1-'],
      ...['2+text', '2:text_delta', '2-'],
      ...['message_delta', 'message_stop'],
    ])
  })

  test('send the first of them at once', () => {
    const encoder = messagesClient.encodeEvents(request, () => metadataOf())
    encoder.write([started, begin(0, call('', 'c0')), begin(1, call('', 'c1'))])
    expect(encoder.write([grow(1, 'arguments', '{}')])).toEqual([])
    expect(encoder.write([grow(0, 'arguments', '{}')])).toHaveLength(1)
    expect(encoder.write([end(0, call('{}', 'c0'))])).toHaveLength(3)
    expect(encoder.write([grow(1, 'arguments', ' ')])).toHaveLength(1)
  })

  test('are not delayed by a native item of another dialect', () => {
    const events = [
      started,
      begin(0, native({ type: 'web_search_call' }, 'responses')),
      begin(1, empty),
      grow(1, 'text', 'a'),
      end(1, message('a')),
      end(0, native({ type: 'web_search_call' }, 'responses')),
      finish(),
    ]
    expect(course(events)).toEqual(['message_start', '0+text', '0:text_delta', '0-', 'message_delta', 'message_stop'])
  })

  test('that never finish are sent with their content so far', () => {
    const events = [started, begin(0, empty), begin(1, call('', 'c1')), grow(1, 'arguments', '{"a'), grow(0, 'text', 'a'), finish()]
    expect(read(events).message.content).toEqual([
      { type: 'text', text: 'a', citations: null },
      { type: 'tool_use', id: 'c1', name: 'f', input: { _raw: '{"a' } },
    ])
  })
})

describe('the blocks of a Messages response', () => {
  const contentOf = (item: Item, ...growth: readonly InferenceEvent[]) =>
    read([started, begin(0, item.type === 'message' ? empty : item), ...growth, end(0, item), finish()]).message.content

  test('leave out empty items', () => {
    expect(contentOf(message(''))).toEqual([])
    expect(contentOf(reasoning())).toEqual([])
    expect(contentOf(reasoning({ summary: [''] }))).toEqual([])
  })

  test('include content that only the finished item has', () => {
    expect(contentOf(message('Hello', 'you'), grow(0, 'text', 'He'))).toMatchObject([{ text: 'Hello' }, { text: 'you' }])
    expect(contentOf(reasoning({ summary: ['a', 'b'] }), grow(0, 'summary', 'a'))).toMatchObject([{ thinking: 'a\n\nb' }])
    expect(read([started, begin(0, call('')), grow(0, 'arguments', '{"a"'), end(0, call('{"a":1}')), finish()]).message.content).toEqual([
      { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
    ])
  })

  test('keep the streamed content if the finished item differs', () => {
    expect(contentOf(message('Bye'), grow(0, 'text', 'He'))).toMatchObject([{ text: 'He' }])
  })

  test('have each part of a message as a block, and a refusal as text', () => {
    const parts = message('a', { type: 'refusal', refusal: 'no' })
    const events = [started, begin(0, empty), grow(0, 'text', 'a'), grow([0, 1], 'refusal', 'no'), end(0, parts), finish()]
    expect(read(events).message).toMatchObject({ content: [{ text: 'a' }, { type: 'text', text: 'no' }], stop_reason: 'refusal' })
  })

  test('keep all text that returns to an earlier part', () => {
    const events = [
      started,
      begin(0, empty),
      grow(0, 'text', 'a'),
      grow([0, 1], 'text', 'b'),
      grow(0, 'text', 'c'),
      end(0, message('ac', 'b')),
      finish(),
    ]
    expect(read(events).message.content.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  })

  test('have summaries and raw reasoning in one block, with a blank line between them', () => {
    const events = [
      started,
      begin(0, reasoning()),
      grow(0, 'summary', 'a'),
      grow(0, 'summary', 'b'),
      grow([0, 1], 'summary', 'c'),
      grow(0, 'reasoning', ''),
      grow(0, 'reasoning', 'd'),
      end(0, reasoning({ summary: ['ab', 'c'], content: ['d'], encrypted_content: 'sealed' })),
      finish(),
    ]
    expect(read(events).message.content).toEqual([{ type: 'thinking', thinking: 'ab\n\nc\n\nd', signature: 'sealed' }])
  })

  test('have the state of reasoning without text', () => {
    expect(contentOf(reasoning({ encrypted_content: 'sealed' }))).toEqual([{ type: 'thinking', thinking: '', signature: 'sealed' }])
  })

  test('have redacted thinking whole', () => {
    expect(contentOf(reasoning({ encrypted_content: 'sealed', redacted: true }))).toEqual([{ type: 'redacted_thinking', data: 'sealed' }])
  })

  test('have links as citations, and no other annotations', () => {
    const cited = { type: 'text', text: 'a', annotations: [link, { type: 'file_citation', file_id: 'f' }] } as const
    const events = [
      started,
      begin(0, empty),
      grow(0, 'text', 'a'),
      cite(0, link),
      cite(0, cited.annotations[1]),
      end(0, message(cited)),
      finish(),
    ]
    const citations = [{ type: 'web_search_result_location', url: 'https://x', title: 'X', cited_text: '', encrypted_index: '' }]
    expect(read(events).message.content).toEqual([{ type: 'text', text: 'a', citations }])
    expect(contentOf(message(cited))).toEqual([{ type: 'text', text: 'a', citations }])
  })

  test('have a citation of a Messages provider unchanged', () => {
    const citation = { type: 'char_location', document_index: 0, cited_text: 'x', start_char_index: 0, end_char_index: 1 }
    const annotation = remember({ type: 'char_location' }, { dialect: 'messages', body: citation })
    expect(contentOf(message({ type: 'text', text: 'a', annotations: [annotation] }))).toEqual([
      { type: 'text', text: 'a', citations: [citation] },
    ])
  })

  test('have a document citation unchanged, at the text that it supports', () => {
    const citation = { type: 'page_location', document_index: 0 }
    const nativeDelta = (dialect: string, delta: JsonObject, index = 0): InferenceEvent => ({
      type: 'native',
      dialect,
      name: 'content_block_delta',
      index,
      body: { delta },
      preamble: false,
    })
    const about = (body: JsonObject): InferenceEvent => ({ type: 'native', dialect: 'messages', name: 'ping', body, preamble: true })
    const events = [
      about({ delta: { type: 'citations_delta', citation } }),
      started,
      begin(0, call('')),
      begin(1, empty),
      grow(1, 'text', 'a'),
      nativeDelta('messages', { type: 'citations_delta', citation }, 1),
      nativeDelta('messages', { type: 'tomorrow_delta' }, 1),
      nativeDelta('elsewhere', { type: 'citations_delta', citation }, 1),
      nativeDelta('messages', { type: 'citations_delta', citation }),
      end(1, message('a')),
      end(0, call('')),
      finish(),
    ]
    expect(read(events).message.content).toMatchObject([{ type: 'tool_use' }, { type: 'text', text: 'a', citations: [citation] }])
  })

  test('have a call without arguments as an empty input', () => {
    expect(contentOf(call(''))).toEqual([{ type: 'tool_use', id: 'c1', name: 'f', input: {} }])
  })

  test('have a name that arrives late by the start of the call', () => {
    const nameless: Item = { ...call(''), name: '', call_id: '' }
    const events = [started, begin(0, nameless), grow(0, 'arguments', '{"a":1}'), end(0, call('{"a":1}')), finish()]
    expect(read(events).message.content).toEqual([{ type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } }])
  })

  test('keep the provider’s extra fields of a call', () => {
    const body = { type: 'tool_use', id: 'theirs', name: 'f', input: {}, caller: { type: 'direct' } }
    const item = remember(call('{}'), { dialect: 'messages', body })
    expect(contentOf(item)).toEqual([{ type: 'tool_use', id: 'c1', name: 'f', input: {}, caller: { type: 'direct' } }])
  })

  test('have unknown blocks whole, once they are complete', () => {
    const whole = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } }
    const events = [started, begin(0, native({ ...whole, input: {} })), end(0, native(whole)), finish()]
    expect(course(events).slice(1, -2)).toEqual(['0+server_tool_use', '0:input_json_delta', '0-'])
    expect(read(events).message.content).toEqual([whole])
    const result = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
    expect(contentOf(native(result))).toEqual([result])
  })
})

describe('the end of a Messages stream', () => {
  const ending = (outcome: Outcome, facts: Partial<ResponseMetadata> = {}) => read([started, finish(outcome)], facts)
  test('has the stop reason of a cut or filtered response', () => {
    expect(ending({ status: 'incomplete', reason: 'max_output_tokens' }).message.stop_reason).toBe('max_tokens')
    expect(ending({ status: 'incomplete', reason: 'content_filter' }).message.stop_reason).toBe('refusal')
    expect(ending({ status: 'incomplete', reason: 'steered' }).message.stop_reason).toBe('max_tokens')
  })

  test('has a Messages provider’s own stop fields and counts', () => {
    const providerEnd = remember(finish(), {
      dialect: 'messages',
      body: {
        stop_reason: 'stop_sequence',
        stop_sequence: 'END',
        container: { id: 'c' },
        context_management: { applied_edits: [] },
        usage: { input_tokens: 1, output_tokens: 9, server_tool_use: { web_search_requests: 1 } },
      },
    })
    const { message, beside } = read([started, providerEnd])
    expect(message).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
      container: { id: 'c' },
      usage: { input_tokens: 20, output_tokens: 3, server_tool_use: { web_search_requests: 1 } },
    })
    expect(beside).toEqual({ context_management: { applied_edits: [] } })
  })

  test('follows a start event with a Messages provider’s input count', () => {
    const body = { id: 'theirs', model: 'theirs', content: [], usage: { input_tokens: 7, output_tokens: 1, service_tier: 'standard' } }
    const first = wires(encode([remember({ ...started }, { dialect: 'messages', body })]))[0]
    expect(first?.message).toMatchObject({ id: 'msg_ours', model: 'model', usage: { input_tokens: 7, service_tier: 'standard' } })
  })

  test('has the gateway’s fields', () => {
    const routing = { provider: 'p', provider_model_id: 'pm', model_canonical: 'm', routing_strategy: 's' }
    const warnings = [{ code: 'unsupported_parameter', param: 'stop', message: '`stop` is not supported here.' }]
    expect(ending({ status: 'completed' }, { routing, warnings }).beside).toEqual({
      routing_metadata: routing,
      warnings: [{ code: 'unsupported_parameter', param: 'stop_sequences', message: '`stop_sequences` is not supported here.' }],
    })
  })

  test.each<[Partial<Failure>, string]>([
    [{ kind: 'overloaded' }, 'overloaded_error'],
    [{ kind: 'rate_limited', code: 'rate_limit_exceeded' }, 'rate_limit_error'],
    [{ kind: 'rate_limited', code: 'slow_down' }, 'rate_limit_error'],
    [{ kind: 'out_of_quota', code: 'insufficient_quota' }, 'api_error'],
    [{ kind: 'server_error', code: 'provider_error' }, 'api_error'],
    [{ kind: 'server_error', code: 'service_unavailable' }, 'overloaded_error'],
    [{ kind: 'timed_out' }, 'timeout_error'],
    [{ kind: 'too_long', code: 'context_length_exceeded' }, 'invalid_request_error'],
    [{ kind: 'bad_credential', status: 401 }, 'api_error'],
    [{ kind: 'unreadable', code: 'constructor' }, 'api_error'],
  ])('has an error event for the failure %j', (error, type) => {
    const events = [started, begin(0, empty), grow(0, 'text', 'a'), failed({ ...error, provider: 'p' })]
    expect(course(events)).toEqual(['message_start', '0+text', '0:text_delta', 'error'])
    expect(read(events).error).toEqual({
      type,
      message: 'It failed.',
      code: error.code ?? 'provider_error',
      provider: 'p',
    })
    expect(wires(encode(events)).at(-1)?.request_id).toBe('ours')
  })

  test('has only an error event if a failure comes before any content', () => {
    expect(course([failed()])).toEqual(['error'])
  })
})

test('the keep-alive frame of a Messages stream is a ping event', () => {
  expect(writeFrames(messagesClient.keepAlive ? [messagesClient.keepAlive] : [])).toBe('event: ping\ndata: {"type":"ping"}\n\n')
})

const text = fc.string({ maxLength: 8, unit: 'grapheme' })
const partOf: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    type: fc.constant('text' as const),
    text,
    annotations: fc.array(fc.constantFrom<JsonObject>(link, { type: 'note' }), { maxLength: 2 }),
  }),
  fc.record({ type: fc.constant('refusal' as const), refusal: text }),
)
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.array(partOf, { maxLength: 3 }).map((content): Item => ({ type: 'message', role: 'assistant', content, status: 'completed' })),
  fc
    .tuple(fc.array(text, { maxLength: 2 }), fc.array(text, { maxLength: 2 }), fc.option(text))
    .map(([summary, content, state]) => reasoning({ summary, content, ...(state && { encrypted_content: state }) })),
  text.map(state => reasoning({ encrypted_content: state, redacted: true })),
  fc.tuple(fc.oneof(fc.json({ maxDepth: 1 }), text), fc.string({ minLength: 1, maxLength: 3 })).map(([written, id]) => call(written, id)),
  fc.constantFrom(
    native({ type: 'web_search_tool_result', content: [] }),
    native({ type: 'server_tool_use', id: 's', name: 'n', input: { a: 1 } }),
    native({ type: 'web_search_call' }, 'responses'),
  ),
)
const outcomes: readonly Outcome[] = [
  { status: 'completed' },
  { status: 'incomplete', reason: 'max_output_tokens' },
  { status: 'incomplete', reason: 'content_filter' },
]

/** The events of one item, with its texts split into pieces. */
function tellingsOf(item: Item, index: number): readonly InferenceEvent[] {
  const whole = unfold({ id: '', model: '', created_at: 0, output: [item], outcome: { status: 'completed' } }).slice(1, -1)
  return whole.flatMap((event): readonly InferenceEvent[] => {
    if (event.type !== 'delta') return event.type === 'finished' || event.type === 'started' ? [] : [{ ...event, index }]
    const { delta } = event
    if (delta.kind === 'annotation') return [{ type: 'delta', index, delta }]
    const half = Math.floor(delta.text.length / 2)
    return [delta.text.slice(0, half), delta.text.slice(half)].map(
      (text): InferenceEvent => ({ type: 'delta', index, delta: { ...delta, text } as Delta }),
    )
  })
}

/** Interleaves the events of several items as chosen by `picks`, keeping the order within and of the items. */
function interleave(items: readonly Item[], picks: readonly number[]): readonly InferenceEvent[] {
  const queues: InferenceEvent[][] = []
  const events: InferenceEvent[] = []
  let next = 0
  for (let turn = 0; next < items.length || queues.some(queue => queue.length > 0); turn++) {
    const open = queues.filter(queue => queue.length > 0)
    const pick = (picks[turn % picks.length] ?? 0) % (open.length + 1)
    const item = items[next]
    const queue = open[pick]
    if (queue) events.push(...queue.splice(0, 1))
    else if (item) queues.push([...tellingsOf(item, next++)])
    else events.push(...(open[0]?.splice(0, 1) ?? []))
    // The index is assigned when an item is announced, so that event comes at once.
    const opened = queues.at(-1)
    if (opened?.[0]?.type === 'item_started') events.push(...opened.splice(0, 1))
  }
  return events
}

test('any legal stream gives a legal Messages stream with the content of the whole response', () => {
  const picks = fc.array(fc.nat(5), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 5 }), picks, fc.constantFrom(...outcomes), (items, turns, outcome) => {
      const events: readonly InferenceEvent[] = [started, ...interleave(items, turns), finish(outcome)]
      expect(faultsOf(events)).toEqual([])
      const streamed = read(events).message
      const whole = messagesClient.encodeResponse(fold(events), request, metadataOf())
      expect(streamed).toEqual(plain(whole))
    }),
    { numRuns: inject('isLongRun') ? 2_000 : 200 },
  )
})

test('a stream that fails ends in one error, wherever the failure occurs', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 4 }), fc.nat(40), (items, cut) => {
      const events = [started, ...items.flatMap(tellingsOf)].slice(0, cut + 1)
      const { error } = read([...events, failed({ kind: 'overloaded' })])
      expect(error?.type).toBe('overloaded_error')
    }),
    { numRuns: 500 },
  )
})
