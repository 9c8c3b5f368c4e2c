import type { Sink, Source, Transport } from '@signalbox/dialects/protocol'
import { type Speech, speeches, streamType } from '../fake-content.ts'
import { askedIn } from '../requests.ts'

/** A provider without sockets. */
export interface PieceTransport {
  readonly transport: Transport
  /** Sets the number of deltas of streams opened from now on. */
  setDeltas(deltas: number): void
}

const upstream = 'http://provider.test'
const streamHeaders = (type: string): Readonly<Record<string, string>> => ({ 'content-type': type })

/** Responds like the fake provider of the benchmark; each piece of a stream comes in its own turn of the event loop. */
export function pieceTransport(): PieceTransport & { readonly upstream: string } {
  const wholes = new Map<Speech, Uint8Array>()
  const streams = new Map<Speech, readonly Uint8Array[]>()
  let deltas = 100

  const piecesOf = (speech: Speech, stream: boolean): readonly Uint8Array[] => {
    if (stream) return kept(streams, speech, () => streamOf(speech, deltas))
    return [kept(wholes, speech, () => Buffer.from(speech.whole))]
  }
  const transport: Transport = async ({ url, body = '' }) => {
    const asked = askedIn(url.slice(upstream.length), body)
    if (asked === undefined) throw new Error(`Nothing answers at ${url}.`)
    const speech = speeches[asked.dialect]
    const pieces = piecesOf(speech, asked.stream)
    const headers = streamHeaders(asked.stream ? streamType : 'application/json')
    return { status: 200, header: name => headers[name], body: pushed(pieces) }
  }
  return {
    upstream,
    transport,
    setDeltas(count) {
      deltas = count
      streams.clear()
    },
  }
}

function pushed(pieces: readonly Uint8Array[]): Source<Uint8Array> {
  let sink: Sink<Uint8Array> | undefined
  let isPaused = false
  let at = 0
  const push = (): void => {
    if (isPaused || sink === undefined) return
    const piece = pieces[at]
    at += 1
    if (piece === undefined) {
      sink.end()
      return
    }
    sink.next(piece)
    setImmediate(push)
  }
  return {
    read(reader) {
      sink = reader
      setImmediate(push)
    },
    pause: () => {
      isPaused = true
    },
    resume: () => {
      if (isPaused) setImmediate(push)
      isPaused = false
    },
    cancel: () => {
      sink = undefined
    },
  }
}

const streamOf = ({ head, delta, tail }: Speech, deltas: number): readonly Uint8Array[] => [
  head,
  ...Array.from({ length: deltas }, (_, index) => delta(` word${index}`)),
  tail,
]

function kept<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}
