import { readFrame } from '../common/parse-frame.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'

// Providers accept thinking only exactly as they sent it, so the state of a reasoning item is the whole block, including text. Client
// changes to the visible text then do no harm.

/** The state that restores a `thinking` or `redacted_thinking` block. */
export const encodeReasoningState = ({ type, ...block }: JsonObject): string => JSON.stringify(block)

/** Restores the block; undefined if the text is not state of this dialect. */
export function decodeReasoningState(state: string): JsonObject | undefined {
  const block = readFrame({ data: state })
  if (!isObject(block)) return undefined
  if (typeof block.data === 'string') return { type: 'redacted_thinking', ...block }
  return typeof block.thinking === 'string' ? { type: 'thinking', ...block } : undefined
}
