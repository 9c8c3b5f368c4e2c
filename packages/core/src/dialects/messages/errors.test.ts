import { describe, expect, test } from 'vitest'
import { plain } from '../../../test/dialects/laws.ts'
import { delta, end, frame, open, read, start, stop, text, thought } from '../../../test/dialects/messages-provider-frames.ts'
import { fold } from '../../protocol/fold.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { messagesProvider } from '../index.ts'

describe('trouble', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' }
  test.each<[string, readonly JsonObject[]]>([
    ['first', [overloaded]],
    ['after the beginning', [start(), overloaded]],
    ['in the middle', [start(), open(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'Hi' }), overloaded]],
    ['under no name', [start(), { error: { type: 'overloaded_error', message: 'Overloaded' } }]],
  ])('an error %s ends the stream as what it is', (_, bodies) => {
    expect(read([...bodies, ...text(1, 'late'), ...end('end_turn')]).outcome).toMatchObject({
      status: 'failed',
      error: { kind: 'overloaded', type: 'overloaded_error', message: 'Overloaded' },
    })
  })
  test.each<[string, readonly JsonObject[], string]>([
    ['nothing', [], 'failed'],
    ['a beginning', [start()], 'failed'],
    ['half a text', [start(), ...text(0, 'Hi').slice(0, 2)], 'failed'],
    ['a whole block', [start(), ...text(0, 'Hi')], 'failed'],
    ['a reason to end, but no end', [start(), ...text(0, 'Hi'), ...end('end_turn').slice(0, 1)], 'completed'],
    ['an end without a reason', [start(), ...text(0, 'Hi'), { type: 'message_stop' }], 'completed'],
    ['an end and nothing said', [start(), { type: 'message_stop' }], 'failed'],
  ])('a stream of %s has %3$s', (_, bodies, status) => {
    expect(read(bodies).outcome.status).toBe(status)
  })
  test('half a thought is no state', () => {
    const [item] = read([start(), ...thought(0, 'half').slice(0, 2)]).output
    expect(plain(item)).toEqual({ type: 'reasoning', summary: ['half'] })
  })
  test('a second beginning counts while nothing was said, and ends the answer after that', () => {
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
  test('blocks that were never announced are opened by what is said of them', () => {
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
  test('a call without a name ends the answer', () => {
    for (const nameless of [delta(0, { type: 'input_json_delta', partial_json: '{}' }), open(0, { type: 'tool_use', id: 't' })]) {
      expect(read([start(), nameless, ...end('tool_use')]).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
    }
    expect(messagesProvider.decodeResponse({ content: [{ type: 'tool_use', id: 't', input: {} }] }).outcome.status).toBe('failed')
  })
  test('blocks that overlap are each told whole', () => {
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
  test('pings, unknown events and end marks of other languages say nothing', () => {
    const noise: readonly JsonObject[] = [{ type: 'ping' }, { type: 'future' }, { odd: true }]
    const decoder = messagesProvider.decodeEvents()
    const frames = [start(), ...noise, ...text(0, 'Hi'), ...noise, ...end('end_turn')].map(frame)
    const events = [...decoder.read([...frames.slice(0, 3), { data: '[DONE]' }, { data: '' }, ...frames.slice(3)]), ...decoder.end()]
    expect(fold(events)).toMatchObject({ output: [{ content: [{ text: 'Hi' }] }], outcome: { status: 'completed' } })
  })
  test('an event that is no JSON ends the answer, unless it had ended', () => {
    const broken = (bodies: readonly JsonObject[]) => {
      const decoder = messagesProvider.decodeEvents()
      return fold([...decoder.read([...bodies.map(frame), { event: 'content_block_delta', data: '{"type":' }]), ...decoder.end()]).outcome
    }
    expect(broken([start(), ...text(0, 'Hi')])).toMatchObject({ status: 'failed' })
    expect(broken([start(), ...text(0, 'Hi'), ...end('end_turn').slice(0, 1)])).toEqual({ status: 'completed' })
  })
  test('a type may stand only in the name of the frame', () => {
    const decoder = messagesProvider.decodeEvents()
    const { type, ...body } = start()
    const events = decoder.read([
      { event: `${type}`, data: JSON.stringify(body) },
      { event: 'error', data: '{"message":"Overloaded"}' },
    ])
    expect(fold(events)).toMatchObject({ id: 'msg_1', outcome: { status: 'failed', error: { message: 'Overloaded' } } })
  })
})

describe('whole answers', () => {
  test('an error under a good status is a failure', () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }
    expect(messagesProvider.decodeResponse(body).outcome).toMatchObject({ status: 'failed', error: { kind: 'rate_limited' } })
    expect(messagesProvider.decodeResponse({}).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })
  test('what could not be written again is refused', () => {
    const deep: JsonObject = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
    const body = { content: [{ type: 'tool_use', id: 't', name: 'f', input: deep }], stop_reason: 'tool_use' }
    expect(messagesProvider.decodeResponse(body).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })
})

describe('size', () => {
  const many = Array.from({ length: 30_000 }, (_, at) => at)
  test.each<[string, readonly JsonObject[]]>([
    ['calls that never end', many.map(at => open(at, { type: 'tool_use', id: `t${at}`, name: 'f' }))],
    ['texts that never end', many.map(at => open(at, { type: 'text', text: 'x' }))],
    ['fields of a message, one by one', many.map(at => ({ type: 'message_delta', delta: {}, [`f${at}`]: 1 }))],
    ['fields of a block, one by one', [open(0, { type: 'x' }), ...many.map(at => delta(0, { type: 'y', [`f${at}`]: 1 }))]],
  ])('%s: read within the patience of a test', (_, bodies) => {
    expect(read([start(), ...bodies]).outcome.status).toBe('failed')
  })
})

test('a whole answer may hold a bare text, or null for nothing; without any content it is none', () => {
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
