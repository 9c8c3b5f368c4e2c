import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode, faultsOf, metadataOf, plain, said } from '../../test/laws.ts'
import { chatProvider } from '../chat/provider.ts'
import type { Delta, InferenceEvent } from '../protocol/event.ts'
import { fold, unfold } from '../protocol/fold.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Outcome } from '../protocol/response.ts'
import type { Frame, JsonObject } from '../protocol/wire.ts'
import { readFrames } from '../sse/read.ts'
import { writeFrames } from '../sse/write.ts'
import { responsesClient } from './client.ts'
import { responsesProvider } from './provider.ts'

type Wire = JsonObject & {
  readonly type: string
  readonly sequence_number: number
  readonly response: JsonObject
  readonly item: JsonObject
}
const wires = (frames: readonly Frame[]): readonly Wire[] => frames.map(({ data }) => JSON.parse(data) as Wire)
const names = (frames: readonly Frame[]): readonly string[] => frames.map(({ event }) => String(event).replace('response.', ''))

const started: InferenceEvent = { type: 'started', id: 'theirs', model: 'their-model', created_at: 9 }
const begin = (index: number, item: Item): InferenceEvent => ({ type: 'item_started', index, item })
const grow = (index: number, delta: Delta): InferenceEvent => ({ type: 'delta', index, delta })
const end = (index: number, item: Item): InferenceEvent => ({ type: 'item_finished', index, item })
const finish = (outcome: Outcome = { status: 'completed' }): InferenceEvent => ({
  type: 'finished',
  outcome,
  usage: { input_tokens: 5, output_tokens: 3, cached_tokens: 1, cache_write_tokens: 2, reasoning_tokens: 1 },
})
const empty: Item = { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
const message = (...texts: readonly string[]): Item => ({
  type: 'message',
  role: 'assistant',
  content: texts.map(text => ({ type: 'text', text })),
  status: 'completed',
})
const call = (written: string, more: Partial<Item> = {}): Item =>
  ({ type: 'function_call', call_id: 'c1', name: 'f', arguments: written, status: 'completed', ...more }) as Item
const text = (nastyText: string, part = 0): Delta => ({ kind: 'text', part, text: nastyText })

describe('the events of a Responses stream', () => {
  test('are in legal order for a message', () => {
    const frames = encode([started, begin(0, empty), grow(0, text('He')), grow(0, text('y')), end(0, message('Hey')), finish()])
    expect(names(frames)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    expect(wires(frames).map(({ sequence_number }) => sequence_number)).toEqual(frames.map((_, at) => at))
    expect(wires(frames).map(({ type }) => type)).toEqual(frames.map(({ event }) => event))
    expect(wires(frames)[4]).toEqual({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'He',
      logprobs: [],
      sequence_number: 4,
    })
    expect(wires(frames)[7]).toMatchObject({ part: { type: 'output_text', text: 'Hey', annotations: [], logprobs: [] } })
  })
  test('are in legal order for parts, one after the other', () => {
    const content: Item = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'b' },
      ],
    }
    expect(
      names(encode(unfold({ id: '', model: '', created_at: 0, output: [content], outcome: { status: 'completed' } }))).slice(3, -2),
    ).toEqual([
      ...['content_part.added', 'output_text.delta', 'output_text.done', 'content_part.done'],
      ...['content_part.added', 'refusal.delta', 'refusal.done', 'content_part.done'],
    ])
  })
  test('are in legal order for reasoning with summary and raw text', () => {
    const item: Item = { type: 'reasoning', summary: ['a'], content: ['b'] }
    const frames = encode([started, begin(0, { type: 'reasoning', summary: [] }), end(0, item), finish()])
    expect(names(frames).slice(2, -1)).toEqual([
      'output_item.added',
      ...['reasoning_summary_part.added', 'reasoning_summary_text.delta', 'reasoning_summary_text.done', 'reasoning_summary_part.done'],
      ...['content_part.added', 'reasoning_text.delta', 'reasoning_text.done', 'content_part.done'],
      'output_item.done',
    ])
  })
  test('are in legal order for a call, whose arguments are an object even if there are none', () => {
    const frames = encode([started, begin(0, call('')), end(0, call('')), finish()])
    expect(names(frames).slice(2, -1)).toEqual([
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ])
    expect(wires(frames)[4]).toMatchObject({ name: 'f', arguments: '{}', item_id: 'fc_1' })
    expect(wires(frames).at(-1)?.response.output).toMatchObject([
      { type: 'function_call', id: 'fc_1', call_id: 'c1', arguments: '{}', status: 'completed' },
    ])
  })
  test('are in legal order for items that are open at the same time', () => {
    const frames = encode([
      started,
      begin(0, call('')),
      begin(1, call('', { call_id: 'c2' } as Partial<Item>)),
      grow(1, { kind: 'arguments', part: 0, text: '1' }),
      grow(0, { kind: 'arguments', part: 0, text: '2' }),
      end(0, call('2')),
      end(1, call('1', { call_id: 'c2' } as Partial<Item>)),
      finish(),
    ])
    expect(
      wires(frames)
        .slice(2, -1)
        .map(({ output_index }) => output_index),
    ).toEqual([0, 1, 1, 0, 0, 0, 1, 1])
  })
  test('are the same however the events are split into batches', () => {
    const events = [started, begin(0, empty), grow(0, text('a')), end(0, message('a')), finish()]
    const encoder = responsesClient.encodeEvents(
      { prompt: { input: [] }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'stream' },
      () => metadataOf(),
    )
    expect(events.flatMap(event => encoder.write([event]))).toEqual(encode(events))
  })
  test('do not include events after the end', () => {
    expect(names(encode([started, finish(), begin(0, empty), finish()]))).toEqual(['created', 'in_progress', 'completed'])
  })
  test('include content that only the finished item has', () => {
    const frames = encode([started, begin(0, empty), grow(0, text('He')), end(0, message('Hello', 'you')), finish()])
    expect(
      wires(frames)
        .filter(({ type }) => type.endsWith('.delta'))
        .map(({ delta }) => delta),
    ).toEqual(['He', 'llo', 'you'])
  })
})

describe('the ids of a Responses stream', () => {
  test('are those of the provider’s items, unless they are taken', () => {
    const named = { ...empty, id: 'msg_theirs' } as Item
    const frames = encode([started, begin(0, named), end(0, named), begin(1, named), end(1, named), finish()])
    const ids = wires(frames)
      .filter(({ type }) => type === 'response.output_item.done')
      .map(({ item }) => item.id)
    expect(ids).toEqual(['msg_theirs', 'msg_1'])
  })
  test('stay as first announced if the finished item has another', () => {
    const frames = encode([
      started,
      begin(0, { ...empty, id: 'a' } as Item),
      grow(0, text('x')),
      end(0, { ...message('x'), id: 'b' } as Item),
      finish(),
    ])
    expect(new Set(wires(frames).flatMap(({ item, item_id }) => (item ? [item.id] : item_id === undefined ? [] : [item_id])))).toEqual(
      new Set(['a']),
    )
  })
  test('and the model in every snapshot are the gateway’s', () => {
    for (const { response } of wires(encode([started, finish()])))
      expect(response).toMatchObject({ id: 'resp_ours', model: 'model', created_at: 1, object: 'response' })
  })
})

describe('the end of a Responses stream', () => {
  test('has usage and routing metadata if completed, and warnings only if there are any', () => {
    const routing = { provider: 'p', provider_model_id: 'pm', model_canonical: 'm', routing_strategy: 'order', cost: { usd: 0.1 } }
    const warnings = [{ code: 'unsupported_parameter', message: 'x', param: 'top_k' }]
    const last = wires(encode([started, finish()], undefined, { routing, warnings, completed_at: 8 })).at(-1)?.response
    expect(last).toMatchObject({
      status: 'completed',
      completed_at: 8,
      routing_metadata: routing,
      warnings,
      error: null,
      incomplete_details: null,
    })
    expect(last?.usage).toEqual({
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 8,
    })
    const [created, , bare] = wires(encode([started, finish()]))
    expect(created?.response).toMatchObject({ status: 'in_progress', usage: null, output: [] })
    expect(bare?.response).not.toHaveProperty('warnings')
    expect(bare?.response).not.toHaveProperty('routing_metadata')
  })
  test('leaves the cut item incomplete', () => {
    const frames = encode([started, begin(0, empty), grow(0, text('Hal')), finish({ status: 'incomplete', reason: 'max_output_tokens' })])
    expect(names(frames).slice(-4)).toEqual(['output_text.done', 'content_part.done', 'output_item.done', 'incomplete'])
    expect(wires(frames).at(-1)?.response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete', content: [{ text: 'Hal' }] }],
      output_text: 'Hal',
    })
  })
  test('keeps the content after a failure, followed by one error event and the failed event', () => {
    const error = { kind: 'overloaded', message: 'busy', code: 'engine_overloaded', type: 'server_error', provider: 'p' } as const
    const frames = encode([
      started,
      begin(0, empty),
      grow(0, text('Hal')),
      begin(1, call('')),
      grow(1, { kind: 'arguments', part: 0, text: '{"' }),
      finish({ status: 'failed', error }),
    ])
    expect(names(frames).slice(-3)).toEqual(['output_item.done', 'error', 'failed'])
    const [errorEvent, failed] = wires(frames).slice(-2)
    const facts = { code: 'engine_overloaded', message: 'busy', provider: 'p' }
    expect(errorEvent).toEqual({
      type: 'error',
      ...facts,
      param: null,
      error: { ...facts, type: 'server_error', param: null },
      sequence_number: errorEvent?.sequence_number,
    })
    expect(failed?.response).toMatchObject({
      status: 'failed',
      error: { ...facts, type: 'server_error' },
      output: [
        { status: 'incomplete', content: [{ text: 'Hal' }] },
        { status: 'incomplete', arguments: '{"' },
      ],
    })
  })
  test('has the code provider_error for a failure without a code', () => {
    const [, , error] = wires(encode([started, finish({ status: 'failed', error: { kind: 'rate_limited', message: 'm' } })]))
    expect(error).toMatchObject({ code: 'provider_error', error: { type: 'provider_error' } })
  })
  test('includes the start events if a failure comes before any content', () => {
    expect(names(encode([finish({ status: 'failed', error: { kind: 'unreadable', message: 'm' } })]))).toEqual([
      'created',
      'in_progress',
      'error',
      'failed',
    ])
  })
})

describe('Responses to Responses', () => {
  const frame = (body: JsonObject): Frame => ({ data: JSON.stringify(body) })
  const through = (...bodies: readonly JsonObject[]) => wires(encode(decode(responsesProvider, bodies.map(frame))))
  const created = {
    type: 'response.created',
    response: { id: 'theirs', model: 'm', created_at: 1, flavour: 'new', user: 'us', tool_usage: null },
  }
  const wire = {
    type: 'message',
    id: 'msg_x',
    role: 'assistant',
    status: 'completed',
    aura: 'blue',
    content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [], tint: 1 }],
  }

  test('unknown fields of items, parts, deltas and responses are kept, except where the gateway’s own apply (law 5)', () => {
    const told = through(
      created,
      { type: 'response.output_item.added', output_index: 0, item: { ...wire, content: [], status: 'in_progress' } },
      {
        type: 'response.output_text.delta',
        output_index: 0,
        content_index: 0,
        item_id: 'other',
        delta: 'Hi',
        flavour: 'sweet',
        obfuscation: 'zzz',
        sequence_number: 70,
      },
      { type: 'response.output_item.done', output_index: 0, item: wire },
      {
        type: 'response.completed',
        response: {
          ...created.response,
          status: 'completed',
          temperature: 0.7,
          output: [wire],
          safety_identifier: 'theirs',
          tool_usage: { web_search: { num_requests: 1 } },
        },
      },
    )
    expect(told[0]?.response).toMatchObject({ id: 'resp_ours', flavour: 'new' })
    expect(told.find(({ type }) => type === 'response.output_item.added')?.item).toMatchObject({ id: 'msg_x', aura: 'blue', content: [] })
    expect(told.find(({ type }) => type === 'response.output_text.delta')).toEqual({
      type: 'response.output_text.delta',
      flavour: 'sweet',
      item_id: 'msg_x',
      output_index: 0,
      content_index: 0,
      delta: 'Hi',
      logprobs: [],
      sequence_number: 4,
    })
    expect(told.at(-1)?.response).toMatchObject({
      id: 'resp_ours',
      flavour: 'new',
      temperature: 0.7,
      safety_identifier: null,
      tool_usage: { web_search: { num_requests: 1 } },
      output: [wire],
    })
  })
  test('a changed item has no fields of the original one', () => {
    const events = decode(
      responsesProvider,
      [created, { type: 'response.output_item.done', output_index: 0, item: { ...wire, secret: 's' } }].map(frame),
    )
    const changed = events.map(event =>
      event.type === 'item_finished' && event.item.type === 'message'
        ? { ...event, item: { ...event.item, content: [{ type: 'text' as const, text: 'Ho' }] } }
        : event,
    )
    expect(JSON.stringify(wires(encode(changed)).at(-1)?.response.output)).not.toContain('secret')
  })
  test('public events of hosted tools are sent with the gateway’s sequence numbers and ids', () => {
    const native = (name: string, body: JsonObject = {}): InferenceEvent => ({
      type: 'native',
      dialect: 'responses',
      name,
      index: 0,
      preamble: false,
      body: { type: name, item_id: 'theirs', output_index: 9, sequence_number: 77, obfuscation: 'x', ...body },
    })
    const item: Item = { type: 'native', dialect: 'responses', body: { type: 'code_interpreter_call', id: 'ci', code: '' } }
    const frames = encode([
      started,
      begin(0, item),
      native('response.code_interpreter_call_code.delta', { delta: 'print' }),
      native('response.tomorrow'),
      native('response.completed'),
      end(0, item),
      finish(),
    ])
    expect(names(frames).slice(2)).toEqual(['output_item.added', 'code_interpreter_call_code.delta', 'output_item.done', 'completed'])
    expect(wires(frames)[3]).toEqual({
      type: 'response.code_interpreter_call_code.delta',
      item_id: 'ci',
      output_index: 0,
      delta: 'print',
      sequence_number: 3,
    })
  })
  test('native items of other dialects are left out, and output indexes stay consecutive', () => {
    const alien: Item = { type: 'native', dialect: 'elsewhere', body: { type: 'x' } }
    const frames = encode([started, begin(0, alien), end(0, alien), begin(1, empty), end(1, message('a')), finish()])
    expect(wires(frames).find(({ type }) => type === 'response.output_item.added')).toMatchObject({
      output_index: 0,
      item: { type: 'message' },
    })
    expect(wires(frames).at(-1)?.response.output).toHaveLength(1)
  })
})

describe('the echoed request in a Responses stream', () => {
  const request = (wire: JsonObject): InferenceRequest => responsesClient.decodeRequest({ model: 'm', input: 'x', ...wire })
  const echo = (wire: JsonObject) => wires(encode([started, finish()], request(wire)))[0]?.response

  test('has all defaults', () => {
    expect(echo({})).toMatchObject({
      ...{
        temperature: 1,
        top_p: 1,
        top_logprobs: 0,
        frequency_penalty: 0,
        presence_penalty: 0,
        truncation: 'disabled',
        tool_choice: 'auto',
        tools: [],
      },
      ...{
        parallel_tool_calls: true,
        text: { format: { type: 'text' } },
        store: false,
        background: false,
        service_tier: 'default',
        metadata: {},
      },
      ...{
        instructions: null,
        max_output_tokens: null,
        max_tool_calls: null,
        previous_response_id: null,
        prompt_cache_key: null,
        safety_identifier: null,
      },
      reasoning: { effort: null, summary: null },
    })
  })
  test('has the request’s values and hosted tools, without secrets', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'mcp', server_label: 's', authorization: 'Bearer x', headers: { cookie: 'y' } },
    ]
    expect(
      echo({
        tools,
        tool_choice: { type: 'mcp', server_label: 's' },
        text: { format: { type: 'json_schema', name: 'n', schema: { a: 1 } }, verbosity: 'low' },
        reasoning: { effort: 'off' },
        metadata: { a: 'b' },
        user: 'u',
      }),
    ).toMatchObject({
      tools: [
        { type: 'function', name: 'f', description: null, parameters: null, strict: null },
        { type: 'mcp', server_label: 's' },
      ],
      tool_choice: { type: 'mcp', server_label: 's' },
      text: { format: { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: null, description: null }, verbosity: 'low' },
      reasoning: { effort: 'none', summary: null },
      metadata: { a: 'b' },
      user: 'u',
    })
    expect(JSON.stringify(echo({ tools }))).not.toMatch(/Bearer|cookie/)
  })
  test('is the same in a whole response, which equals the last snapshot of the stream', () => {
    const events = decode(chatProvider, [
      { data: '{"id":"x","model":"m","choices":[{"index":0,"delta":{"reasoning":"hm","content":"a"}}]}' },
      { data: '{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"f"}}]},"finish_reason":"stop"}]}' },
    ])
    const whole = responsesClient.encodeResponse(fold(events), request({}), metadataOf())
    expect(plain(whole)).toEqual(plain(wires(encode(events, request({}))).at(-1)?.response))
  })
})

test('text cannot break out of its event (T1)', () => {
  const nasty = ['\n\nevent: response.completed\ndata: {}\n\n', '\r\r', '\u2028\u2029', '\u0000', '\ud800', '</script>', '\ufeff', '"}\n\n']
  for (const nastyText of nasty) {
    const item: Item = { ...message(nastyText), id: `msg_${nastyText}` } as Item
    const frames = encode([
      started,
      begin(0, { ...empty, id: `msg_${nastyText}` } as Item),
      grow(0, text(nastyText)),
      end(0, item),
      begin(1, call('')),
      end(1, call(nastyText, { name: nastyText } as Partial<Item>)),
      finish({ status: 'failed', error: { kind: 'policy', message: nastyText, code: nastyText } }),
    ])
    const reader = readFrames()
    const seen = [...reader.push(new TextEncoder().encode(writeFrames(frames))), ...reader.end()]
    expect(seen).toHaveLength(frames.length)
    expect(wires(seen).map(({ type }) => type)).toEqual(frames.map(({ event }) => event))
  }
})

/** Any response that the internal format allows. */
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constant('assistant' as const),
    status: fc.constant('completed' as const),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text: fc.string() }),
        fc.record({ type: fc.constant('refusal' as const), refusal: fc.string() }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.record({
    type: fc.constant('function_call' as const),
    call_id: fc.uuid(),
    name: fc.string({ minLength: 1 }),
    arguments: fc.json(),
    status: fc.constant('completed' as const),
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    summary: fc.array(fc.string(), { maxLength: 3 }),
    content: fc.array(fc.string(), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    type: fc.constant('native' as const),
    dialect: fc.constant('responses'),
    body: fc.record({ type: fc.constantFrom('web_search_call', 'tomorrow'), id: fc.uuid() }),
  }),
)

test('any response is unchanged after encoding and decoding', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 5 }), output => {
      const response = { id: '', model: '', created_at: 0, output, outcome: { status: 'completed' } as const }
      const events = decode(responsesProvider, encode(unfold(response)))
      expect(faultsOf(events)).toEqual([])
      expect(said(fold(events))).toEqual(said(response))
    }),
    { numRuns: 500 },
  )
})

test.each([
  [{ status: 'completed' }, 'completed'],
  [{ status: 'incomplete', reason: 'max_output_tokens' }, 'incomplete'],
] as const)('an item that is still open when the response ends as %j has the same status', (outcome, status) => {
  const open: Item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '', status: 'in_progress' }
  const frames = encode([started, begin(0, empty), grow(0, text('Hey')), begin(1, open), finish(outcome)])
  const last = wires(frames).at(-1)
  expect(last?.type).toBe(`response.${status}`)
  expect(last?.response.output).toMatchObject([
    { type: 'message', status },
    { type: 'function_call', status },
  ])
})
