import { describe, expect, test } from 'vitest'
import { plain, said } from '../../test/laws.ts'
import { decode, delta, end, open, read, reasoning, start, stop, text, tool } from '../../test/messages-provider-frames.ts'
import { fold } from '../protocol/fold.ts'
import { originalOf } from '../protocol/original.ts'
import { messagesProvider } from './provider.ts'

describe('the items of a Messages stream', () => {
  test('have a thinking block as a summary, and the block as its state', () => {
    const [item] = read([start(), ...reasoning(0, 'First "the" points'), ...text(1, 'Hi'), ...end('end_turn')]).output
    expect(plain(item)).toEqual({
      type: 'reasoning',
      summary: ['First "the" points'],
      encrypted_content: '{"thinking":"First \\"the\\" points","signature":"sig"}',
    })
  })
  test('have redacted or empty thinking as state only', () => {
    const silent = [
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'signature_delta', signature: 's' }),
      stop(0),
    ]
    expect(plain(read([start(), ...silent, ...end('end_turn')]).output[0])).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: '{"thinking":"","signature":"s"}',
    })
    const redacted = [open(0, { type: 'redacted_thinking', data: 'blob' }), stop(0)]
    expect(plain(read([start(), ...redacted, ...end('end_turn')]).output[0])).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: '{"data":"blob"}',
      redacted: true,
    })
  })
  test('join consecutive texts as parts of one message, which another kind of block ends', () => {
    const { output } = read([start(), ...text(0, 'a'), ...text(1, 'b'), ...tool(2, 'f'), ...text(3, 'c'), ...end('tool_use')])
    expect(output).toMatchObject([
      { type: 'message', content: [{ text: 'a' }, { text: 'b' }], status: 'completed' },
      { type: 'function_call' },
      { type: 'message', content: [{ text: 'c' }] },
    ])
  })
  test('have the arguments of a call’s deltas, else those of its start event, else an empty object', () => {
    const announced = [open(2, { type: 'tool_use', id: 't', name: 'h', input: { a: 1 } }), stop(2)]
    const { output } = read([start(), ...tool(0, 'f', '', '{"x"', ':1}'), ...tool(1, 'g'), ...announced, ...end('tool_use')])
    expect(output).toMatchObject([
      { call_id: 'toolu_0', name: 'f', arguments: '{"x":1}', status: 'completed' },
      { name: 'g', arguments: '{}' },
      { call_id: 't', name: 'h', arguments: '{"a":1}' },
    ])
  })
  test('have unique call ids, and new ones for calls without an id', () => {
    const twice = [0, 1].flatMap(index => [open(index, { type: 'tool_use', id: 'same', name: 'f' }), stop(index)])
    const none = [open(2, { type: 'tool_use', name: 'f' }), stop(2)]
    const ids = read([start(), ...twice, ...none, ...end('tool_use')]).output.map(item => item.type === 'function_call' && item.call_id)
    expect(ids[0]).toBe('same')
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain('')
  })
  test('keep unknown blocks whole, with all their deltas', () => {
    const hosted = [
      open(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      ...['{"query"', ':"x"}'].map(partial_json => delta(0, { type: 'input_json_delta', partial_json })),
      stop(0),
    ]
    const summary = [
      open(1, { type: 'compaction', content: null }),
      delta(1, { type: 'compaction_delta', content: 'long ' }),
      delta(1, { type: 'compaction_delta', content: 'ago' }),
      stop(1),
    ]
    expect(read([start(), ...hosted, ...summary, ...end('end_turn')])).toMatchObject({
      output: [
        { type: 'native', dialect: 'messages', body: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } } },
        { type: 'native', dialect: 'messages', body: { type: 'compaction', content: 'long ago' } },
      ],
      outcome: { status: 'completed' },
    })
  })
  test('have links as citations of their text, sent once its length is known, and no citations of document positions', () => {
    const link = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'c', encrypted_index: 'e' }
    const events = decode([
      start(),
      open(0, { type: 'text', text: '', citations: [] }),
      delta(0, { type: 'citations_delta', citation: link }),
      delta(0, { type: 'citations_delta', citation: { type: 'char_location', document_index: 0 } }),
      delta(0, { type: 'text_delta', text: 'Twelve chars' }),
      stop(0),
      ...end('end_turn'),
    ])
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 12 }
    expect(plain(events.filter(event => event.type === 'delta' && event.delta.kind === 'annotation'))).toEqual([
      { type: 'delta', index: 0, delta: { kind: 'annotation', part: 0, annotation } },
    ])
    const [item] = fold(events).output
    const part = item?.type === 'message' ? item.content[0] : undefined
    expect(plain(part)).toEqual({ type: 'text', text: 'Twelve chars', annotations: [annotation] })
    expect(part && originalOf(part)?.body).toMatchObject({ citations: [link, { type: 'char_location' }] })
    expect(originalOf((part?.type === 'text' && part.annotations?.[0]) || {})?.body).toEqual(link)
  })
  test('are one empty message if the response has no content', () => {
    expect(read([start(), ...end('end_turn')]).output).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' },
    ])
  })
  test('include content that only the start event has', () => {
    const content = [{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }]
    expect(read([start({ content, stop_reason: 'tool_use' }), { type: 'message_stop' }])).toMatchObject({
      output: [{ type: 'function_call', call_id: 't', arguments: '{"a":1}' }],
      outcome: { status: 'completed' },
      usage: { input_tokens: 10, output_tokens: 1 },
    })
  })
})

describe('a Messages response is mapped back', () => {
  const toolNames = new Map([['ns_weather_x', 'ns.weather']])
  test('to the client’s names of tools', () => {
    expect(read([start(), ...tool(0, 'ns_weather_x', '{}'), ...end('tool_use')], { toolNames }).output).toMatchObject([
      { name: 'ns.weather' },
    ])
    const whole = { content: [{ type: 'tool_use', id: 't', name: 'ns_weather_x', input: {} }], stop_reason: 'tool_use' }
    expect(messagesProvider.decodeResponse(whole, { toolNames }).output).toMatchObject([{ name: 'ns.weather' }])
  })
  test('to text if a tool carried the response, delta by delta', () => {
    const events = decode([start(), ...tool(0, 'answer', '', '{"a"', ':1}'), ...end('tool_use')], { answerTool: 'answer' })
    expect(events.flatMap(event => (event.type === 'delta' ? [event.delta] : []))).toEqual([
      { kind: 'text', part: 0, text: '{"a"' },
      { kind: 'text', part: 0, text: ':1}' },
    ])
    expect(fold(events)).toMatchObject({
      output: [{ type: 'message', content: [{ type: 'text', text: '{"a":1}' }] }],
      outcome: { status: 'completed' },
    })
    const whole = { content: [{ type: 'tool_use', id: 't', name: 'answer', input: { a: 1 } }], stop_reason: 'tool_use' }
    expect(said(messagesProvider.decodeResponse(whole, { answerTool: 'answer' }))).toMatchObject({
      output: [{ type: 'message', content: [{ text: '{"a":1}' }] }],
    })
  })
})

describe('the end of a Messages response', () => {
  test.each([
    ['end_turn', { status: 'completed' }],
    ['tool_use', { status: 'completed' }],
    ['stop_sequence', { status: 'completed' }],
    ['pause_turn', { status: 'incomplete', reason: 'pause_turn' }],
    ['something_new', { status: 'completed', unknown_reason: 'something_new' }],
    ['max_tokens', { status: 'incomplete', reason: 'max_output_tokens' }],
    ['model_context_window_exceeded', { status: 'incomplete', reason: 'max_output_tokens' }],
    ['refusal', { status: 'incomplete', reason: 'content_filter' }],
  ])('is mapped from %s, whole and streamed', (stop_reason, outcome) => {
    const streamed = read([start(), ...text(0, 'Hi'), ...end(stop_reason)])
    const whole = messagesProvider.decodeResponse({
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason,
      usage: { input_tokens: 10, output_tokens: 7 },
    })
    expect(streamed.outcome).toEqual(outcome)
    expect(said(streamed)).toEqual(said(whole))
    expect(streamed.output).toMatchObject([{ status: outcome.status === 'completed' ? 'completed' : 'incomplete' }])
  })
  test('leaves only the cut item incomplete', () => {
    expect(read([start(), ...text(0, 'Hi'), ...tool(1, 'f', '{"a'), ...end('max_tokens')]).output).toMatchObject([
      { status: 'completed' },
      { arguments: '{"a', status: 'incomplete' },
    ])
  })
  test('has the explanation of a refusal as a refusal part, after the content', () => {
    const stop_details = { type: 'refusal', explanation: 'Not this.' }
    const refusal = { type: 'refusal', refusal: 'Not this.' }
    expect(read([start(), ...end('refusal', { stop_details })]).output).toMatchObject([{ content: [refusal], status: 'incomplete' }])
    expect(read([start(), ...text(0, 'Well'), ...end('refusal', { stop_details })]).output).toMatchObject([
      { content: [{ type: 'text', text: 'Well' }, refusal] },
    ])
    expect(read([start(), ...end('refusal', { stop_details: null })])).toMatchObject({ output: [], outcome: { status: 'incomplete' } })
    const content = [{ type: 'tool_use', id: 'toolu_0', name: 'f', input: {} }]
    expect(said(read([start(), ...tool(0, 'f'), ...end('refusal', { stop_details }, { output_tokens: 1 })]))).toEqual(
      said(
        messagesProvider.decodeResponse({ content, stop_reason: 'refusal', stop_details, usage: { input_tokens: 10, output_tokens: 1 } }),
      ),
    )
  })
  test('keeps the provider’s stop fields for Messages clients', () => {
    const events = decode([
      start(),
      ...text(0, 'Hi'),
      {
        type: 'message_delta',
        delta: { stop_reason: 'stop_sequence', stop_sequence: 'END', container: { id: 'c' } },
        usage: {},
        context_management: {},
      },
      { type: 'message_stop' },
    ])
    const [first, last] = [events[0], events.at(-1)]
    expect(first && originalOf(first)).toMatchObject({ dialect: 'messages', body: { id: 'msg_1' } })
    expect(last && originalOf(last)?.body).toMatchObject({
      id: 'msg_1',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
      container: { id: 'c' },
      context_management: {},
      usage: { input_tokens: 10, output_tokens: 1 },
    })
  })
})

describe('the usage of a Messages stream', () => {
  test('adds cache reads and writes to the input, and has the last value of each count', () => {
    const usage = { input_tokens: 5, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 1 }
    const final = { input_tokens: 6, cache_creation_input_tokens: null, output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } }
    expect(read([start({ usage }), ...text(0, 'Hi'), ...end('end_turn', {}, final)]).usage).toEqual({
      input_tokens: 326,
      cached_tokens: 300,
      cache_write_tokens: 20,
      output_tokens: 50,
      reasoning_tokens: 40,
    })
  })
  test('is undefined if the stream broke off after the start event', () => {
    expect(read([start(), ...text(0, 'Hi')]).usage).toBeUndefined()
    expect(read([start(), ...text(0, 'Hi'), { type: 'message_stop' }]).usage).toBeUndefined()
  })
})
