import type { Json, JsonObject } from './wire.ts'

/** Text that takes two bytes per character in memory. */
const isWide = /[\u0100-\uffff]/

const textBytes = (text: string): number => 16 + (isWide.test(text) ? 2 * text.length : text.length)

/**
 * Estimates the memory of a parsed value in bytes, which may be many times the length of its JSON text.
 *
 * @example estimateMemory([{}, {}]) // 128, for 7 bytes of JSON
 */
export function estimateMemory(root: JsonObject | readonly Json[]): number {
  const open: (JsonObject | readonly Json[])[] = [root]
  let bytes = 0
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const values: readonly (Json | undefined)[] = Array.isArray(value) ? value : Object.values(value)
    bytes += 32 + 16 * values.length
    for (let at = 0; at < values.length; at++) {
      const each = values[at]
      if (typeof each === 'string') bytes += textBytes(each)
      else if (typeof each === 'object' && each !== null) open.push(each)
    }
  }
  return bytes
}
