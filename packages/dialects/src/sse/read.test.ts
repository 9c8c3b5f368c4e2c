import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Frame } from '../protocol/wire.ts'
import { maxEventSize, maxUnknownLines, readFrames } from './read.ts'
import { writeFrames } from './write.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const readAll = (pieces: readonly Uint8Array[]): unknown => {
  const reader = readFrames()
  const read = [...pieces.flatMap(piece => reader.push(piece)), ...reader.end()]
  return read.map(({ event, data }) => ({ event, data }))
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
])('a stream with %s gives the same frames, however its bytes are split', (_, text) => {
  const whole = bytes(text)
  for (let cut = 0; cut <= whole.length; cut += 1) expect(readAll([whole.slice(0, cut), whole.slice(cut)])).toEqual(frames)
  expect(readAll([...whole].map(byte => Uint8Array.of(byte)))).toEqual(frames)
})

/** Splits a text between every two bytes, and into single bytes. */
function everyCut(text: string): readonly (readonly Uint8Array[])[] {
  const whole = bytes(text)
  const places = Array.from({ length: whole.length + 1 }, (_, at) => at)
  return [...places.map(at => [whole.slice(0, at), whole.slice(at)]), [...whole].map(byte => Uint8Array.of(byte))]
}

test.each([
  ['the first letters of three bytes, U+0800', '\u0800\u0800a'],
  ['the last of the lead byte E0, U+0FFF', '\u0FFF\u0FFFa'],
  ['Thai and Hindi', 'สวัสดี नमस्ते'],
  ['Chinese, U+4E2D', '\u4E2D文\u4E2D'],
  ['the replacement character itself, U+FFFD', '\uFFFDa\uFFFD'],
  ['the first letters of four bytes, U+10000', '\u{10000}\u{10000}a'],
  ['letters of one, two, three and four bytes in turn', 'aé\u0800\u{10FFFF}\u07FF\uFFFFz'],
])('a character is never broken, wherever its bytes are split: %s', (_, text) => {
  for (const pieces of everyCut(`data: ${text}\n\n`)) expect(readAll(pieces)).toEqual([{ data: text }])
})

test('no character of any script is broken, however the bytes are split', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map(text => text.replaceAll(/[\r\n]/g, ''))
  fc.assert(
    fc.property(line, text => {
      for (const pieces of everyCut(`data: ${text}\n\n`)) expect(readAll(pieces)).toEqual([{ data: text }])
    }),
  )
})

test('unknown fields, and lines without a name, are ignored', () => {
  const text = 'event: a\nnote: x\ndata: 1\nnote\n\nretry: soon\nid: \u0000\n\nrandom words\n\ndata: 2\n\n'
  for (const pieces of everyCut(text)) expect(readAll(pieces)).toEqual([{ event: 'a', data: '1' }, { data: '2' }])
})

test('written frames can be read back, whatever their text contains', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ event: fc.constantFrom('a', 'response.created'), data: fc.jsonValue().map(value => JSON.stringify(value)) })),
      list => {
        expect(readAll([bytes(writeFrames(list))])).toEqual(list)
      },
    ),
  )
})

test('bytes that are not UTF-8 become replacement characters, never an exception', () => {
  expect(readAll([bytes('data: a'), Uint8Array.of(0xff, 0xc3), bytes('b\n\n')])).toEqual([{ data: 'a\uFFFD\uFFFDb' }])
})

test('streams that are read by turns do not mix, though a parser serves another stream between two events', () => {
  const readers = Array.from({ length: 3 }, () => readFrames())
  const pieces = ['data: 1\n\ndata: 2', '\n\n', 'event: a\n', 'data: 3\n\n', 'data: 4\r\n\r\n', 'data: 5']
  const read = readers.map((): unknown[] => [])
  for (const piece of pieces) for (const [at, reader] of readers.entries()) read[at]?.push(...reader.push(bytes(piece)))
  for (const [at, reader] of readers.entries()) read[at]?.push(...reader.end())
  const whole = readAll([bytes(pieces.join(''))])
  for (const frames of read) expect(frames).toMatchObject(whole as object)
})

test('a stream gives the frames that a parser of its own would give, whatever is read between its pieces', () => {
  const token = fc.constantFrom(
    'data: 1',
    'data:',
    'event: a',
    'id: 7',
    ': note',
    'x',
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    '\r\n\r\n',
    '\uFEFF',
    'é',
  )
  const piece = fc.array(token, { maxLength: 6 }).map(tokens => tokens.join(''))
  const expected = (text: string): unknown => {
    const found: unknown[] = []
    createParser({ onEvent: ({ event, data }) => void found.push({ event, data }) }).feed(`${text}\n\n`)
    return found
  }
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 2 }), piece), { maxLength: 30 }), pieces => {
      const readers = [0, 1, 2].map(() => ({ reader: readFrames(), read: [] as Frame[], text: '' }))
      for (const [at, text] of pieces) {
        const one = readers[at]
        one?.read.push(...one.reader.push(bytes(text)))
        if (one) one.text += text
      }
      for (const { reader, read, text } of readers)
        expect([...read, ...reader.end()].map(({ event, data }) => ({ event, data }))).toEqual(expected(text))
    }),
    { numRuns: 2_000 },
  )
})

test('a byte-order mark is removed at the start of every stream, and nowhere else', () => {
  for (let round = 0; round < 3; round += 1) {
    expect(readAll([bytes('\uFEFFdata: 1\n\n'), bytes('\uFEFFdata: 2\n\n'), bytes('data: 3\n\n')])).toEqual([{ data: '1' }, { data: '3' }])
    readFrames().push(bytes('\uFEFFdata: an event without its end'))
  }
})

test('an event longer than the limit is refused before it fills the memory', () => {
  const reader = readFrames()
  const block = bytes('x'.repeat(1024 * 1024))
  reader.push(bytes('data: '))
  expect(() => {
    for (let at = 0; at <= maxEventSize / block.length; at += 1) reader.push(block)
  }).toThrow(/longer than/)
})

test.each(['a:b\n', 'a\n', 'retry: soon\n'])('more lines than the limit that are no field of an event end a stream: %j', line => {
  const reader = readFrames()
  const lines = (count: number): Uint8Array => bytes(line.repeat(count))
  reader.push(lines(maxUnknownLines - 1))
  expect(reader.push(bytes(`data: 1\n${line}\n`))).toMatchObject([{ data: '1' }])
  expect(() => reader.push(lines(1))).toThrow(`more than ${maxUnknownLines} lines`)
  expect(readAll([lines(maxUnknownLines), bytes('data: 2\n\n')])).toEqual([{ data: '2' }])
})
