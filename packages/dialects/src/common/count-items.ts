import { answerLimits } from '../protocol/answer-limits.ts'
import { isObject, type Json } from '../protocol/wire.ts'

/** Fields in which whole responses of all dialects hold output items and their parts. */
const holders = ['output', 'choices', 'message', 'candidates', 'content', 'parts', 'summary', 'tool_calls', 'images'] as const

/** Whether a whole response has too many output items and parts. Checked before decoding, because a decoder allocates several objects for each. */
export function hasTooManyItems(answer: Json): boolean {
  const open: Json[] = [answer]
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      count += next.length
      if (count > answerLimits.items) return true
      for (let at = 0; at < next.length; at += 1) if (isObject(next[at])) open.push(next[at])
    } else if (isObject(next)) {
      for (let at = 0; at < holders.length; at += 1) {
        const held = next[holders[at] ?? 'output']
        if (typeof held === 'object' && held !== null) open.push(held)
      }
    }
  }
  return false
}
