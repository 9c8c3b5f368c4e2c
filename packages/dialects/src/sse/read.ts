import { createParser } from 'eventsource-parser'
import { answerLimits } from '../protocol/answer-limits.ts'
import type { FrameReader } from '../protocol/dialect.ts'
import { append, type Frame } from '../protocol/wire.ts'

export const maxEventSize: number = answerLimits.eventCharacters
export const maxUnknownLines: number = answerLimits.unknownLines

// `ignoreBOM`: the parser removes a byte-order mark, and only at the start.
const eventDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A parser with the events it has found. Used by one stream at a time. */
interface EventParser {
  readonly feed: (text: string) => void
  /** Forgets the stream before: a byte-order mark is removed only at the start of one. */
  readonly reset: () => void
  frames: readonly Frame[]
  isTooLong: boolean
  /** Counts lines that are no field of an event. Throws beyond the limit, which ends the stream at once. */
  onUnknownLine: () => void
}

/** Parsers that are between two events, and so can be used by any stream. One takes 1 kB, and most reads end with a whole event. */
const idleParsers: EventParser[] = []
const maxIdleParsers = 100

interface ReaderState {
  /** Undefined between two events. */
  parser: EventParser | undefined
  isStarted: boolean
  readonly onUnknownLine: () => void
  /** The beginning of a character. */
  rest: Uint8Array
}

/**
 * Creates a reader that turns bytes into frames. Bytes may be split anywhere, even inside a character or a CRLF. A byte-order mark is
 * removed. A final event that lacks only its closing blank line still counts.
 *
 * @throws {Error} (from `push` and `end`) An event is too long, or too many lines are no field of an event.
 */
export function readFrames(): FrameReader {
  let unknownLines = 0
  const onUnknownLine = (): void => {
    unknownLines += 1
    if (unknownLines > maxUnknownLines) throw new Error(`The stream has more than ${maxUnknownLines} lines that are no field of an event.`)
  }
  const state: ReaderState = { parser: undefined, isStarted: false, onUnknownLine, rest: noBytes }
  return {
    push(bytes) {
      // Decoding only whole characters avoids a stateful decoder, which costs three times as much.
      const whole = state.rest.length > 0 ? concatBytes(state.rest, bytes) : bytes
      const end = wholeCharacters(whole)
      state.rest = end === whole.length ? noBytes : whole.slice(end)
      return parseText(state, eventDecoder.decode(end === whole.length ? whole : whole.subarray(0, end)))
    },
    end: () => parseText(state, `${eventDecoder.decode(state.rest)}\n\n`),
  }
}

function parseText(state: ReaderState, text: string): readonly Frame[] {
  const parser = state.parser ?? idleParsers.pop() ?? createEventParser()
  if (!state.isStarted) parser.reset()
  state.isStarted = true
  state.parser = parser
  parser.onUnknownLine = state.onUnknownLine
  parser.feed(text)
  if (parser.isTooLong) throw new Error(`An event of the stream is longer than ${maxEventSize} characters.`)
  const { frames } = parser
  parser.frames = noFrames
  if (text.endsWith('\n\n') || text.endsWith('\r\n\r\n')) {
    state.parser = undefined
    parser.onUnknownLine = ignored
    if (idleParsers.length < maxIdleParsers) idleParsers.push(parser)
  }
  return frames
}

function createEventParser(): EventParser {
  const { feed, reset } = createParser({
    maxBufferSize: maxEventSize,
    onEvent: message => {
      parser.frames = append(parser.frames, message as Frame)
    },
    onError: error => {
      if (error.type === 'max-buffer-size-exceeded') parser.isTooLong = true
      else parser.onUnknownLine()
    },
  })
  const parser: EventParser = { feed, reset, frames: noFrames, isTooLong: false, onUnknownLine: ignored }
  // After a line it does not look for a byte-order mark.
  feed('\n')
  return parser
}

const ignored = (): void => {}
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
