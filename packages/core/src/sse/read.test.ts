import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxEventSize, readFrames } from './read.ts'
import { writeFrames } from './write.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const readAll = (pieces: readonly Uint8Array[]): unknown => {
  const reader = readFrames()
  return [...pieces.flatMap(piece => reader.push(piece)), ...reader.end()]
}

const stream = 'event: a\ndata: {"x":"é 🚂"}\n\n: note\ndata:1\ndata:2\n\nid: 7\nretry: 10\ndata: last\n\n'
const frames = [{ event: 'a', data: '{"x":"é 🚂"}' }, { data: '1\n2' }, { data: 'last' }]

test.each([
  ['LF', stream],
  ['CRLF', stream.replaceAll('\n', '\r\n')],
  ['CR', stream.replaceAll('\n', '\r')],
  ['a byte-order mark', `\uFEFF${stream}`],
  ['no blank line at the end', stream.slice(0, -1)],
  ['no line end at the end', stream.slice(0, -2)],
])('a stream with %s gives the same frames, however its bytes are cut', (_, text) => {
  const whole = bytes(text)
  for (let cut = 0; cut <= whole.length; cut += 1) expect(readAll([whole.slice(0, cut), whole.slice(cut)])).toEqual(frames)
  expect(readAll([...whole].map(byte => Uint8Array.of(byte)))).toEqual(frames)
})

test('what is written can be read back, whatever the text holds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ event: fc.constantFrom('a', 'response.created'), data: fc.jsonValue().map(value => JSON.stringify(value)) })),
      list => {
        expect(readAll([bytes(writeFrames(list))])).toEqual(list)
      },
    ),
  )
})

test('bytes that are no UTF-8 become replacement characters, never an exception', () => {
  expect(readAll([bytes('data: a'), Uint8Array.of(0xff, 0xc3), bytes('b\n\n')])).toEqual([{ data: 'a\uFFFD\uFFFDb' }])
})

test('an event longer than the limit is refused before it fills the memory', () => {
  const reader = readFrames()
  const block = bytes('x'.repeat(1024 * 1024))
  reader.push(bytes('data: '))
  expect(() => {
    for (let at = 0; at <= maxEventSize / block.length; at += 1) reader.push(block)
  }).toThrow(/longer than/)
})
