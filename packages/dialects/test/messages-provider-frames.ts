import { expect } from 'vitest'
import { messagesProvider } from '../src/messages/provider.ts'
import type { ResponseMapping } from '../src/protocol/dialect.ts'
import type { InferenceEvent } from '../src/protocol/event.ts'
import { fold } from '../src/protocol/fold.ts'
import type { InferenceResponse } from '../src/protocol/response.ts'
import type { Frame, JsonObject } from '../src/protocol/wire.ts'
import { faultsOf } from './laws.ts'

// Events of a stream in the Messages dialect, and what we read in them.

export const frame = (body: JsonObject): Frame => ({ event: String(body.type), data: JSON.stringify(body) })
export const start = (message: JsonObject = {}): JsonObject => ({
  type: 'message_start',
  message: { id: 'msg_1', model: 'claude', content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 }, ...message },
})
export const open = (index: number, content_block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block })
export const delta = (index: number, body: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: body })
export const stop = (index: number): JsonObject => ({ type: 'content_block_stop', index })
export const end = (stop_reason: string, more: JsonObject = {}, usage: JsonObject = { output_tokens: 7 }): readonly JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage },
  { type: 'message_stop' },
]
export const text = (index: number, ...words: readonly string[]): readonly JsonObject[] => [
  open(index, { type: 'text', text: '' }),
  ...words.map(word => delta(index, { type: 'text_delta', text: word })),
  stop(index),
]
export const reasoning = (index: number, words: string, signature = 'sig'): readonly JsonObject[] => [
  open(index, { type: 'thinking', thinking: '', signature: '' }),
  delta(index, { type: 'thinking_delta', thinking: words }),
  delta(index, { type: 'signature_delta', signature }),
  stop(index),
]
export const tool = (index: number, name: string, ...pieces: readonly string[]): readonly JsonObject[] => [
  open(index, { type: 'tool_use', id: `toolu_${index}`, name, input: {} }),
  ...pieces.map(partial_json => delta(index, { type: 'input_json_delta', partial_json })),
  stop(index),
]

/** Checks on the way that the events stand in legal order. */
export const decode = (bodies: readonly JsonObject[], mapping?: ResponseMapping): readonly InferenceEvent[] => {
  const decoder = messagesProvider.decodeEvents(mapping)
  const events = [...bodies.flatMap(body => decoder.read([frame(body)])), ...decoder.end()]
  expect(faultsOf(events)).toEqual([])
  return events
}
export const read = (bodies: readonly JsonObject[], mapping?: ResponseMapping): InferenceResponse => fold(decode(bodies, mapping))

/** One event of each kind that there is, for tests that shuffle and bend them. */
export const everyEvent: readonly JsonObject[] = [
  start(),
  start({ content: [{ type: 'tool_use', id: 'w', name: 'w', input: { a: [1] } }], stop_reason: 'tool_use' }),
  ...text(0, 'x', 'y'),
  delta(0, { type: 'citations_delta', citation: { type: 'web_search_result_location', url: 'https://a.example', title: 'A' } }),
  ...reasoning(1, 'hm'),
  open(1, { type: 'redacted_thinking', data: 'blob' }),
  ...tool(2, 'f', '', '{"a":', '1}'),
  open(3, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '{}' }),
  open(4, { type: 'compaction', content: null }),
  delta(4, { type: 'compaction_delta', content: 'c' }),
  stop(3),
  { type: 'ping' },
  ...end('max_tokens', { stop_details: { type: 'refusal', explanation: 'why' } }, { input_tokens: 3, output_tokens: null }),
  ...end('refusal', { stop_details: { type: 'refusal', explanation: 'why' } }).slice(0, 1),
  { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
]
