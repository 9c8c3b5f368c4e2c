import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { event } from '../../test/bedrock-wire.ts'
import { faultsOf, plain } from '../../test/laws.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { fold } from '../protocol/fold.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { Frame, Json, JsonObject } from '../protocol/wire.ts'
import { bedrockProvider } from './provider.ts'

const text = (words: string, contentBlockIndex = 0) => event({ contentBlockDelta: { contentBlockIndex, delta: { text: words } } })
const start = (contentBlockIndex: number, name: string, toolUseId: string) =>
  event({ contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name } } } })
const input = (contentBlockIndex: number, piece: string) =>
  event({ contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: piece } } } })
const reasoning = (contentBlockIndex: number, reasoningContent: JsonObject) =>
  event({ contentBlockDelta: { contentBlockIndex, delta: { reasoningContent } } })
const blockStop = (contentBlockIndex: number) => event({ contentBlockStop: { contentBlockIndex } })
const stop = (stopReason = 'end_turn') => event({ messageStop: { stopReason } })
const metadata = (usage: JsonObject = { inputTokens: 3, outputTokens: 5, totalTokens: 8 }) => event({ metadata: { usage, metrics: {} } })

const decode = (frames: readonly Frame[], mapping?: ResponseMapping): readonly InferenceEvent[] => {
  const decoder = bedrockProvider.decodeEvents(mapping)
  return [...frames.flatMap(frame => decoder.read([frame])), ...decoder.end()]
}
const read = (...frames: readonly Frame[]): InferenceResponse => fold(decode(frames))

const message = (words: string, status = 'completed') => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: words }],
  status,
})
const call = (call_id: string, name: string, written: string) => ({
  type: 'function_call',
  call_id,
  name,
  arguments: written,
  status: 'completed',
})
const state = (body: JsonObject) => JSON.stringify(body)

describe('calls that the provider runs itself', () => {
  const hosted = { toolUseId: 'h', name: 'nova_code_interpreter', type: 'server_tool_use' }
  const result = { toolUseId: 'h', type: 'nova_code_interpreter_result', status: 'success', content: [{ json: { stdOut: '4' } }] }

  test('are left out, and the calls beside them are kept', () => {
    const streamed = read(
      event({ contentBlockStart: { contentBlockIndex: 0, start: { toolUse: hosted } } }),
      input(0, '{"snippet":"2+2"}'),
      blockStop(0),
      event({ contentBlockStart: { contentBlockIndex: 1, start: { toolResult: { toolUseId: 'h', status: 'success' } } } }),
      event({ contentBlockDelta: { contentBlockIndex: 1, delta: { toolResult: [{ json: { stdOut: '4' } }] } } }),
      blockStop(1),
      start(2, 'weather', 'c'),
      input(2, '{"city":"Oslo"}'),
      blockStop(2),
      stop('tool_use'),
      metadata(),
    )
    const whole = bedrockProvider.decodeResponse({
      output: {
        message: {
          role: 'assistant',
          content: [
            { toolUse: { ...hosted, input: { snippet: '2+2' } } },
            { toolResult: result },
            { toolUse: { toolUseId: 'c', name: 'weather', input: { city: 'Oslo' } } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
    })
    for (const { output, outcome } of [streamed, whole]) {
      expect(output).toEqual([call('c', 'weather', '{"city":"Oslo"}')])
      expect(outcome).toEqual({ status: 'completed' })
    }
  })
})

describe('the content of a Bedrock response', () => {
  test('joins consecutive texts into one message, and leaves out empty ones', () => {
    const { output, outcome } = read(text(''), blockStop(0), text('Hel', 1), blockStop(1), text('lo', 2), blockStop(2), stop(), metadata())
    expect(output).toEqual([message('Hello')])
    expect(outcome).toEqual({ status: 'completed' })
  })

  test('ends reasoning with its signature, and keeps both byte for byte', () => {
    const { output } = read(
      reasoning(0, { text: 'Let me ' }),
      reasoning(0, { text: 'count "r"s\n' }),
      reasoning(0, { signature: 'Ep0C/+=' }),
      blockStop(0),
      text('Three.', 1),
      blockStop(1),
      stop(),
      metadata(),
    )
    expect(output).toEqual([
      {
        type: 'reasoning',
        summary: ['Let me count "r"s\n'],
        encrypted_content: state({ reasoningText: { text: 'Let me count "r"s\n', signature: 'Ep0C/+=' } }),
      },
      message('Three.'),
    ])
  })

  test('has no state for reasoning without a signature, which the API would not accept back', () => {
    expect(read(reasoning(0, { text: 'Hm.' }), blockStop(0), stop(), metadata()).output).toEqual([{ type: 'reasoning', summary: ['Hm.'] }])
  })

  test('has redacted reasoning as state only', () => {
    const { output } = read(reasoning(0, { redactedContent: 'c2VjcmV0' }), blockStop(0), text('Yes.', 1), stop(), metadata())
    expect(output).toEqual([
      { type: 'reasoning', summary: [], encrypted_content: state({ redactedContent: 'c2VjcmV0' }), redacted: true },
      message('Yes.'),
    ])
  })

  test('keeps consecutive reasoning blocks apart, each with its own signature', () => {
    const { output } = read(
      reasoning(0, { text: 'One' }),
      reasoning(0, { signature: 's1' }),
      blockStop(0),
      reasoning(1, { text: 'Two' }),
      reasoning(1, { signature: 's2' }),
      blockStop(1),
      stop(),
      metadata(),
    )
    expect(output).toMatchObject([
      { summary: ['One'], encrypted_content: state({ reasoningText: { text: 'One', signature: 's1' } }) },
      { summary: ['Two'], encrypted_content: state({ reasoningText: { text: 'Two', signature: 's2' } }) },
    ])
  })

  test('streams the input of a call, and has an empty object for a call without input', () => {
    const frames = [
      start(0, 'look', 'a'),
      input(0, ''),
      input(0, '{"x"'),
      input(0, ':1}'),
      blockStop(0),
      start(1, 'now', 'b'),
      blockStop(1),
      stop('tool_use'),
      metadata(),
    ]
    const events = decode(frames)
    expect(events.flatMap(each => (each.type === 'delta' ? [each.delta] : []))).toEqual([
      { kind: 'arguments', part: 0, text: '{"x"' },
      { kind: 'arguments', part: 0, text: ':1}' },
      { kind: 'arguments', part: 0, text: '{}' },
    ])
    expect(fold(events).output).toEqual([call('a', 'look', '{"x":1}'), call('b', 'now', '{}')])
  })

  test('keeps calls with interleaved deltas apart, and loses no text between them', () => {
    const frames = [
      text('Both. ', 0),
      start(1, 'f', 'a'),
      start(2, 'g', 'b'),
      input(2, '{"b"'),
      input(1, '{"a"'),
      text('Wait.', 0),
      input(2, ':2}'),
      input(1, ':1}'),
      blockStop(1),
      blockStop(2),
      stop('tool_use'),
      metadata(),
    ]
    const events = decode(frames)
    expect(faultsOf(events)).toEqual([])
    expect(fold(events).output).toEqual([message('Both. '), call('a', 'f', '{"a":1}'), call('b', 'g', '{"b":2}'), message('Wait.')])
  })

  test('finishes a stopped block before the next begins', () => {
    const frames = [reasoning(0, { text: 't' }), blockStop(0), start(1, 'f', 'a'), blockStop(1), text('Hi', 2), stop(), metadata()]
    const order = decode(frames).flatMap(each =>
      each.type === 'item_started' || each.type === 'item_finished' ? [`${each.type} ${each.index}`] : [],
    )
    expect(order).toEqual([0, 1, 2].flatMap(index => [`item_started ${index}`, `item_finished ${index}`]))
  })

  test('has a new id for a call whose id is missing or repeated', () => {
    const { output } = read(
      start(0, 'f', 'x'),
      blockStop(0),
      start(1, 'f', 'x'),
      blockStop(1),
      start(2, 'f', ''),
      blockStop(2),
      stop('tool_use'),
      metadata(),
    )
    const ids = output.map(item => (item.type === 'function_call' ? item.call_id : ''))
    expect(ids[0]).toBe('x')
    expect(new Set(ids).size).toBe(3)
    expect(ids.every(id => id !== '')).toBe(true)
  })

  test('fails on a call without a name', () => {
    const nameless = { status: 'failed', error: { kind: 'unreadable' } }
    expect(read(start(0, '', 'a'), input(0, '{}'), stop('tool_use'), metadata()).outcome).toMatchObject(nameless)
    expect(read(text('Hi'), input(4, '{"x":1}'), stop('tool_use'), metadata()).outcome).toMatchObject(nameless)
  })

  test('has the client’s names of tools', () => {
    const mapping = { toolNames: new Map([['get_weather_1', 'get weather']]) }
    expect(fold(decode([start(0, 'get_weather_1', 'a'), blockStop(0), stop('tool_use'), metadata()], mapping)).output).toEqual([
      call('a', 'get weather', '{}'),
    ])
  })

  test('has the arguments of the answer tool as text, in a separate message', () => {
    const mapping = { answerTool: 'answer' }
    const frames = [
      text('Here: '),
      start(1, 'answer', 'a'),
      input(1, '{"sum"'),
      input(1, ':3}'),
      blockStop(1),
      stop('tool_use'),
      metadata(),
    ]
    const events = decode(frames, mapping)
    expect(faultsOf(events)).toEqual([])
    expect(fold(events).output).toEqual([message('Here: '), message('{"sum":3}')])
  })

  test('is an empty message if the response has no content', () => {
    expect(read(event({ messageStart: { role: 'assistant' } }), stop(), metadata()).output).toEqual([message('')])
  })
})

describe('the end of a Bedrock response', () => {
  test.each([
    ['end_turn', { status: 'completed' }],
    ['tool_use', { status: 'completed' }],
    ['stop_sequence', { status: 'completed' }],
    ['something_new', { status: 'completed' }],
    ['max_tokens', { status: 'incomplete', reason: 'max_output_tokens' }],
    ['model_context_window_exceeded', { status: 'incomplete', reason: 'max_output_tokens' }],
    ['guardrail_intervened', { status: 'incomplete', reason: 'content_filter' }],
    ['content_filtered', { status: 'incomplete', reason: 'content_filter' }],
    ['malformed_model_output', { status: 'failed', error: { kind: 'server_error' } }],
    ['malformed_tool_use', { status: 'failed', error: { kind: 'server_error' } }],
  ])('is mapped from %s', (reason, outcome) => {
    expect(read(text('Hi'), blockStop(0), stop(reason), metadata()).outcome).toMatchObject(outcome)
    const content = [{ text: 'Hi' }]
    expect(bedrockProvider.decodeResponse({ output: { message: { content } }, stopReason: reason }).outcome).toMatchObject(outcome)
  })

  test('comes once messageStop and metadata have arrived, in either order, and later events are dropped', () => {
    for (const order of [
      [stop(), metadata()],
      [metadata(), stop()],
    ]) {
      const decoder = bedrockProvider.decodeEvents()
      const events = decoder.read([text('Hi'), ...order, text(' there'), event({ internalServerException: { message: 'late' } })])
      expect(events.at(-1)).toEqual({
        type: 'finished',
        outcome: { status: 'completed' },
        usage: { input_tokens: 3, output_tokens: 5, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
      })
      expect(fold(events).output).toEqual([message('Hi')])
      expect([...decoder.read([text('more')]), ...decoder.end()]).toEqual([])
    }
  })

  test('ignores content between messageStop and metadata', () => {
    expect(read(text('Hi'), stop(), text(' there'), start(1, 'f', 'a'), metadata()).output).toEqual([message('Hi')])
  })

  test('comes at the end of the bytes without metadata, and then has no usage', () => {
    const decoder = bedrockProvider.decodeEvents()
    expect(decoder.read([text('Hi'), stop()]).at(-1)?.type).not.toBe('finished')
    expect(decoder.end().at(-1)).toEqual({ type: 'finished', outcome: { status: 'completed' } })
  })

  test('is not changed by an exception after messageStop', () => {
    expect(read(text('Hi'), stop(), event({ throttlingException: { message: 'Slow down' } })).outcome).toEqual({ status: 'completed' })
  })

  test('is a failure without messageStop', () => {
    const { outcome, output } = read(text('Hi'), blockStop(0))
    expect(outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
    expect(output).toEqual([message('Hi', 'incomplete')])
    expect(read(text('Hi'), metadata()).outcome.status).toBe('failed')
  })

  test('leaves an item incomplete that the cap cut, unless its input is complete', () => {
    const cut = (piece: string) => read(start(0, 'f', 'a'), input(0, piece), blockStop(0), stop('max_tokens'), metadata()).output
    expect(cut('{"city":"Z')).toEqual([{ ...call('a', 'f', '{"city":"Z'), status: 'incomplete' }])
    expect(cut('{"city":"Zug"}')).toEqual([call('a', 'f', '{"city":"Zug"}')])
    expect(read(text('Once upon'), blockStop(0), stop('max_tokens'), metadata()).output).toEqual([message('Once upon', 'incomplete')])
  })

  test.each([
    ['throttlingException', 'rate_limited'],
    ['serviceUnavailableException', 'overloaded'],
    ['modelNotReadyException', 'overloaded'],
    ['internalServerException', 'server_error'],
    ['modelStreamErrorException', 'server_error'],
    ['modelTimeoutException', 'timed_out'],
    ['validationException', 'rejected'],
    ['somethingNewException', 'server_error'],
    ['error', 'server_error'],
  ])('is a failure for the frame %s: %s', (name, kind) => {
    const { outcome, output } = read(text('Hi'), { event: name, data: '{"message":"The provider’s message."}' })
    expect(outcome).toMatchObject({ status: 'failed', error: { kind, message: 'The provider’s message.' } })
    expect(output).toEqual([message('Hi', 'incomplete')])
    expect(read({ event: name, data: '' }).outcome).toMatchObject({ status: 'failed', error: { kind } })
  })

  test('has the kind of failure from the code inside an error frame', () => {
    const error = (code: string) => read({ event: 'error', data: JSON.stringify({ code, message: 'The provider’s message.' }) }).outcome
    expect(error('ThrottlingException')).toMatchObject({ error: { kind: 'rate_limited', code: 'ThrottlingException' } })
    expect(error('InternalError')).toMatchObject({ error: { kind: 'server_error', code: 'InternalError' } })
  })

  test('is too_long for a validation error about the length of the input', () => {
    const { outcome } = read({ event: 'validationException', data: '{"message":"Input is too long for requested model."}' })
    expect(outcome).toMatchObject({ status: 'failed', error: { kind: 'too_long', code: 'validationException' } })
  })

  test('is a failure on invalid JSON, unless it was over', () => {
    const broken: Frame = { event: 'contentBlockDelta', data: '{"delta":' }
    expect(read(text('Hi'), broken, stop(), metadata()).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
    expect(read(text('Hi'), stop(), broken).outcome).toEqual({ status: 'completed' })
  })

  test('ignores unknown events', () => {
    expect(read(event({ futureThing: { x: 1 } }), text('Hi'), { data: '{}' }, stop(), metadata()).output).toEqual([message('Hi')])
  })
})

describe('the usage of a Bedrock response', () => {
  const usageOf = (usage: JsonObject) => read(text('Hi'), stop(), metadata(usage)).usage

  test('adds cache reads and writes to the input', () => {
    expect(
      usageOf({
        inputTokens: 10,
        outputTokens: 7,
        totalTokens: 17,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 20,
        serverToolUsage: {},
      }),
    ).toEqual({ input_tokens: 130, output_tokens: 7, cached_tokens: 100, cache_write_tokens: 20, reasoning_tokens: 0 })
  })

  test('is flagged if it is impossible, and undefined if all counts are zero', () => {
    expect(usageOf({ inputTokens: -1, outputTokens: 5 })).toMatchObject({ input_tokens: 0, output_tokens: 5, estimated: true })
    expect(usageOf({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })).toBeUndefined()
    expect(usageOf({})).toBeUndefined()
  })
})

describe('a whole Bedrock response', () => {
  test('equals the same response as a stream', () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } },
      { reasoningContent: { redactedContent: 'cmVk' } },
      { text: 'Looking.' },
      { toolUse: { toolUseId: 'a', name: 'f', input: { city: 'Zürich', list: [1] } } },
      { toolUse: { toolUseId: 'b', name: 'now', input: {} } },
    ]
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
    const whole = bedrockProvider.decodeResponse({ output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage })
    const streamed = read(
      reasoning(0, { text: 'Hm.' }),
      reasoning(0, { signature: 's' }),
      blockStop(0),
      reasoning(1, { redactedContent: 'cmVk' }),
      blockStop(1),
      text('Looking.', 2),
      blockStop(2),
      start(3, 'f', 'a'),
      input(3, '{"city":"Zürich","list":[1]}'),
      blockStop(3),
      start(4, 'now', 'b'),
      blockStop(4),
      stop('tool_use'),
      metadata(usage),
    )
    expect(plain(whole)).toEqual(plain(streamed))
  })

  test('keeps its original body', () => {
    const body = { output: { message: { content: [{ text: 'Hi' }] } }, stopReason: 'end_turn', trace: { guardrail: {} } }
    expect(originalOf(bedrockProvider.decodeResponse(body))).toEqual({ dialect: 'bedrock', body })
  })

  test('has text with citations as text', () => {
    const content = [{ citationsContent: { content: [{ text: 'It ' }, { text: 'is.' }], citations: [{}] } }]
    expect(bedrockProvider.decodeResponse({ output: { message: { content } }, stopReason: 'end_turn' }).output).toEqual([message('It is.')])
  })

  test('is a failure if its body is an error, whatever its status', () => {
    const kindOf = (body: JsonObject) => {
      const { outcome } = bedrockProvider.decodeResponse(body)
      return outcome.status === 'failed' ? outcome.error.kind : outcome.status
    }
    expect(kindOf({ __type: 'com.amazon.coral#ThrottlingException', message: 'Slow down' })).toBe('rate_limited')
    expect(kindOf({ message: 'Something broke.' })).toBe('server_error')
    expect(kindOf({})).toBe('unreadable')
    expect(kindOf({ output: {} })).toBe('unreadable')
  })

  test('fails if its input is nested too deep to be serialized', () => {
    const deep = JSON.parse(
      `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}}}]}}}`,
    ) as JsonObject
    expect(bedrockProvider.decodeResponse(deep).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })
})

describe('hostile input', () => {
  const pool: readonly Frame[] = [
    event({ messageStart: { role: 'assistant' } }),
    text('x'),
    text('y', 1),
    start(1, 'f', 'a'),
    start(2, 'g', 'b'),
    start(1, 'answer', 'c'),
    input(1, '{"a"'),
    input(2, ':1}'),
    reasoning(0, { text: 't' }),
    reasoning(3, { signature: 's' }),
    reasoning(3, { redactedContent: 'r' }),
    blockStop(0),
    blockStop(1),
    blockStop(3),
    stop(),
    stop('max_tokens'),
    metadata(),
    event({ throttlingException: { message: 'm' } }),
    event({ futureThing: {} }),
  ]
  const odd = fc.oneof(
    fc.constantFrom<Json>(null, '', 0, -1, 1e300, true, [], {}, 'x', [{}]),
    fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  )
  const names = fc.constantFrom('contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata', 'error', '')
  const delta = fc.record(
    { contentBlockIndex: odd, delta: fc.record({ text: odd, toolUse: odd, reasoningContent: odd }, { requiredKeys: [] }) },
    { requiredKeys: [] },
  )
  const bent: fc.Arbitrary<Frame> = fc.oneof(
    fc.tuple(names, odd).map(([name, body]) => ({ event: name, data: JSON.stringify(body) })),
    delta.map(body => ({ event: 'contentBlockDelta', data: JSON.stringify(body) })),
    fc.tuple(names, fc.string()).map(([name, data]) => ({ event: name, data })),
  )
  const frames = fc.array(fc.oneof({ arbitrary: fc.constantFrom(...pool), weight: 6 }, { arbitrary: bent, weight: 2 }), { maxLength: 25 })

  test('any frames give one legal stream that finishes once', () => {
    fc.assert(
      fc.property(frames, fc.boolean(), (sent, answers) => {
        const events = decode(sent, answers ? { answerTool: 'answer', toolNames: new Map([['f', 'their f']]) } : undefined)
        expect(faultsOf(events)).toEqual([])
        const response = fold(events)
        if (!sent.some(({ event: name }) => name === 'messageStop')) expect(response.outcome.status).toBe('failed')
      }),
      { numRuns: inject('isLongRun') ? 3_000 : 300 },
    )
  })

  test('any body gives a response', () => {
    const block = fc.record({ text: odd, toolUse: odd, reasoningContent: odd, citationsContent: odd }, { requiredKeys: [] })
    const body = fc.record(
      {
        output: fc.oneof(odd, fc.record({ message: fc.record({ content: fc.oneof(odd, fc.array(block)) }) })),
        stopReason: odd,
        usage: odd,
        message: odd,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(body, wire => {
        expect(bedrockProvider.decodeResponse(wire as JsonObject).outcome.status).toMatch(/completed|incomplete|failed/)
      }),
      { numRuns: inject('isLongRun') ? 2_000 : 200 },
    )
  })
})
