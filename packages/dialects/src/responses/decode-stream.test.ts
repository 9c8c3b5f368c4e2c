import { describe, expect, test } from 'vitest'
import { decode, faultsOf, plain } from '../../test/laws.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { fold } from '../protocol/fold.ts'
import { originalOf } from '../protocol/original.ts'
import type { Frame, JsonObject } from '../protocol/wire.ts'
import { responsesProvider } from './provider.ts'

const frame = (body: JsonObject): Frame => ({ event: String(body.type), data: JSON.stringify(body) })
const created = { type: 'response.created', response: { id: 'resp_1', model: 'm', created_at: 7, status: 'in_progress', output: [] } }
const completed = (response: JsonObject = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output: [], ...response },
})
const read = (...bodies: readonly JsonObject[]): readonly InferenceEvent[] => {
  const events = decode(responsesProvider, bodies.map(frame))
  expect(faultsOf(events)).toEqual([])
  return events
}
const answer = (...bodies: readonly JsonObject[]) => plain(fold(read(created, ...bodies)))
const text = (words: string) => [{ type: 'text', text: words }]
const delta = (words: string, more: JsonObject = {}) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  delta: words,
  ...more,
})
const added = (item: JsonObject, output_index = 0) => ({ type: 'response.output_item.added', output_index, item })
const done = (item: JsonObject, output_index = 0) => ({ type: 'response.output_item.done', output_index, item })
const message = (words: string, more: JsonObject = {}) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: words }],
  ...more,
})
const call = (more: JsonObject = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'f',
  arguments: '',
  status: 'in_progress',
  ...more,
})

describe('a Responses stream with missing events', () => {
  test('opens an item that was never announced with its first delta', () => {
    expect(answer(delta('He'), delta('llo'), completed()).output).toMatchObject([
      { type: 'message', content: text('Hello'), status: 'completed' },
    ])
    expect(
      answer({ type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm' }, completed()).output,
    ).toMatchObject([{ type: 'reasoning', content: ['Hm'] }])
  })
  test('has the whole content of an item that is only finished', () => {
    const events = read(created, done(message('Hello')), completed())
    expect(events.map(({ type }) => type)).toEqual(['started', 'item_started', 'delta', 'item_finished', 'finished'])
  })
  test('adds items that only the last snapshot has at the end', () => {
    const { output } = answer(
      completed({ output: [message('Hello'), call({ arguments: '{"a":1}' }), { type: 'web_search_call', id: 'ws' }] }),
    )
    expect(output).toMatchObject([{ content: text('Hello') }, { arguments: '{"a":1}' }, { type: 'native' }])
  })
  test('with ids does not confuse an item of the snapshot with a streamed one', () => {
    const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [{ type: 'summary_text', text: id }] })
    const { output } = answer(done(reasoning('rs_2'), 1), completed({ output: [reasoning('rs_1'), reasoning('rs_2')] }))
    expect(output).toMatchObject([{ summary: ['rs_2'] }, { summary: ['rs_1'] }])
  })
  test('keeps streamed items if the last snapshot is empty', () => {
    expect(answer(added(message('')), delta('Hello'), completed({ output: [] })).output).toMatchObject([{ content: text('Hello') }])
  })
  test('keeps streamed text if the finished item has none', () => {
    expect(answer(added(message('')), delta('Hello'), done(message('', { content: [] })), completed()).output).toMatchObject([
      { content: text('Hello') },
    ])
  })
  test('without output indexes finds items by id, else takes the open item', () => {
    const bare = { type: 'response.output_text.delta', delta: 'x' }
    expect(
      answer({ ...added(message('', { content: [] })), output_index: undefined }, bare, { ...bare, item_id: 'msg_1' }, completed()).output,
    ).toMatchObject([{ content: text('xx') }])
  })
  test('has parts and texts that are only finished', () => {
    const part = {
      type: 'response.content_part.done',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: 'Hello', annotations: [] },
    }
    const whole = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello' }
    expect(answer(part, completed()).output).toMatchObject([{ content: text('Hello') }])
    expect(answer(delta('He'), whole, completed()).output).toMatchObject([{ content: text('Hello') }])
  })
  test('starts without a created event', () => {
    expect(read(delta('x'), completed()).at(0)).toMatchObject({ type: 'started', id: '' })
  })
})

describe('a Responses stream with errors of the provider', () => {
  test('may have ids that change with every event', () => {
    const { output } = answer(
      added(message('', { id: 'a', content: [] })),
      delta('Hi', { item_id: 'b' }),
      done(message('Hi', { id: 'c' })),
      completed({ output: [message('Hi', { id: 'd' })] }),
    )
    expect(output).toMatchObject([{ id: 'a', content: text('Hi') }])
  })
  test('may have gaps between output indexes', () => {
    expect(
      read(created, added(message('', { content: [] }), 3), delta('x', { output_index: 3 }), done(message('x'), 3), completed()).filter(
        event => event.type === 'item_started',
      ),
    ).toMatchObject([{ index: 0 }])
  })
  test('may use one output index for two items', () => {
    expect(
      answer(
        done(message('one')),
        added(message('', { content: [], id: 'msg_2' })),
        delta('two'),
        done(message('two', { id: 'msg_2' })),
        completed(),
      ).output,
    ).toMatchObject([{ content: text('one') }, { content: text('two') }])
  })
  test('may finish one item twice', () => {
    expect(answer(done(message('one')), done(message('one')), completed()).output).toHaveLength(1)
  })
  test('may interleave two texts of one item, and two items', () => {
    const two = answer(
      added(message('', { content: [] })),
      delta('a'),
      delta('b', { content_index: 1 }),
      added(call(), 1),
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{' },
      delta('c', { content_index: 1 }),
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '}' },
      completed(),
    )
    expect(two.output).toMatchObject([{ content: [...text('a'), ...text('bc')] }, { arguments: '{}' }])
  })
  test('has no events after its end', () => {
    const events = read(created, delta('a'), completed(), delta('b'), completed(), { type: 'response.failed', response: {} })
    expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1)
    expect(fold(events).output).toMatchObject([{ content: text('a') }])
  })
  test('takes the outcome from the status in a completed event', () => {
    expect(answer(delta('a'), completed({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })).outcome).toEqual({
      status: 'incomplete',
      reason: 'content_filter',
    })
    expect(answer(completed({ status: 'failed', error: { code: 'server_error', message: 'x' } })).outcome).toMatchObject({
      status: 'failed',
      error: { kind: 'server_error' },
    })
  })
  test('has new ids for calls without one or with a repeated one, and fails on a call without a name', () => {
    expect(answer(done(call({ call_id: '', arguments: '{}' })), completed()).output).toMatchObject([
      { call_id: expect.stringMatching(/^call_\w{20,}$/) },
    ])
    expect(answer(done(call({ name: '' })), completed()).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
    const { output } = answer(done(call(), 0), done(call({ id: 'fc_2' }), 1), completed())
    expect(new Set(output.map(item => item.type === 'function_call' && item.call_id)).size).toBe(2)
  })
  test('may have arguments before the name', () => {
    const piece = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":' }
    expect(answer(piece, { ...piece, delta: '1}' }, done(call({ arguments: '{"a":1}' })), completed()).output).toMatchObject([
      { name: 'f', arguments: '{"a":1}' },
    ])
  })
  test('has an empty object for a call without arguments', () => {
    expect(answer(added(call()), done(call({ status: 'completed' })), completed()).output).toMatchObject([{ arguments: '{}' }])
  })
  test('may have a snapshot without its last brace, and an event inside an envelope', () => {
    const frames = [
      { data: JSON.stringify(created).slice(0, -1) },
      { data: JSON.stringify({ data: delta('x') }) },
      { data: JSON.stringify(completed()).slice(0, -1) },
    ]
    expect(fold(decode(responsesProvider, frames))).toMatchObject({
      id: 'resp_1',
      output: [{ content: text('x') }],
      outcome: { status: 'completed' },
    })
  })
})

describe('the end of a Responses stream', () => {
  const failed = (events: readonly InferenceEvent[]) => {
    expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1)
    const { outcome } = fold(events)
    return outcome.status === 'failed' ? outcome.error : outcome
  }
  test('is one failure for an error event and the failed event after it', () => {
    const error = {
      type: 'error',
      sequence_number: 2,
      error: { type: 'requests', code: 'rate_limit_exceeded', message: 'Slow down', param: null },
    }
    expect(
      failed(read(created, error, { type: 'response.failed', response: { status: 'failed', error: { code: 'x', message: 'y' } } })),
    ).toEqual({ kind: 'rate_limited', type: 'requests', code: 'rate_limit_exceeded', message: 'Slow down' })
  })
  test('is a failure for an error in the documented shape, as a string, or without a type', () => {
    expect(failed(read(created, { type: 'error', code: 'server_is_overloaded', message: 'busy', param: null }))).toMatchObject({
      kind: 'overloaded',
      code: 'server_is_overloaded',
      message: 'busy',
    })
    expect(failed(read(created, { type: 'error', error: 'boom' }))).toMatchObject({ kind: 'server_error', message: 'boom' })
    expect(failed(decode(responsesProvider, [{ data: '{"error":{"message":"context window exceeded"}}' }]))).toMatchObject({
      kind: 'too_long',
    })
  })
  test('leaves an item incomplete if the stream fails', () => {
    expect(answer(added(message('', { content: [] })), delta('Hal'), { type: 'error', error: { message: 'x' } }).output).toMatchObject([
      { content: text('Hal'), status: 'incomplete' },
    ])
  })
  test('is a failure if the stream stops', () => {
    expect(failed(read(created, delta('x')))).toMatchObject({ kind: 'unreadable' })
    expect(failed(decode(responsesProvider, []))).toMatchObject({ kind: 'unreadable' })
    expect(failed(decode(responsesProvider, [frame(created), { data: '[DONE]' }]))).toMatchObject({ kind: 'unreadable' })
  })
  test('is a failure on invalid JSON, and nothing is read after it', () => {
    const events = decode(responsesProvider, [frame(created), { data: '{"type":' }, frame(delta('x')), frame(completed())])
    expect(failed(events)).toMatchObject({ kind: 'unreadable' })
    expect(fold(events).output).toEqual([])
  })
  test('leaves the open item incomplete if the response was cut', () => {
    expect(
      answer(added(message('', { content: [] })), delta('Hal'), {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      }),
    ).toMatchObject({
      output: [{ status: 'incomplete', content: text('Hal') }],
      outcome: { status: 'incomplete', reason: 'max_output_tokens' },
    })
  })
})

describe('unknown content of a Responses stream', () => {
  test('includes events of hosted tools, and no other unknown events', () => {
    const events = read(
      created,
      added({ type: 'web_search_call', id: 'ws', status: 'in_progress' }),
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws' },
      { type: 'response.tomorrow', output_index: 0 },
      { type: 'keepalive' },
      { type: 'codex.rate_limits' },
      completed(),
    )
    expect(events.filter(({ type }) => type === 'native')).toMatchObject([
      { name: 'response.web_search_call.searching', index: 0, preamble: true },
    ])
  })
  test('is kept with a delta only if its event has an unknown field', () => {
    const [, , known, unknown] = read(
      created,
      delta('a', { obfuscation: 'xx', sequence_number: 3, logprobs: [] }),
      delta('b', { flavour: 'new' }),
      completed(),
    )
    expect(known && originalOf(known)).toBeUndefined()
    expect(unknown && originalOf(unknown)?.body).toMatchObject({ flavour: 'new' })
  })
  test('leaves reasoning state to the finished item', () => {
    const reasoning = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'early' }
    const [, begun, ended] = read(created, added(reasoning), done({ ...reasoning, encrypted_content: 'final' }), completed())
    expect(plain(begun)).toEqual({ type: 'item_started', index: 0, item: { type: 'reasoning', id: 'rs', summary: [] } })
    expect(plain(ended)).toMatchObject({ item: { encrypted_content: 'final' } })
  })
  test('includes unknown parts of a message as native parts', () => {
    const audio = { type: 'output_audio', data: 'x' }
    const { output } = answer(
      added(message('', { content: [] })),
      { type: 'response.content_part.added', output_index: 0, content_index: 0, part: audio },
      done(message('', { content: [audio] })),
      completed(),
    )
    expect(output).toMatchObject([{ content: [{ type: 'native', body: audio }] }])
  })
})

test('citations and logprobs are part of the text', () => {
  const annotation = { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }
  const logprobs = [{ token: 'x', logprob: -1, top_logprobs: [] }]
  const events = read(
    created,
    delta('x', { logprobs }),
    { type: 'response.output_text.annotation.added', output_index: 0, content_index: 0, annotation_index: 0, annotation },
    completed(),
  )
  expect(events.filter(({ type }) => type === 'delta')).toMatchObject([
    { delta: { text: 'x', logprobs } },
    { delta: { kind: 'annotation', annotation } },
  ])
  expect(plain(fold(events)).output).toMatchObject([{ content: [{ text: 'x', annotations: [annotation], logprobs }] }])
})

test('a whole response may be an error with status 200, unfinished, or without output', () => {
  const outcome = (body: JsonObject) => responsesProvider.decodeResponse(body).outcome
  expect(outcome({ error: { code: 'server_error', message: 'x' } })).toMatchObject({ status: 'failed', error: { kind: 'server_error' } })
  expect(outcome({ error: 'boom' })).toMatchObject({ status: 'failed', error: { message: 'boom' } })
  expect(outcome({ status: 'queued', output: [] })).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  expect(outcome({})).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  expect(outcome({ status: 'incomplete', output: [] })).toEqual({ status: 'incomplete', reason: 'max_output_tokens' })
  expect(outcome({ status: 'completed', error: null, output: [] })).toEqual({ status: 'completed' })
})

test('a whole response has unique call ids, and fails on a call without a name', () => {
  const call = (call_id: string, name = 'f') => ({ type: 'function_call', call_id, name, arguments: '{}', status: 'completed' })
  const read = (...output: JsonObject[]) => responsesProvider.decodeResponse({ id: 'x', created_at: 1, status: 'completed', output })
  const ids = read(call('a'), call('a'), call(''), call('b')).output.map(item => item.type === 'function_call' && item.call_id)
  expect(ids).toEqual(['a', expect.stringMatching(/^call_/), expect.stringMatching(/^call_/), 'b'])
  expect(new Set(ids).size).toBe(4)
  expect(read(call('a', '')).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
})
