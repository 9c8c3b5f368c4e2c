import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { readFrame } from '../frame.ts'

// Providers accept thinking only exactly as they sent it. So the state of a reasoning item is the whole block, text included:
// changes that a client makes to the visible text do no harm.

/** The state that restores a `thinking` or `redacted_thinking` block. */
export const encodeReasoningState = ({ type, ...block }: JsonObject): string => JSON.stringify(block)

/** The block, or undefined if the text is no state of this dialect. */
export function decodeReasoningState(state: string): JsonObject | undefined {
  const block = readFrame({ data: state })
  if (!isObject(block)) return undefined
  if (typeof block.data === 'string') return { type: 'redacted_thinking', ...block }
  return typeof block.thinking === 'string' ? { type: 'thinking', ...block } : undefined
}
