import { describe, expect, inject, test } from 'vitest'
import { plain } from '../../test/laws.ts'
import { delta, end, frame, open, read, reasoning, start, stop, text } from '../../test/messages-provider-frames.ts'
import { fold } from '../protocol/fold.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { messagesProvider } from './provider.ts'

describe('a broken Messages stream', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' }
  test.each<[string, readonly JsonObject[]]>([
    ['as the first event', [overloaded]],
    ['after the start', [start(), overloaded]],
    ['in the middle', [start(), open(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'Hi' }), overloaded]],
    ['without an event name', [start(), { error: { type: 'overloaded_error', message: 'Overloaded' } }]],
  ])('ends with the error %s', (_, bodies) => {
    expect(read([...bodies, ...text(1, 'late'), ...end('end_turn')]).outcome).toMatchObject({
      status: 'failed',
      error: { kind: 'overloaded', type: 'overloaded_error', message: 'Overloaded' },
    })
  })
  test.each<[string, readonly JsonObject[], string]>([
    ['no events', [], 'failed'],
    ['a start event', [start()], 'failed'],
    ['half a text', [start(), ...text(0, 'Hi').slice(0, 2)], 'failed'],
    ['a whole block', [start(), ...text(0, 'Hi')], 'failed'],
    ['a stop reason, but no end event', [start(), ...text(0, 'Hi'), ...end('end_turn').slice(0, 1)], 'completed'],
    ['an end event without a stop reason', [start(), ...text(0, 'Hi'), { type: 'message_stop' }], 'completed'],
    ['an end event without content', [start(), { type: 'message_stop' }], 'failed'],
  ])('with %s is %3$s', (_, bodies, status) => {
    expect(read(bodies).outcome.status).toBe(status)
  })
  test('has no state for an incomplete thinking block', () => {
    const [item] = read([start(), ...reasoning(0, 'half').slice(0, 2)]).output
    expect(plain(item)).toEqual({ type: 'reasoning', summary: ['half'] })
  })
  test('may start again before any content, and fails on a second start after it', () => {
    const again = start({ id: 'msg_2', usage: { input_tokens: 20, output_tokens: 1 } })
    expect(read([start(), open(0, { type: 'text', text: '' }), again, ...text(0, 'Hi'), ...end('end_turn')])).toMatchObject({
      output: [{ content: [{ text: 'Hi' }] }],
      outcome: { status: 'completed' },
      usage: { input_tokens: 20 },
    })
    expect(read([start(), ...text(0, 'Hi'), again, ...text(0, 'Hi'), ...end('end_turn')]).outcome).toMatchObject({
      status: 'failed',
      error: { kind: 'unreadable' },
    })
    expect(read([start(), ...text(0, 'Hi'), ...end('end_turn').slice(0, 1), again, { type: 'message_stop' }]).outcome.status).toBe(
      'completed',
    )
  })
  test('has blocks that were never announced, opened by their deltas', () => {
    const bare = [
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 's' }),
      stop(0),
      delta(4, { type: 'text_delta', text: 'Hi' }),
      stop(4),
      delta(4, { type: 'text_delta', text: 'again' }),
    ]
    expect(read([...bare, ...end('end_turn')])).toMatchObject({
      output: [{ summary: ['hm'] }, { content: [{ text: 'Hi' }, { text: 'again' }] }],
      outcome: { status: 'completed' },
    })
  })
  test('fails on a call without a name', () => {
    for (const nameless of [delta(0, { type: 'input_json_delta', partial_json: '{}' }), open(0, { type: 'tool_use', id: 't' })]) {
      expect(read([start(), nameless, ...end('tool_use')]).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
    }
    expect(messagesProvider.decodeResponse({ content: [{ type: 'tool_use', id: 't', input: {} }] }).outcome.status).toBe('failed')
  })
  test('with overlapping blocks has each block whole', () => {
    const bodies = [
      start(),
      open(0, { type: 'text', text: 'A' }),
      open(1, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '{"a":' }),
      delta(0, { type: 'text_delta', text: 'B' }),
      delta(1, { type: 'input_json_delta', partial_json: '1}' }),
      stop(1),
      stop(0),
      ...end('tool_use'),
    ]
    expect(read(bodies).output).toMatchObject([{ content: [{ text: 'AB' }] }, { arguments: '{"a":1}' }])
  })
  test('with pings, unknown events and foreign end marks has no items for them', () => {
    const noise: readonly JsonObject[] = [{ type: 'ping' }, { type: 'future' }, { odd: true }]
    const decoder = messagesProvider.decodeEvents()
    const frames = [start(), ...noise, ...text(0, 'Hi'), ...noise, ...end('end_turn')].map(frame)
    const events = [...decoder.read([...frames.slice(0, 3), { data: '[DONE]' }, { data: '' }, ...frames.slice(3)]), ...decoder.end()]
    expect(fold(events)).toMatchObject({ output: [{ content: [{ text: 'Hi' }] }], outcome: { status: 'completed' } })
  })
  test('fails on invalid JSON, unless it had ended', () => {
    const broken = (bodies: readonly JsonObject[]) => {
      const decoder = messagesProvider.decodeEvents()
      return fold([...decoder.read([...bodies.map(frame), { event: 'content_block_delta', data: '{"type":' }]), ...decoder.end()]).outcome
    }
    expect(broken([start(), ...text(0, 'Hi')])).toMatchObject({ status: 'failed' })
    expect(broken([start(), ...text(0, 'Hi'), ...end('end_turn').slice(0, 1)])).toEqual({ status: 'completed' })
  })
  test('may have an event’s type in the frame only', () => {
    const decoder = messagesProvider.decodeEvents()
    const { type, ...body } = start()
    const events = decoder.read([
      { event: `${type}`, data: JSON.stringify(body) },
      { event: 'error', data: '{"message":"Overloaded"}' },
    ])
    expect(fold(events)).toMatchObject({ id: 'msg_1', outcome: { status: 'failed', error: { message: 'Overloaded' } } })
  })
})

describe('a broken whole Messages response', () => {
  test('is a failure if its body is an error, whatever its status', () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }
    expect(messagesProvider.decodeResponse(body).outcome).toMatchObject({ status: 'failed', error: { kind: 'rate_limited' } })
    expect(messagesProvider.decodeResponse({}).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })
  test('is refused if it could not be serialized again', () => {
    const deep: JsonObject = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
    const body = { content: [{ type: 'tool_use', id: 't', name: 'f', input: deep }], stop_reason: 'tool_use' }
    expect(messagesProvider.decodeResponse(body).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })
})

describe('large Messages input', () => {
  const many = Array.from({ length: inject('isLongRun') ? 30_000 : 12_000 }, (_, at) => at)
  test.each<[string, readonly JsonObject[]]>([
    ['calls that never end', many.map(at => open(at, { type: 'tool_use', id: `t${at}`, name: 'f' }))],
    ['texts that never end', many.map(at => open(at, { type: 'text', text: 'x' }))],
    ['fields of a message, one at a time', many.map(at => ({ type: 'message_delta', delta: {}, [`f${at}`]: 1 }))],
    ['fields of a block, one at a time', [open(0, { type: 'x' }), ...many.map(at => delta(0, { type: 'y', [`f${at}`]: 1 }))]],
  ])('is read in linear time: %s', (_, bodies) => {
    expect(read([start(), ...bodies]).outcome.status).toBe('failed')
  })
})

test('a whole response may have its content as a string or null, and has no items without content', () => {
  const whole = (body: JsonObject) => messagesProvider.decodeResponse({ type: 'message', role: 'assistant', ...body })
  expect(whole({ content: 'Hi', stop_reason: 'end_turn' })).toMatchObject({
    output: [{ type: 'message', content: [{ type: 'text', text: 'Hi' }] }],
    outcome: { status: 'completed' },
  })
  for (const content of [null, '', []])
    expect(whole({ content, stop_reason: 'end_turn' })).toMatchObject({
      output: [{ content: [{ text: '' }] }],
      outcome: { status: 'completed' },
    })
  for (const body of [{}, { content: null }, { content: 7, stop_reason: null }])
    expect(whole(body).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
})
