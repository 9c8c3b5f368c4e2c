import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, faultsOf, metadataOf, plain } from '../../test/laws.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../protocol/event.ts'
import { fold, unfold } from '../protocol/fold.ts'
import type { FunctionCallItem, Item, MessageItem, ReasoningItem } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { InferenceResponse, Outcome } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { chatClient } from './client.ts'
import { chatProvider } from './provider.ts'

const ask = (fields: JsonObject = {}): InferenceRequest =>
  chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true, ...fields })
const counting = ask({ stream_options: { include_usage: true } })

interface Choice {
  readonly index: number
  readonly delta: JsonObject
  readonly finish_reason: string | null
  readonly logprobs: JsonObject | null
}
type Chunk = JsonObject & { readonly choices?: readonly Choice[] }

const framesOf = (events: readonly InferenceEvent[], request = ask(), facts: Partial<ResponseMetadata> = {}) => {
  const metadata = metadataOf(facts)
  return chatClient.encodeEvents(request, () => metadata).write(events)
}
const chunksOf = (events: readonly InferenceEvent[], request = ask(), facts: Partial<ResponseMetadata> = {}): readonly Chunk[] =>
  framesOf(events, request, facts).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as Chunk]))
const deltasOf = (events: readonly InferenceEvent[], request = ask()): readonly JsonObject[] =>
  chunksOf(events, request).flatMap(({ choices = [] }) => choices.map(({ delta }) => delta))

const started: InferenceEvent = { type: 'started', id: 'theirs', model: 'their-model', created_at: 9 }
const begin = (index: number, item: Item): InferenceEvent => ({ type: 'item_started', index, item })
const grow = (index: number, delta: Delta): InferenceEvent => ({ type: 'delta', index, delta })
const end = (index: number, item: Item): InferenceEvent => ({ type: 'item_finished', index, item })
const usage = { input_tokens: 5, output_tokens: 3, cached_tokens: 1, cache_write_tokens: 2, reasoning_tokens: 1 }
const finish = (outcome: Outcome = { status: 'completed' }): InferenceEvent => ({ type: 'finished', outcome, usage })
const empty: MessageItem = { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
const message = (...texts: readonly string[]): MessageItem => ({
  type: 'message',
  role: 'assistant',
  content: texts.map(text => ({ type: 'text', text })),
  status: 'completed',
})
const call = (call_id: string, written: string, name = 'f'): FunctionCallItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: written,
  status: 'completed',
})
const reasoning = (fields: Partial<ReasoningItem>): ReasoningItem => ({ type: 'reasoning', summary: [], ...fields })
const text = (words: string, part = 0): Delta => ({ kind: 'text', part, text: words })
const args = (written: string): Delta => ({ kind: 'arguments', part: 0, text: written })
const answer = (output: readonly Item[], outcome: Outcome = { status: 'completed' }): InferenceResponse => ({
  id: 'theirs',
  model: 'their-model',
  created_at: 9,
  output,
  outcome,
  usage,
})
const whole = (output: readonly Item[], request = ask(), facts: Partial<ResponseMetadata> = {}): JsonObject =>
  plain(chatClient.encodeResponse(answer(output), request, metadataOf(facts)))
const messageOf = (output: readonly Item[], request = ask()): JsonObject =>
  ((whole(output, request).choices as readonly JsonObject[])[0]?.message ?? {}) as JsonObject

const greeting = [started, begin(0, empty), grow(0, text('He')), grow(0, text('y')), end(0, message('Hey')), finish()]

describe('the chunks of a Chat stream', () => {
  test('are the role, the text, the finish reason, and [DONE]', () => {
    const frames = framesOf(greeting)
    expect(frames.at(-1)).toEqual({ data: '[DONE]' })
    expect(frames.every(({ event }) => event === undefined)).toBe(true)
    const head = { id: 'chatcmpl-ours', object: 'chat.completion.chunk', created: 1, model: 'model' }
    const choice = (delta: JsonObject, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    })
    expect(chunksOf(greeting)).toEqual([
      choice({ role: 'assistant', content: '' }),
      choice({ content: 'He' }),
      choice({ content: 'y' }),
      choice({}, 'stop'),
    ])
  })
  test('have null as usage until the last chunk, which has no choices, if usage is requested', () => {
    const chunks = chunksOf(greeting, counting)
    expect(chunks.map(chunk => chunk.usage)).toEqual([
      null,
      null,
      null,
      null,
      {
        prompt_tokens: 5,
        completion_tokens: 3,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    ])
    expect(chunks.at(-1)?.choices).toEqual([])
    expect(JSON.stringify(chunksOf(greeting))).not.toContain('usage')
  })
  test('have routing metadata and warnings in the last chunk only, with the client’s field names', () => {
    const routing = { provider: 'p', provider_model_id: 'pm', model_canonical: 'm', routing_strategy: 'order' }
    const warnings = [{ code: 'unsupported_parameter', message: '`max_output_tokens` was left out.', param: 'max_output_tokens' }]
    for (const [request, named] of [
      [ask({ max_tokens: 5 }), 'max_tokens'],
      [ask({ max_tokens: 5, max_completion_tokens: 5 }), 'max_completion_tokens'],
      [ask({ max_tokens: 5, stream_options: { include_usage: true } }), 'max_tokens'],
    ] as const) {
      const chunks = chunksOf(greeting, request, { routing, warnings })
      expect(chunks.at(-1)).toMatchObject({
        routing_metadata: routing,
        warnings: [{ code: 'unsupported_parameter', param: named, message: `\`${named}\` was left out.` }],
      })
      for (const chunk of chunks.slice(0, -1)) {
        expect(chunk).not.toHaveProperty('warnings')
        expect(chunk).not.toHaveProperty('routing_metadata')
      }
    }
    expect(chunksOf(greeting).at(-1)).not.toHaveProperty('warnings')
  })
  test('request the metadata once there is something to send, and not before', () => {
    let metadataCalls = 0
    const encoder = chatClient.encodeEvents(ask(), () => {
      metadataCalls += 1
      return metadataOf()
    })
    expect([encoder.write([]), metadataCalls]).toEqual([[], 0])
    encoder.write([started])
    expect(metadataCalls).toBe(1)
  })
  test('are the same however the events are split into batches', () => {
    const metadata = metadataOf()
    const encoder = chatClient.encodeEvents(counting, () => metadata)
    expect(greeting.flatMap(event => encoder.write([event]))).toEqual(framesOf(greeting, counting))
  })
  test('do not include events after the end', () => {
    expect(framesOf([...greeting, begin(1, empty), grow(1, text('more')), finish()])).toEqual(framesOf(greeting))
  })
  test('include content that only the finished item has', () => {
    const events = [started, begin(0, empty), grow(0, text('He')), end(0, message('Hello', ' you')), end(1, call('a', '{"x":1}')), finish()]
    const deltas = deltasOf(events)
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('Hello you')
    expect(deltas.at(-2)).toEqual({ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] })
  })
})

describe('calls in a Chat response', () => {
  test('are numbered in the order of their items', () => {
    const events = [
      started,
      begin(0, empty),
      end(0, message('')),
      begin(1, call('a', '')),
      begin(2, call('b', '', 'g')),
      grow(2, args('{"y"')),
      grow(1, args('{"x"')),
      grow(2, args(':1}')),
      grow(1, args(':2}')),
      end(1, call('a', '{"x":2}')),
      end(2, call('b', '{"y":1}', 'g')),
      finish(),
    ]
    const deltas = deltasOf(events).flatMap(({ tool_calls }) => (tool_calls as readonly JsonObject[] | undefined) ?? [])
    expect(deltas).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
      { index: 1, function: { arguments: '{"y"' } },
      { index: 0, function: { arguments: '{"x"' } },
      { index: 1, function: { arguments: ':1}' } },
      { index: 0, function: { arguments: ':2}' } },
    ])
    expect(chunksOf(events).at(-1)?.choices?.[0]?.finish_reason).toBe('tool_calls')
  })
  test('have an empty object if they have no arguments, and their partial arguments if they were cut', () => {
    const written = (item: FunctionCallItem): unknown =>
      deltasOf([started, begin(0, call('a', '')), end(0, item), finish()]).map(({ tool_calls }) => tool_calls)[2]
    expect(written(call('a', ''))).toEqual([{ index: 0, function: { arguments: '{}' } }])
    expect(written({ ...call('a', ''), status: 'incomplete' })).toBeUndefined()
    expect(messageOf([call('a', '')]).tool_calls).toEqual([{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }])
  })
  test('of a custom tool are sent as custom calls', () => {
    const item: FunctionCallItem = { ...call('a', 'raw text', 'patch'), custom: true }
    expect(messageOf([item]).tool_calls).toEqual([{ id: 'a', type: 'custom', custom: { name: 'patch', input: 'raw text' } }])
    expect(deltasOf(unfold(answer([item]))).flatMap(({ tool_calls }) => tool_calls ?? [])).toEqual([
      { index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '' } },
      { index: 0, custom: { input: 'raw text' } },
    ])
  })
})

describe('text in a Chat response', () => {
  const cited = (words: string, start: number): MessageItem => ({
    ...message(),
    content: [
      {
        type: 'text',
        text: words,
        annotations: [
          { type: 'url_citation', url: 'https://x', title: 'X', start_index: start, end_index: start + 1 },
          { type: 'file_citation', file_id: 'f' },
        ],
      },
    ],
  })
  test('joins several messages into one content, with citations adjusted to the whole', () => {
    const output = [message('{"a', 'b'), call('c', '{}'), cited('":1}', 1)]
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://x', title: 'X', start_index: 5, end_index: 6 } }]
    expect(messageOf(output)).toMatchObject({ content: '{"ab":1}', annotations })
    const deltas = deltasOf(unfold(answer(output)))
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('{"ab":1}')
    expect(deltas.filter(delta => 'annotations' in delta)).toEqual([{ annotations }])
  })
  test('is null if there are only calls, and empty if there is nothing', () => {
    expect(messageOf([call('a', '{}')]).content).toBeNull()
    expect(messageOf([message(''), call('a', '{}')]).content).toBeNull()
    expect(messageOf([message('')])).toMatchObject({ content: '', refusal: null })
  })
  test('is separate from a refusal', () => {
    const output: readonly Item[] = [{ ...message(), content: [{ type: 'refusal', refusal: 'No.' }] }]
    expect(messageOf(output)).toEqual({ role: 'assistant', content: null, refusal: 'No.' })
    expect(deltasOf(unfold(answer(output))).slice(1)).toEqual([{ refusal: 'No.' }, {}])
  })
  test('has its logprobs on its chunk, or all of them in a whole response', () => {
    const odds = { token: 'He', logprob: -1, top_logprobs: [{ token: 'Ha', logprob: -2 }] }
    const full = { content: [{ ...odds, bytes: null, top_logprobs: [{ token: 'Ha', logprob: -2, bytes: null }] }], refusal: null }
    const item: MessageItem = { ...message(), content: [{ type: 'text', text: 'He', logprobs: [odds] }] }
    expect(chunksOf(unfold(answer([item])))[1]?.choices?.[0]?.logprobs).toEqual(full)
    expect((whole([item]).choices as readonly JsonObject[])[0]?.logprobs).toEqual(full)
    expect((whole([message('x')]).choices as readonly JsonObject[])[0]?.logprobs).toBeNull()
  })
  test('does not include native items of other dialects', () => {
    const search: Item = { type: 'native', dialect: 'responses', body: { type: 'web_search_call' } }
    expect(messageOf([search, message('x')])).toEqual({ role: 'assistant', content: 'x', refusal: null })
    expect(deltasOf([started, begin(0, search), end(0, search), finish()])).toEqual([{ role: 'assistant', content: '' }, {}])
  })
})

describe('reasoning in a Chat response', () => {
  test('is one text, with a paragraph for each item', () => {
    const output = [reasoning({ summary: ['a', 'b'] }), reasoning({ content: ['c'] }), message('x')]
    expect(messageOf(output).reasoning_content).toBe('a\n\nb\n\nc')
    expect(
      deltasOf(unfold(answer(output)))
        .map(({ reasoning_content }) => reasoning_content ?? '')
        .join(''),
    ).toBe('a\n\nb\n\nc')
  })
  test('is sent once if the item has both raw text and a summary', () => {
    const output = [reasoning({ summary: ['s'], content: ['raw'] })]
    expect(messageOf(output).reasoning_content).toBe('s')
    expect(deltasOf(unfold(answer(output))).filter(delta => 'reasoning_content' in delta)).toEqual([{ reasoning_content: 's' }])
  })
  test('has its state in reasoning_details and on the next call', () => {
    const output = [
      reasoning({ encrypted_content: 'S' }),
      message('x'),
      call('a', '{}'),
      reasoning({ encrypted_content: 'T' }),
      call('b', '{}'),
    ]
    const entry = (data: string, index: number) => ({ type: 'reasoning.encrypted', data, index, format: 'signalbox' })
    const extra = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } })
    expect(messageOf(output)).toMatchObject({
      reasoning_details: [entry('S', 0), entry('T', 1)],
      tool_calls: [
        { id: 'a', ...extra('S') },
        { id: 'b', ...extra('T') },
      ],
    })
    expect(messageOf(output)).not.toHaveProperty('reasoning_content')
    const deltas = deltasOf(unfold(answer(output)))
    expect(deltas.flatMap(({ reasoning_details }) => reasoning_details ?? [])).toEqual([entry('S', 0), entry('T', 1)])
    expect(deltas.flatMap(({ tool_calls }) => tool_calls ?? [])).toMatchObject([
      { id: 'a', ...extra('S') },
      {},
      { id: 'b', ...extra('T') },
      {},
    ])
  })
  test('has no state fields if there is no state', () => {
    expect(JSON.stringify([whole([reasoning({ content: ['a'] }), call('a', '{}')])])).not.toMatch(/reasoning_details|extra_content/)
  })
})

describe('the end of a Chat response', () => {
  test.each<[string, Outcome, readonly Item[]]>([
    ['stop', { status: 'completed' }, [message('x')]],
    ['tool_calls', { status: 'completed' }, [message('x'), call('a', '{}')]],
    ['length', { status: 'incomplete', reason: 'max_output_tokens' }, [message('x'), call('a', '{')]],
    ['content_filter', { status: 'incomplete', reason: 'content_filter' }, [message('x')]],
    ['length', { status: 'incomplete', reason: 'something_new' }, [message('x')]],
  ])('%s', (reason, outcome, output) => {
    const response = answer(output, outcome)
    expect(chunksOf(unfold(response)).at(-1)?.choices?.[0]?.finish_reason).toBe(reason)
    expect(chatClient.encodeResponse(response, ask(), metadataOf()).choices).toMatchObject([{ finish_reason: reason }])
  })
  const error = { kind: 'overloaded', message: 'busy', code: 'engine_overloaded', type: 'server_error', provider: 'p' } as const
  test('is one chunk with only the error after a failure, without [DONE]', () => {
    const frames = framesOf([started, begin(0, empty), grow(0, text('Hal')), finish({ status: 'failed', error })], counting)
    expect(JSON.parse(frames.at(-1)?.data ?? '')).toEqual({
      error: { message: 'busy', type: 'server_error', code: 'engine_overloaded', param: null, provider: 'p' },
    })
    for (const { data } of frames.slice(0, -1)) expect(JSON.parse(data)).not.toHaveProperty('error')
  })
  test('is only the error if a failure comes before any content', () => {
    expect(framesOf([finish({ status: 'failed', error: { kind: 'unreadable', message: 'm', param: 'max_output_tokens' } })])).toEqual([
      { data: '{"error":{"message":"m","type":"provider_error","code":"provider_error","param":"max_completion_tokens"}}' },
    ])
  })
  test('is an error if a whole response failed', () => {
    expect(chatClient.encodeResponse(answer([message('x')], { status: 'failed', error }), ask(), metadataOf())).toMatchObject({
      error: { message: 'busy' },
    })
  })
})

test('a whole Chat response has all its fields', () => {
  const routing = { provider: 'p', provider_model_id: 'pm', model_canonical: 'm', routing_strategy: 'order', cost: { usd: 0.1 } }
  const warnings = [{ code: 'x', message: '`text.verbosity` was left out.', param: 'text.verbosity' }]
  expect(whole([message('Hey')], ask(), { routing, warnings })).toEqual({
    id: 'chatcmpl-ours',
    object: 'chat.completion',
    created: 1,
    model: 'model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hey', refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
    },
    routing_metadata: routing,
    warnings: [{ code: 'x', message: '`verbosity` was left out.', param: 'verbosity' }],
  })
})

describe('any legal stream', () => {
  const words = fc.string({ minLength: 1, maxLength: 8 })
  const someMessage = fc
    .array(
      fc.oneof(
        words.map(said => ({ type: 'text', text: said }) as const),
        words.map(said => ({ type: 'refusal', refusal: said }) as const),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((content): MessageItem => ({ type: 'message', role: 'assistant', content, status: 'completed' }))
  const someCall = fc
    .tuple(words, fc.jsonValue({ maxDepth: 1 }))
    .map(([name, value]): FunctionCallItem => call('', JSON.stringify({ value }), `f${name}`))
  const someReasoning = fc
    .tuple(fc.array(words, { maxLength: 2 }), fc.option(words, { nil: undefined }))
    .map(([content, state]) => reasoning({ content, ...(state !== undefined && { encrypted_content: state }) }))
  const someOutput = fc
    .array(fc.oneof(someMessage, someCall, someReasoning), { maxLength: 6 })
    .map(items => items.map((item, at): Item => (item.type === 'function_call' ? { ...item, call_id: `call_${at}` } : item)))

  /** The same events with deltas of adjacent calls interleaved. */
  const interleaved = (events: readonly InferenceEvent[], seed: number): readonly InferenceEvent[] => {
    const calls = new Set(
      events.flatMap(event => (event.type === 'item_started' && event.item.type === 'function_call' ? [event.index] : [])),
    )
    const out: InferenceEvent[] = []
    let late: InferenceEvent[][] = []
    const flush = (): void => {
      for (let turn = seed; late.some(queue => queue.length > 0); turn += 1) {
        const next = late[turn % late.length]?.shift()
        if (next) out.push(next)
      }
      late = []
    }
    for (const event of events) {
      const isCall = 'index' in event && event.index !== undefined && calls.has(event.index)
      if (!isCall) flush()
      if (isCall && event.type === 'item_started') late.push([])
      if (isCall && event.type === 'delta' && event.delta.kind === 'arguments') {
        const { index, delta } = event
        const middle = Math.ceil(delta.text.length / 2)
        for (const piece of [delta.text.slice(0, middle), delta.text.slice(middle)]) {
          if (piece !== '') late.at(-1)?.push({ type: 'delta', index, delta: { ...delta, text: piece } })
        }
      } else if (isCall && event.type === 'item_finished') late.at(-1)?.push(event)
      else out.push(event)
    }
    flush()
    return out
  }

  /** The content of a response, regardless of how it was split into items. */
  const gist = ({ output, outcome, usage: counted }: InferenceResponse): unknown => ({
    text: output
      .flatMap(item => (item.type === 'message' ? item.content.map(part => (part.type === 'text' ? part.text : '')) : []))
      .join(''),
    refusal: output
      .flatMap(item => (item.type === 'message' ? item.content.map(part => (part.type === 'refusal' ? part.refusal : '')) : []))
      .join(''),
    thoughts: output
      .flatMap(item => (item.type === 'reasoning' ? (item.content ?? []) : []))
      .join('')
      .replaceAll('\n\n', ''),
    calls: output.flatMap(item => (item.type === 'function_call' ? [[item.call_id, item.name, item.arguments]] : [])),
    status: outcome.status,
    counted,
  })

  test('folds back to the same content, in chunks and whole, and N calls stay N calls in order', () => {
    fc.assert(
      fc.property(someOutput, fc.nat(7), (output, seed) => {
        const response = answer(output.length > 0 ? output : [message('')])
        const events = interleaved(unfold(response), seed)
        expect(faultsOf(events)).toEqual([])
        const again = decode(chatProvider, framesOf(events, counting))
        expect(faultsOf(again)).toEqual([])
        expect(gist(fold(again))).toEqual(gist(response))
        expect(gist(chatProvider.decodeResponse(chatClient.encodeResponse(response, counting, metadataOf())))).toEqual(gist(response))
      }),
      { numRuns: 500 },
    )
  })

  test('has one role, one finish reason, one id, and consecutive call indexes', () => {
    fc.assert(
      fc.property(someOutput, fc.nat(7), (output, seed) => {
        const chunks = chunksOf(interleaved(unfold(answer(output)), seed))
        const deltas = chunks.flatMap(({ choices = [] }) => choices)
        expect(new Set(chunks.map(({ id, created, model, object }) => [id, created, model, object].join())).size).toBe(1)
        expect(deltas.filter(({ delta }) => 'role' in delta)).toEqual(deltas.slice(0, 1))
        expect(deltas.filter(({ finish_reason }) => finish_reason !== null)).toEqual(deltas.slice(-1))
        const named = deltas
          .flatMap(({ delta }) => (delta.tool_calls as readonly JsonObject[] | undefined) ?? [])
          .filter(({ id }) => id !== undefined)
        expect(named.map(({ index }) => index)).toEqual(named.map((_, at) => at))
      }),
      { numRuns: 300 },
    )
  })

  test('ends in one error, wherever a failure occurs', () => {
    fc.assert(
      fc.property(someOutput, fc.nat(60), (output, cut) => {
        const events = unfold(answer(output)).slice(0, -1).slice(0, cut)
        const frames = framesOf([...events, finish({ status: 'failed', error: { kind: 'overloaded', message: 'm' } })])
        const bodies = frames.map(({ data }) => JSON.parse(data) as JsonObject)
        expect(bodies.map(body => isObject(body.error))).toEqual(bodies.map((_, at) => at === bodies.length - 1))
        expect(Object.keys(bodies.at(-1) ?? {})).toEqual(['error'])
      }),
    )
  })
})
