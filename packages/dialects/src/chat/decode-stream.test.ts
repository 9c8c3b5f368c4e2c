import { describe, expect, test } from 'vitest'
import { decode, faultsOf, plain } from '../../test/laws.ts'
import { fold } from '../protocol/fold.ts'
import type { Frame, Json, JsonObject } from '../protocol/wire.ts'
import { chatProvider } from './provider.ts'

const chunk = (choice: JsonObject | undefined, more: JsonObject = {}): Frame => ({
  data: JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 5,
    model: 'm',
    choices: choice ? [{ index: 0, ...choice }] : [],
    ...more,
  }),
})
const delta = (fields: Json, more: JsonObject = {}) => chunk({ delta: fields, finish_reason: null }, more)
const say = (content: Json) => delta({ content })
const calls = (...tool_calls: readonly JsonObject[]) => delta({ tool_calls })
const stop = (reason: string, more: JsonObject = {}) => chunk({ delta: {}, finish_reason: reason }, more)
const end: Frame = { data: '[DONE]' }
const piece = (fields: JsonObject, name?: string, written?: string): JsonObject => ({
  ...fields,
  type: 'function',
  function: { ...(name !== undefined && { name }), ...(written !== undefined && { arguments: written }) },
})

const read = (...frames: readonly Frame[]) => {
  const events = decode(chatProvider, frames)
  expect(faultsOf(events)).toEqual([])
  return events
}
const answer = (...frames: readonly Frame[]) => plain(fold(read(...frames)))
const summaryOf = (...frames: readonly Frame[]) =>
  answer(...frames).output.map(item => (item.type === 'function_call' ? `${item.name}(${item.arguments})` : item.type))
const order = (...frames: readonly Frame[]) =>
  read(...frames).flatMap(event =>
    'index' in event && event.type !== 'delta' ? [`${event.type === 'item_started' ? '+' : '-'}${event.index}`] : [],
  )

describe('the items of a Chat stream', () => {
  test('finish the text when a call begins, and a call when the next begins and its arguments are complete (law 9)', () => {
    const frames = [
      say('Let me see'),
      calls(piece({ index: 0, id: 'a' }, 'f', '{}')),
      calls(piece({ index: 1, id: 'b' }, 'g', '')),
      calls(piece({ index: 1 }, undefined, '{}')),
    ]
    const decoder = chatProvider.decodeEvents()
    const seen = frames.map(frame => decoder.read([frame]).flatMap(event => (event.type === 'item_finished' ? [event.index] : [])))
    expect(seen).toEqual([[], [0], [1], []])
  })
  test('are separate for reasoning, text, and text after a call', () => {
    expect(
      summaryOf(delta({ reasoning_content: 'hm' }), say('a'), calls(piece({ index: 0, id: 'x' }, 'f', '{}')), say('b'), stop('stop'), end),
    ).toEqual(['reasoning', 'message', 'f({})', 'message'])
  })
  test('stay open together for calls with interleaved arguments, and lose nothing', () => {
    const frames = [
      calls(piece({ index: 0, id: 'a' }, 'f', '{"x"'), piece({ index: 1, id: 'b' }, 'g', '{"y"')),
      calls(piece({ index: 1 }, undefined, ':1}')),
      calls(piece({ index: 0 }, undefined, ':2}')),
      stop('tool_calls'),
      end,
    ]
    expect(summaryOf(...frames)).toEqual(['f({"x":2})', 'g({"y":1})'])
    expect(order(...frames)).toEqual(['+0', '+1', '-0', '-1'])
  })
  test('have names before arguments', () => {
    expect(
      summaryOf(
        calls(piece({ index: 0, id: 'a' }, 'f', ''), piece({ index: 1, id: 'b' }, 'g', '')),
        calls(piece({ index: 0 }, undefined, '{"x":1}')),
        calls(piece({ index: 1 }, undefined, '{"y":2}')),
        stop('tool_calls'),
      ),
    ).toEqual(['f({"x":1})', 'g({"y":2})'])
  })
  test('have refusals as a part of the message', () => {
    expect(answer(delta({ refusal: 'I can' }), delta({ refusal: 'not' }), stop('stop'), end).output).toMatchObject([
      { content: [{ type: 'refusal', refusal: 'I cannot' }] },
    ])
  })
  test('are one empty message if the response has no content', () => {
    expect(answer(say(''), stop('stop'), end)).toMatchObject({
      output: [{ type: 'message', content: [{ type: 'text', text: '' }], status: 'completed' }],
      outcome: { status: 'completed' },
    })
  })
})

describe('unusual forms of calls', () => {
  test.each<[string, readonly Frame[], readonly string[]]>([
    [
      'no index, whole calls in one chunk',
      [calls(piece({ id: 'a' }, 'f', '{"x":1}'), piece({ id: 'b' }, 'f', '{"x":2}'))],
      ['f({"x":1})', 'f({"x":2})'],
    ],
    ['no index, no id', [calls(piece({}, 'f', '{"x":1}')), calls(piece({}, 'f', '{"x":2}'))], ['f({"x":1})', 'f({"x":2})']],
    ['no index, no id, in one chunk', [calls(piece({}, 'f', ''), piece({}, 'f', ''))], ['f({})', 'f({})']],
    [
      'no index, in pieces',
      [calls(piece({ id: 'a' }, 'f', '')), calls(piece({}, undefined, '{"x"')), calls(piece({}, undefined, ':1}'))],
      ['f({"x":1})'],
    ],
    ['no index, id in every piece', [calls(piece({ id: 'a' }, 'f', '{"x"')), calls(piece({ id: 'a' }, '', ':1}'))], ['f({"x":1})']],
    [
      'several calls under one index',
      [calls(piece({ index: 0, id: 'a' }, 'f', '{"x":1}')), calls(piece({ index: 0, id: 'b' }, 'f', '{"x":2}'))],
      ['f({"x":1})', 'f({"x":2})'],
    ],
    [
      'several calls under one index, without ids',
      [calls(piece({ index: 0 }, 'f', '{"x":1}')), calls(piece({ index: 0 }, 'f', '{"x":2}'))],
      ['f({"x":1})', 'f({"x":2})'],
    ],
    [
      'names in every piece',
      [calls(piece({ index: 0, id: 'a' }, 'f', '{"x"')), calls(piece({ index: 0, id: '' }, 'f', ':1}'))],
      ['f({"x":1})'],
    ],
    [
      'blank names and ids',
      [calls(piece({ index: 0, id: 'a' }, 'f', '{"x"')), calls(piece({ index: 0, id: '' }, '', ':1}'))],
      ['f({"x":1})'],
    ],
    [
      'the whole call repeated at the end',
      [calls(piece({ index: 0, id: 'a' }, 'f', '{"x":1}')), calls(piece({ index: 0, id: 'a' }, 'f', '{"x":1}'))],
      ['f({"x":1})'],
    ],
    ['indexes that do not start at 0', [calls(piece({ index: 4, id: 'a' }, 'f', '{}'))], ['f({})']],
    ['arguments as an object', [calls({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })], ['f({"x":1})']],
    ['no arguments at all', [calls(piece({ index: 0, id: 'a' }, 'f'))], ['f({})']],
    ['arguments that are invalid JSON', [calls(piece({ index: 0, id: 'a' }, 'f', '{"x'))], ['f({"x)']],
    [
      'the older single function_call',
      [delta({ function_call: { name: 'f', arguments: '{"x"' } }), delta({ function_call: { arguments: ':1}' } })],
      ['f({"x":1})'],
    ],
    [
      'arguments before the name',
      [calls(piece({ index: 0, id: 'a' }, undefined, '{"x"')), calls(piece({ index: 0 }, 'f', ':1}'))],
      ['f({"x":1})'],
    ],
  ])('%s', (_, frames, expected) => expect(summaryOf(...frames, stop('tool_calls'), end)).toEqual(expected))

  test('blank and repeated ids are replaced by unique ids', () => {
    const ids = (...frames: readonly Frame[]) =>
      answer(...frames, stop('tool_calls'), end).output.map(item => (item.type === 'function_call' ? item.call_id : ''))
    const twice = ids(calls(piece({ index: 0, id: 'a' }, 'f', '{}'), piece({ index: 1, id: 'a' }, 'f', '{}')))
    expect(twice[0]).toBe('a')
    expect(twice[1]).toMatch(/^call_\w{20,}$/)
    expect(ids(calls(piece({ index: 0, id: '' }, 'f', '{}')))).toEqual(ids(calls(piece({ index: 0, id: '' }, 'f', '{}'))))
  })
  test('a call without a name fails the response', () => {
    expect(answer(calls(piece({ index: 0, id: 'a' }, undefined, '{}')), stop('tool_calls')).outcome).toMatchObject({
      status: 'failed',
      error: { kind: 'unreadable' },
    })
  })
})

describe('unusual forms of content', () => {
  test.each<[string, Json, readonly JsonObject[]]>([
    [
      'a list of parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'a' },
        ],
      },
      [{ type: 'reasoning', content: ['hm'] }, { content: [{ text: 'a' }] }],
    ],
    ['reasoning as text', { content: [{ type: 'thinking', thinking: 'hm' }] }, [{ content: ['hm'] }]],
    ['reasoning in two fields', { reasoning: 'hm', reasoning_content: 'hm' }, [{ content: ['hm'] }]],
    ['reasoning in details', { reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] }, [{ content: ['hm'] }]],
    ['null', { content: null, tool_calls: null, reasoning: null, role: '' }, [{ content: [{ text: '' }] }]],
  ])('%s', (_, fields, expected) => expect(answer(delta(fields), stop('stop'), end).output).toMatchObject(expected))

  test('chunks without delta or choices, or with other choices, are ignored', () => {
    const frames = [
      chunk({ delta: null }),
      chunk(undefined, { prompt_filter_results: [] }),
      { data: '{"choices":null}' },
      { data: '[]' },
      { data: '' },
      chunk({ index: 1, delta: { content: 'no' } }),
      say('yes'),
      stop('stop'),
    ]
    expect(answer(...frames).output).toMatchObject([{ content: [{ text: 'yes' }] }])
  })
  test('logprobs and citations are kept', () => {
    const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97] }] }
    const citation = { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } }
    expect(answer(chunk({ delta: { content: 'a' }, logprobs }), delta({ annotations: [citation] }), stop('stop')).output).toMatchObject([
      {
        content: [
          {
            text: 'a',
            logprobs: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }],
            annotations: [{ type: 'url_citation', url: 'u' }],
          },
        ],
      },
    ])
  })
})

describe('the end of a Chat stream', () => {
  test.each<[string, readonly Frame[], JsonObject]>([
    ['stop', [say('a'), stop('stop'), end], { status: 'completed' }],
    ['stop although there are calls', [calls(piece({ index: 0, id: 'a' }, 'f', '{}')), stop('stop'), end], { status: 'completed' }],
    ['an unknown reason', [say('a'), stop('eos'), end], { status: 'completed' }],
    ['length', [say('a'), stop('length'), end], { status: 'incomplete', reason: 'max_output_tokens' }],
    ['content_filter', [say('a'), stop('content_filter'), end], { status: 'incomplete', reason: 'content_filter' }],
    ['error', [say('a'), stop('error'), end], { status: 'failed', error: { kind: 'server_error' } }],
    ['no resources', [say('a'), stop('insufficient_system_resource'), end], { status: 'failed', error: { kind: 'overloaded' } }],
    ['a reason, then the end of the bytes', [say('a'), stop('stop')], { status: 'completed' }],
    ['[DONE] without a reason, after content', [say('a'), end], { status: 'completed' }],
    ['[DONE] only', [end], { status: 'failed', error: { kind: 'unreadable' } }],
    ['neither [DONE] nor a reason', [say('a')], { status: 'failed', error: { kind: 'unreadable' } }],
    ['nothing', [], { status: 'failed', error: { kind: 'unreadable' } }],
    ['invalid JSON', [say('a'), { data: '{"cho' }, say('b'), end], { status: 'failed', error: { kind: 'unreadable' } }],
    ['invalid JSON after the end', [say('a'), stop('stop'), { data: '{"cho' }], { status: 'completed' }],
    [
      'an error object',
      [say('a'), { data: '{"error":{"message":"m","type":"server_error","code":503}}' }],
      { status: 'failed', error: { kind: 'server_error', message: 'm' } },
    ],
    [
      'an error with a status as its code',
      [{ data: '{"error":{"message":"m","code":429}}' }],
      { status: 'failed', error: { kind: 'rate_limited' } },
    ],
    [
      'an error as text',
      [{ data: '{"error":"The engine is overloaded","code":"engine"}' }],
      { status: 'failed', error: { kind: 'server_error', code: 'engine' } },
    ],
    [
      'a flat error',
      [{ data: '{"object":"error","message":"maximum context length is 8","code":400}' }],
      { status: 'failed', error: { kind: 'too_long' } },
    ],
    [
      'an error in a vendor field',
      [chunk({ delta: {} }, { x_vendor: { error: 'over capacity' } })],
      { status: 'failed', error: { message: 'over capacity' } },
    ],
    [
      'an error beside choices',
      [chunk({ delta: { content: '' }, finish_reason: 'error' }, { error: { code: 502, message: 'm' } })],
      { status: 'failed', error: { kind: 'server_error', message: 'm' } },
    ],
    ['content after the reason', [say('a'), stop('stop'), say('b'), end, say('c')], { status: 'completed' }],
  ])('%s', (_, frames, expected) => expect(answer(...frames).outcome).toMatchObject(expected))

  test('an item that was cut is incomplete, and a whole item is completed', () => {
    expect(
      answer(say('a'), calls(piece({ index: 0, id: 'a' }, 'f', '{}'), piece({ index: 1, id: 'b' }, 'g', '{"x')), stop('length')).output,
    ).toMatchObject([{ status: 'completed' }, { status: 'completed' }, { status: 'incomplete', arguments: '{"x' }])
    expect(answer(say('Hal')).output).toMatchObject([{ status: 'incomplete', content: [{ text: 'Hal' }] }])
  })
  test('content after the end is dropped', () => {
    expect(answer(say('a'), stop('stop'), say('b'), end, say('c')).output).toMatchObject([{ content: [{ text: 'a' }] }])
  })
})

describe('the usage of a Chat response', () => {
  const usage = (wire: JsonObject, ...frames: readonly Frame[]) =>
    answer(...(frames.length > 0 ? frames : [say('a')]), stop('stop'), chunk(undefined, { usage: wire }), end).usage
  const of = (input: number, output: number, more: JsonObject = {}) => ({
    input_tokens: input,
    output_tokens: output,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    ...more,
  })
  test.each<[string, JsonObject, unknown]>([
    ['plain', { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, of(3, 4)],
    [
      'with details',
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      of(9, 4, { cached_tokens: 5, cache_write_tokens: 1, reasoning_tokens: 2 }),
    ],
    [
      'cache hits',
      { prompt_tokens: 9, completion_tokens: 4, prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 },
      of(9, 4, { cached_tokens: 5 }),
    ],
    [
      'reasoning tokens outside the completion',
      { prompt_tokens: 12, completion_tokens: 2, total_tokens: 334, completion_tokens_details: { reasoning_tokens: 320 } },
      of(12, 322, { reasoning_tokens: 320 }),
    ],
    [
      'cache reads outside the prompt',
      { prompt_tokens: 2, completion_tokens: 3, total_tokens: 15, prompt_tokens_details: { cached_tokens: 10 } },
      of(12, 3, { cached_tokens: 10 }),
    ],
    [
      'more cached than prompt tokens',
      { prompt_tokens: 2, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 10 } },
      of(2, 3, { cached_tokens: 2, estimated: true }),
    ],
    [
      'more reasoning than completion tokens',
      { prompt_tokens: 2, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 9 } },
      of(2, 3, { reasoning_tokens: 3, estimated: true }),
    ],
    ['numbers as text', { prompt_tokens: '2', completion_tokens: '3' }, of(2, 3)],
    ['negative', { prompt_tokens: -2, completion_tokens: 3 }, of(0, 3, { estimated: true })],
    ['absurd', { prompt_tokens: 2, completion_tokens: 1e15 }, of(2, 0, { estimated: true })],
    ['nonsense', { prompt_tokens: 2, completion_tokens: 'many' }, of(2, 0, { estimated: true })],
    ['fractions', { prompt_tokens: 2.4, completion_tokens: 3.6 }, of(2, 4)],
    ['zeros for a response with content', { prompt_tokens: 0, completion_tokens: 0 }, undefined],
    ['no counts', {}, undefined],
  ])('%s', (_, wire, expected) => expect(usage(wire)).toEqual(expected))

  test('is read from any chunk, and the last one counts', () => {
    const counts = { prompt_tokens: 1, completion_tokens: 2 }
    expect(
      answer(delta({ content: 'a' }, { usage: { prompt_tokens: 1, completion_tokens: 1 } }), stop('stop', { usage: counts }), end).usage,
    ).toEqual(of(1, 2))
    expect(answer(say('a'), stop('stop', { usage: null, x_vendor: { usage: counts } })).usage).toEqual(of(1, 2))
    expect(answer(say('a'), chunk({ delta: {}, finish_reason: 'stop', usage: counts })).usage).toEqual(of(1, 2))
    expect(answer(say('a'), stop('stop'), chunk(undefined, { usage: counts })).usage).toEqual(of(1, 2))
  })
})

test('a whole response has reasoning, text and calls, or the error of a 200', () => {
  const whole = (message: JsonObject, finish_reason = 'stop') =>
    plain(chatProvider.decodeResponse({ id: 'x', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason }] }))
  expect(
    whole({ reasoning: 'hm', content: 'a', tool_calls: [{ function: { name: 'f', arguments: '' } }] }, 'tool_calls').output,
  ).toMatchObject([{ type: 'reasoning', content: ['hm'] }, { content: [{ text: 'a' }] }, { name: 'f', arguments: '{}' }])
  expect(whole({ content: null }).output).toMatchObject([{ content: [{ type: 'text', text: '' }] }])
  expect(whole({ content: 'Hal' }, 'length')).toMatchObject({ outcome: { status: 'incomplete' }, output: [{ status: 'incomplete' }] })
  expect(chatProvider.decodeResponse({ error: { message: 'boom', code: 500 } }).outcome).toMatchObject({
    status: 'failed',
    error: { kind: 'server_error' },
  })
  expect(chatProvider.decodeResponse({ choices: [] }).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  expect(whole({ tool_calls: [{ id: 'a', function: { arguments: '{}' } }] }).outcome).toMatchObject({ status: 'failed' })
})

test('pieces of one call in one chunk are each emitted once', () => {
  const tool_calls = [
    { index: 0, id: 'c', function: { name: 'f', arguments: '{"a"' } },
    { index: 0, function: { arguments: ':1}' } },
  ]
  const decoder = chatProvider.decodeEvents()
  const frame = { data: JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { tool_calls } }] }) }
  const deltas = [...decoder.read([frame]), ...decoder.end()].flatMap(event => (event.type === 'delta' ? [event.delta] : []))
  expect(deltas).toEqual([
    { kind: 'arguments', part: 0, text: '{"a"' },
    { kind: 'arguments', part: 0, text: ':1}' },
  ])
})
