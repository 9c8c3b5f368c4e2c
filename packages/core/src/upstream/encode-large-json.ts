import type { JsonObject } from '../protocol/wire.ts'

/** Strings of at least this many characters are not copied into the JSON text. */
const longString = 65_536
/** A character that JSON escapes, or that takes several bytes. */
const notPlain = /[^ !#-[\]-~]/

const encoder = new TextEncoder()

/** How many marks are tried; a request that contains the first few is encoded as a whole. */
const maxMarks = 3

/**
 * The bytes of `JSON.stringify(value)`. Long plain strings, such as the data of images, are encoded directly to their place, because the
 * JSON text and what it is made of would be two more copies of them.
 */
export function encodeLargeJson(value: JsonObject): Uint8Array<ArrayBuffer> {
  for (let number = 0; number < maxMarks; number += 1) {
    const strings: string[] = []
    const mark = `<long string ${number}>`
    const text = JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner !== 'string' || inner.length < longString || notPlain.test(inner)) return inner
      strings.push(inner)
      return mark
    })
    const between = text.split(mark)
    // Otherwise the request itself contains the mark.
    if (between.length === strings.length + 1) return joinedBytes(between, strings)
  }
  return encoder.encode(JSON.stringify(value))
}

/** `between`: the JSON before, between and after the strings. */
function joinedBytes(between: readonly string[], strings: readonly string[]): Uint8Array<ArrayBuffer> {
  const parts = between.map(part => encoder.encode(part))
  const bytes = new Uint8Array(lengthOf(parts) + lengthOf(strings))
  let at = 0
  for (const [index, part] of parts.entries()) {
    bytes.set(part, at)
    at += part.length
    at += encoder.encodeInto(strings[index] ?? '', bytes.subarray(at)).written
  }
  return bytes
}

const lengthOf = (parts: readonly { readonly length: number }[]): number => parts.reduce((sum, { length }) => sum + length, 0)
