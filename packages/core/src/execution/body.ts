import { hasTooManyItems } from '../dialects/count-items.ts'
import { isTooComplex, parseBounded } from '../dialects/frame.ts'
import { answerLimits } from '../protocol/answer-limits.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'

const maxBodyBytes = answerLimits.wholeBytes
/** What is read of an unhappy answer. */
export const maxFailureBytes: number = answerLimits.failureBytes

type Bytes = AsyncIterator<Uint8Array, undefined>

/** Reads to the end, or to the limit: then the rest is left and the connection closed. */
export async function readText(body: Bytes, limit: number): Promise<{ readonly text: string; readonly cut: boolean }> {
  const pieces: Uint8Array[] = []
  let size = 0
  let cut = false
  while (!cut) {
    const step = await body.next()
    if (step.done) break
    pieces.push(step.value)
    size += step.value.byteLength
    cut = size > limit
  }
  if (cut) await body.return?.()
  return { text: decoded(pieces, size), cut }
}

/** Most answers are one piece; one decoding of the whole is cheaper than a decoder that remembers. */
function decoded(pieces: readonly Uint8Array[], size: number): string {
  const [only] = pieces
  const decoder = new TextDecoder()
  if (only && pieces.length === 1) return decoder.decode(only)
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return decoder.decode(whole)
}

/** The whole of a JSON answer, or in words why it is none. */
export async function readJson(body: Bytes): Promise<JsonObject | string> {
  const { text, cut } = await readText(body, maxBodyBytes)
  if (cut) return `The answer is larger than ${maxBodyBytes} bytes.`
  if (text.trim() === '') return 'The answer is empty.'
  const value = parseBounded(text)
  if (value !== undefined && hasTooManyItems(value)) return `The answer has more than ${answerLimits.items} items.`
  if (value !== undefined) return isObject(value) ? value : 'The answer is JSON, but no object.'
  return isTooComplex(text) ? 'The answer is nested too deep, or holds too many values.' : 'The answer is not valid JSON.'
}

export type Shape = 'json' | 'frames' | 'page' | 'empty'

/**
 * What the bytes are, told by the first that is no white space: labels lie (a stream called JSON, JSON called HTML), the
 * first byte does not. Gives back an iterator that still holds what was looked at.
 */
export async function sniff(body: Bytes): Promise<{ readonly shape: Shape; readonly body: Bytes }> {
  const seen: Uint8Array[] = []
  for (;;) {
    const step = await body.next()
    if (step.done) return { shape: 'empty', body: replay(seen, body) }
    seen.push(step.value)
    const first = step.value.find(byte => !blank.has(byte))
    if (first !== undefined) return { shape: shapes.get(String.fromCharCode(first)) ?? 'frames', body: replay(seen, body) }
    if (seen.length > 1024) return { shape: 'empty', body: replay(seen, body) }
  }
}

const shapes: ReadonlyMap<string, Shape> = new Map([
  ['{', 'json'],
  ['[', 'json'],
  ['"', 'json'],
  ['<', 'page'],
])
/** White space, and the three bytes of a byte-order mark. */
const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

function replay(seen: readonly Uint8Array[], rest: Bytes): Bytes {
  let at = 0
  return {
    next: () => {
      const value = seen[at]
      at += 1
      return value ? Promise.resolve({ done: false, value }) : rest.next()
    },
    return: () => rest.return?.() ?? Promise.resolve({ done: true, value: undefined }),
  }
}
