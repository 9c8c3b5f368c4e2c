import { type Frame, isObject } from '@signalbox/dialects/protocol'
import { frameText } from '../answers/answer.ts'
import { allFrames, type Bytes, bytesOf, halfFrames } from './acts.ts'
import type { Exchange } from './exchange.ts'

/** Different byte representations of the same stream. */

export const asBytes = (text: string): Uint8Array => Buffer.from(text)

/** Uses the given line endings in turn. */
export const lines =
  (...ends: readonly string[]) =>
  (text: string): string => {
    let at = 0
    return text.replaceAll('\n', () => ends[at++ % ends.length] ?? '\n')
  }

/** Splits after every byte that the predicate selects. */
export function* cutBytes(bytes: Uint8Array, cut: (byte: number, at: number, all: Uint8Array) => boolean): Iterable<Uint8Array> {
  let from = 0
  for (const [at, byte] of bytes.entries()) {
    if (!cut(byte, at, bytes)) continue
    yield bytes.subarray(from, at + 1)
    from = at + 1
  }
  if (from < bytes.length) yield bytes.subarray(from)
}

/** Splits between any two bytes of every multi-byte character. */
export const cutInsideCharacters = (bytes: Uint8Array): Iterable<Uint8Array> =>
  cutBytes(bytes, (_, at, all) => ((all[at + 1] ?? 0) & 0xc0) === 0x80)

/** Escapes every non-ASCII character as `\uXXXX`, including surrogate pairs, as Python's json does. */
export const escaped = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The JSON over many `data:` lines, which the standard joins with a line feed. */
export function pretty({ event, data }: Frame): string {
  if (data === '[DONE]') return frameText({ data })
  const json = JSON.stringify(JSON.parse(data), null, 1)
  return `${event === undefined ? '' : `event: ${event}\n`}${json.replaceAll(/^/gm, 'data: ')}\n\n`
}

/** Inserts something between the two halves of the correct response. */
export function afterHalf(exchange: Exchange, between: readonly Bytes[]): readonly Bytes[] {
  const before = halfFrames(exchange)
  return [bytesOf(exchange, before), ...between, bytesOf(exchange, allFrames(exchange).slice(before.length))]
}

/** The same events with other sequence numbers; none if `number` returns undefined. */
export const numbered =
  (number: (at: number) => number | undefined) =>
  (exchange: Exchange): Iterable<string> =>
    allFrames(exchange).map((frame, index) => {
      const body: unknown = JSON.parse(frame.data)
      return isObject(body) ? frameText({ ...frame, data: JSON.stringify({ ...body, sequence_number: number(index) }) }) : frameText(frame)
    })
