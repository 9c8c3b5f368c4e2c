import { hasTooManyItems, isTooComplex, parseBounded } from '@signalbox/dialects/common'
import type { Sink, Source, TransportBody } from '@signalbox/dialects/protocol'
import { answerLimits, append, isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { asSource } from '../runtime/source.ts'

/** Maximum bytes read of a response with an error status. */
export const maxFailureBytes: number = answerLimits.failureBytes

export interface BodyText {
  readonly text: string
  /** The body exceeded the limit: the rest was not read, and the connection was closed. */
  readonly isCut: boolean
}

/** Reads to the end or to the limit. Rejects if the connection breaks. */
export const readBodyText = (body: TransportBody, limit: number): Promise<BodyText> =>
  new Promise((resolve, reject) => {
    const source = asSource(body)
    source.read(collectText(source, limit, { done: resolve, fail: reject }))
  })

interface CollectEvents {
  readonly done: (body: BodyText) => void
  readonly fail: (error: unknown) => void
}

/** Pieces that are joined to one: a provider may send its response byte by byte, and keeping each one would take a hundred bytes. */
const piecesAtOnce = 1_024

/** A sink that collects text. Chunks may come from `source`, or be pushed by hand before it. */
export function collectText(source: Pick<Source<Uint8Array>, 'cancel'>, limit: number, { done, fail }: CollectEvents): Sink<Uint8Array> {
  let pieces: readonly Uint8Array[] = []
  let joined = 0
  let bytes = 0
  return {
    next(piece) {
      if (bytes > limit) return
      pieces = append(pieces, piece)
      bytes += piece.byteLength
      if (pieces.length - joined === piecesAtOnce) {
        pieces = [...pieces.slice(0, joined), joinPieces(pieces.slice(joined))]
        joined += 1
      }
      if (bytes <= limit) return
      source.cancel()
      done({ text: decodeWhole(pieces), isCut: true })
    },
    end() {
      if (bytes <= limit) done({ text: decodeWhole(pieces), isCut: false })
    },
    fail,
  }
}

const bodyDecoder = new TextDecoder()

/** Most responses are one chunk, and decoding the whole is cheaper than a streaming decoder. */
function decodeWhole(pieces: readonly Uint8Array[]): string {
  const [only] = pieces
  return bodyDecoder.decode(only && pieces.length === 1 ? only : joinPieces(pieces))
}

function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((bytes, { byteLength }) => bytes + byteLength, 0))
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.byteLength
  }
  return whole
}

/** Parses a complete JSON response. Returns an error message if it is not a JSON object. */
export function parseAnswer({ text, isCut }: BodyText): JsonObject | string {
  if (isCut) return `The response is larger than ${answerLimits.wholeBytes} bytes.`
  if (text.trim() === '') return 'The response is empty.'
  const value = parseBounded(text)
  if (value !== undefined && hasTooManyItems(value)) return `The response has more than ${answerLimits.items} items.`
  if (value !== undefined) return isObject(value) ? value : 'The response is JSON, but not an object.'
  return isTooComplex(text) ? 'The response is nested too deeply, or has too many values.' : 'The response is not valid JSON.'
}

/** The format of a response, by its first byte that is not white space. Content types are unreliable: streams are labelled as JSON. */
export type AnswerShape = 'json' | 'frames' | 'page' | 'empty'

const shapes: ReadonlyMap<number, AnswerShape> = new Map([
  [0x7b, 'json'],
  [0x5b, 'json'],
  [0x22, 'json'],
  [0x3c, 'page'],
])
/** White space and the bytes of a byte order mark. */
const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])
/** Maximum blank chunks before the response counts as empty. */
const maxBlankPieces = 1_024

const ignoring: Sink<Uint8Array> = { next() {}, end() {}, fail() {} }

/** A sink that detects the format of a response, then has the functions of the sink that `readerOf` returns for it. */
export function detectShape(readerOf: (shape: AnswerShape) => Sink<Uint8Array>): Sink<Uint8Array> {
  let reader: Sink<Uint8Array> | undefined
  let blanks: Uint8Array[] = []
  // Dropped once the format is known: an open stream would keep its request.
  let choose: typeof readerOf | undefined = readerOf
  const decide = (shape: AnswerShape): Sink<Uint8Array> => {
    const chosen = choose?.(shape) ?? ignoring
    choose = undefined
    reader = chosen
    // A source that still has the functions below calls the same reader.
    sink.next = chosen.next.bind(chosen)
    sink.end = chosen.end.bind(chosen)
    sink.fail = chosen.fail.bind(chosen)
    for (const piece of blanks) chosen.next(piece)
    blanks = []
    return chosen
  }
  const sink: Sink<Uint8Array> = {
    next(piece) {
      if (reader !== undefined) return reader.next(piece)
      const first = piece.find(byte => !blank.has(byte))
      if (first !== undefined) decide(shapes.get(first) ?? 'frames').next(piece)
      else if (blanks.push(piece) > maxBlankPieces) decide('empty')
    },
    end: () => (reader ?? decide('empty')).end(),
    fail: error => (reader ?? decide('empty')).fail(error),
  }
  return sink
}
