import type { JsonObject } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { encodeLargeJson } from './encode-large-json.ts'

const utf8 = (value: JsonObject): string => new TextDecoder().decode(encodeLargeJson(value))
const long = fc.constantFrom('A', '+/9=', '"', '\\', '\n', 'é', '😀', '\ud800', ' ').map(piece => piece.repeat(70_000))
const text = fc.oneof({ weight: 4, arbitrary: fc.string({ unit: anyCharacter }) }, { weight: 1, arbitrary: long })
const value = fc.letrec<{ readonly value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.double(),
    fc.constantFrom(null, true, undefined),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
  ),
})).value

test('large JSON has the same bytes as the text of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { maxKeys: 4 }), body => {
      expect(utf8(body as JsonObject)).toBe(new TextDecoder().decode(new TextEncoder().encode(JSON.stringify(body))))
    }),
    { numRuns: 200 },
  )
})

test('a value that contains the mark of long strings is encoded unchanged', () => {
  const mark = 'signalbox:long-string'
  for (const odd of [{ text: mark }, { [mark]: 1 }, { text: `"${mark}"` }]) {
    const body = { ...odd, long: 'a'.repeat(100_000) }
    expect(utf8(body as JsonObject)).toBe(JSON.stringify(body))
  }
})

test('several long strings keep their places', () => {
  const [a, b] = ['a'.repeat(100_000), 'b'.repeat(200_000)]
  const body = { first: a, list: [b, { again: a }], last: 'é' }
  expect(utf8(body)).toBe(JSON.stringify(body))
})
