import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { readFrame } from '../frame.ts'

// Thoughts are taken back only as they were given, to the byte. So the state of a reasoning item is the block itself, its
// text included: what a caller does to the visible text cannot spoil it.

/** As signed by its maker, who alone can read the signature, or all of it. */
export const writeState = ({ type, ...block }: JsonObject): string => JSON.stringify(block)

/** The block again; nothing where the text is no state of ours. */
export function readState(state: string): JsonObject | undefined {
  const block = readFrame({ data: state })
  if (!isObject(block)) return undefined
  if (typeof block.data === 'string') return { type: 'redacted_thinking', ...block }
  return typeof block.thinking === 'string' ? { type: 'thinking', ...block } : undefined
}
