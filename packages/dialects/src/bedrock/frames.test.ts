import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { type AnswerShape, detectShape } from '../../../core/src/upstream/read-body.ts'
import { errorBytes, event, eventBytes, exceptionBytes, joined, message, streamBytes } from '../../test/bedrock-wire.ts'
import type { Frame } from '../protocol/wire.ts'
import { maxFrameSize, readEventStream } from './frames.ts'

const readAll = (pieces: readonly Uint8Array[]): readonly Frame[] => {
  const reader = readEventStream()
  return [...pieces.flatMap(piece => reader.push(piece)), ...reader.end()]
}

/** The frames that were read, and whether reading failed. */
function readWhatCan(pieces: readonly Uint8Array[]): { readonly frames: readonly Frame[]; readonly broke: boolean } {
  const reader = readEventStream()
  const frames: Frame[] = []
  try {
    for (const piece of pieces) frames.push(...reader.push(piece))
    frames.push(...reader.end())
    return { frames, broke: false }
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    return { frames, broke: true }
  }
}

const split = (bytes: Uint8Array, points: readonly number[]): readonly Uint8Array[] => {
  const edges = [0, ...[...points].sort((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, at) => bytes.subarray(edges[at], end))
}

const hello = event({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Grüße 🚂' } } })
const stop = event({ messageStop: { stopReason: 'end_turn' } })

describe('event stream messages', () => {
  test('have the name of their event, their exception, or `error` for a transport error', () => {
    const thrown: Frame = { event: 'throttlingException', data: '{"message":"Slow down"}' }
    expect(readAll([eventBytes(hello), exceptionBytes(thrown), errorBytes('InternalError', 'Sorry')])).toEqual([
      hello,
      thrown,
      { event: 'error', data: '{"code":"InternalError","message":"Sorry"}' },
    ])
  })

  test('may be empty, as in AWS’ own test vectors', () => {
    expect(readAll([Buffer.from('000000100000000005c248eb7d98c8ff', 'hex')])).toEqual([{ event: '', data: '' }])
  })

  test('may have headers of every type', () => {
    const headers = {
      yes: { type: 'boolean', value: true },
      no: { type: 'boolean', value: false },
      byte: { type: 'byte', value: -3 },
      short: { type: 'short', value: 300 },
      integer: { type: 'integer', value: 70_000 },
      binary: { type: 'binary', value: Uint8Array.of(1, 2, 3) },
      timestamp: { type: 'timestamp', value: new Date(0) },
      uuid: { type: 'uuid', value: '12345678-1234-1234-1234-123456789abc' },
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: 'messageStop' },
    } as const
    expect(readAll([message(headers, '{}')])).toEqual([{ event: 'messageStop', data: '{}' }])
  })

  test('with invalid UTF-8 get replacement characters', () => {
    const [frame] = readAll([message({ ':event-type': { type: 'string', value: 'x' } }, Uint8Array.of(0x61, 0xff, 0x62))])
    expect(frame?.data).toBe('a\ufffdb')
  })

  test('that are cut at the end are not read', () => {
    expect(readAll([eventBytes(hello), eventBytes(stop).subarray(0, 20)])).toEqual([hello])
  })
})

describe('broken event stream messages', () => {
  test('throw for a single wrong bit anywhere', () => {
    const bytes = eventBytes(hello)
    for (let at = 0; at < bytes.length; at += 1) {
      const bent = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte))
      expect(() => readAll([bent]), `byte ${at}`).toThrow(/message/)
    }
  })

  test('throw after the complete messages before them', () => {
    const reader = readEventStream()
    expect(reader.push(joined([eventBytes(hello), new Uint8Array(16)]))).toEqual([hello])
    expect(() => reader.push(eventBytes(stop))).toThrow(/checksum/)
    expect(() => reader.end()).toThrow(/checksum/)
  })

  test('of 5 MiB are refused by their length prefix, and those of 3 MiB are read', () => {
    const large = event({ contentBlockDelta: { delta: { text: 'x'.repeat(3 * 1024 * 1024) } } })
    expect(readAll([eventBytes(large)])).toEqual([large])
    const tooLarge = eventBytes(event({ contentBlockDelta: { delta: { text: 'x'.repeat(5 * 1024 * 1024) } } }))
    expect(() => readEventStream().push(tooLarge.subarray(0, 12))).toThrow(`longer than ${maxFrameSize} bytes`)
  })

  test('that are no event stream throw with their first bytes', () => {
    expect(() => readAll([new TextEncoder().encode('data: {"text":"hello"}\n\n')])).toThrow()
  })

  test('give the same result however the bytes are split', () => {
    const whole = streamBytes([hello, stop])
    const bent = fc
      .record({ at: fc.nat(whole.length - 1), to: fc.nat(255), keep: fc.nat(whole.length) })
      .map(({ at, to, keep }) => Uint8Array.from(whole, (byte, index) => (index === at ? to : byte)).subarray(0, keep))
    fc.assert(
      fc.property(fc.oneof(bent, fc.uint8Array({ maxLength: 200 })), fc.array(fc.nat(300), { maxLength: 6 }), (bytes, points) => {
        const inside = points.filter(point => point < bytes.length)
        expect(readWhatCan(split(bytes, inside))).toEqual(readWhatCan([bytes]))
      }),
      { numRuns: inject('isLongRun') ? 2_000 : 200 },
    )
  })
})

test('the first byte distinguishes an event stream from JSON and HTML', () => {
  const shapes: AnswerShape[] = []
  const pushed: Uint8Array[] = []
  const reader = detectShape(shape => {
    shapes.push(shape)
    return { next: bytes => void pushed.push(bytes), end: () => {}, fail: () => {} }
  })
  reader.next(eventBytes(hello))
  expect([shapes, pushed]).toEqual([['frames'], [eventBytes(hello)]])
})
