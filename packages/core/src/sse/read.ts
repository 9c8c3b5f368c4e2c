import { createParser } from 'eventsource-parser'
import { answerLimits } from '../protocol/answer-limits.ts'
import type { FrameReader } from '../protocol/dialect.ts'
import { append, type Frame } from '../protocol/wire.ts'

export const maxEventSize: number = answerLimits.eventCharacters

// `ignoreBOM`: the parser removes a byte-order mark, and only at the start.
const eventDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Creates a reader that turns bytes into frames. Bytes may be split anywhere, even inside a character or a CRLF. A byte-order mark is
 * removed. A final event that lacks only its closing blank line still counts.
 */
export function readFrames(): FrameReader {
  let frames = noFrames
  let tooLong = false
  const parser = createParser({
    maxBufferSize: maxEventSize,
    onEvent: message => {
      frames = append(frames, message as Frame)
    },
    onError: error => {
      if (error.type === 'max-buffer-size-exceeded') tooLong = true
    },
  })
  const take = (): readonly Frame[] => {
    if (tooLong) throw new Error(`An event of the stream is longer than ${maxEventSize} characters.`)
    const taken = frames
    frames = noFrames
    return taken
  }
  let rest: Uint8Array = noBytes
  return {
    push(bytes) {
      // Decoding only whole characters avoids a stateful decoder, which costs three times as much.
      const whole = rest.length > 0 ? concatBytes(rest, bytes) : bytes
      const end = wholeCharacters(whole)
      rest = end === whole.length ? noBytes : whole.slice(end)
      parser.feed(eventDecoder.decode(end === whole.length ? whole : whole.subarray(0, end)))
      return take()
    },
    end() {
      parser.feed(`${eventDecoder.decode(rest)}\n\n`)
      return take()
    },
  }
}

const noFrames: readonly Frame[] = []
const noBytes = new Uint8Array(0)

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

/** The length without an incomplete character (at most 3 bytes) at the end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    // A leading byte states how many bytes the character has.
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return size > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}
