import type { JsonObject } from '@signalbox/dialects/protocol'

/** Strings of at least this many characters are not copied into the JSON text. */
const longString = 65_536
/** A character that JSON escapes, or that takes several bytes. */
const notPlain = /[^ !#-[\]-~]/

/** Stands for a long string in the JSON text. */
const mark = 'signalbox:long-string'

const encoder = new TextEncoder()

/**
 * The bytes of `JSON.stringify(value)`. Long plain strings, such as the data of images, are encoded directly to their place, because the
 * JSON text and what it is made of would be two more copies of them.
 */
export function encodeLargeJson(value: JsonObject): Uint8Array<ArrayBuffer> {
  const strings: string[] = []
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'string' || inner.length < longString || notPlain.test(inner)) return inner
    strings.push(inner)
    return mark
  })
  const parts = text.split(`"${mark}"`)
  // A field or a text of the value itself may equal the mark.
  if (parts.length !== strings.length + 1) return encoder.encode(JSON.stringify(value))
  const between = parts.map((part, index) => encoder.encode(`${index > 0 ? '"' : ''}${part}${index < strings.length ? '"' : ''}`))
  const size = between.reduce((sum, part) => sum + part.length, 0) + strings.reduce((sum, each) => sum + each.length, 0)
  const bytes = new Uint8Array(size)
  let at = 0
  for (const [index, part] of between.entries()) {
    bytes.set(part, at)
    at += part.length
    at += encoder.encodeInto(strings[index] ?? '', bytes.subarray(at)).written
  }
  return bytes
}
