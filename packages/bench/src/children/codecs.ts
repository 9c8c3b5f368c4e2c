import { clientDialects, providerDialects } from '@signalbox/dialects'
import type { Frame, InferenceEvent, ProviderDialect, ResponseMetadata } from '@signalbox/dialects/protocol'
import type { Dialect } from '../dialects.ts'
import { speeches } from '../fake-content.ts'
import { serve } from '../ipc.ts'
import { medianOf } from '../numbers.ts'
import { bodyOf } from '../requests.ts'

/**
 * Measures decoders of provider streams and encoders of client streams without sockets: a decoder reads a stream of `count` deltas, an
 * encoder writes one, `atOnce` deltas together. Next to each is the minimum that has to be created.
 */
export type CodecVerbs = {
  /** Bytes → frames, for dialects with their own reader. */
  reader: (input: { readonly dialect: Dialect }) => CodecCost | undefined
  decoder: (input: { readonly dialect: Dialect }) => CodecCost
  encoder: (input: { readonly dialect: Dialect }) => CodecCost
}

/** Per delta. */
export interface Cost {
  /** Bytes of the heap. */
  readonly bytes: number
  readonly ns: number
}

export interface CodecCost {
  readonly ours: Cost
  /** For a reader: the frame. For a decoder: its parsed JSON and the event. For an encoder: the frame with the text as JSON. */
  readonly least: Cost
}

const count = 1_000
const atOnce = 10
const rounds = 40
const warmth = 2_000

const batchesOf = <T>(list: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: list.length / atOnce }, (_, at) => list.slice(at * atOnce, (at + 1) * atOnce))

/** `prepare` is not measured; the function it returns is called once, and processes all deltas. */
function costOf(prepare: () => () => void): Cost {
  for (let round = 0; round < warmth; round += 1) prepare()()
  const found = Array.from({ length: rounds }, () => {
    const run = prepare()
    // The young generation holds all of a round, so nothing is collected before it is counted. A full collection would discard compiled
    // code.
    globalThis.gc?.({ type: 'minor', execution: 'sync' })
    const before = process.memoryUsage().heapUsed
    const began = process.hrtime.bigint()
    run()
    const ns = Number(process.hrtime.bigint() - began)
    return { bytes: process.memoryUsage().heapUsed - before, ns }
  })
  return { bytes: medianOf(found.map(({ bytes }) => bytes)) / count, ns: medianOf(found.map(({ ns }) => ns)) / count }
}

/** Keeps the latest results, so that the optimizer cannot remove the work. */
const held: { latest: unknown; parsed: unknown } = { latest: undefined, parsed: undefined }

interface Stream {
  readonly head: readonly Frame[]
  /** Bytes and frames of `atOnce` deltas each. */
  readonly bytes: readonly Uint8Array[]
  readonly frames: readonly (readonly Frame[])[]
}

function streamOf(dialect: Dialect, { frames: openReader }: ProviderDialect): Stream {
  const { head, delta } = speeches[dialect]
  const framesIn = (bytes: Uint8Array): readonly Frame[] => openReader?.().push(bytes) ?? sseFrames(Buffer.from(bytes).toString())
  const bytes = batchesOf(Array.from({ length: count }, (_, at) => delta(` word number ${at}`))).map(each => Buffer.concat(each))
  return { head: framesIn(head), bytes, frames: bytes.map(framesIn) }
}

const sseFrames = (text: string): readonly Frame[] =>
  text.split('\n\n').flatMap((block): readonly Frame[] => {
    const [, event, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(block) ?? []
    return data === undefined ? [] : [event === undefined ? { data } : { event, data }]
  })

function half<T>(name: Dialect, among: Readonly<Record<string, T>>): T {
  const found = among[name]
  if (found === undefined) throw new Error(`No dialect has a half of "${name}".`)
  return found
}

const metadata: ResponseMetadata = {
  id: 'resp_68a1f0c2d4e5',
  model: 'bench',
  created_at: 1_770_000_000,
  itemId: prefix => `${prefix}_68a1f0c2d4e6`,
  warnings: [],
}

const textOf = (event: InferenceEvent): string => (event.type === 'delta' && event.delta.kind === 'text' ? event.delta.text : '')

serve({
  reader({ dialect }) {
    const codec = half(dialect, providerDialects)
    if (codec.frames === undefined) return undefined
    const { bytes, frames } = streamOf(dialect, codec)
    const ours = costOf(() => {
      const reader = codec.frames?.()
      return () => {
        for (const piece of bytes) held.latest = reader?.push(piece)
      }
    })
    const texts = frames.map(some => Buffer.from(some.map(({ data }) => data).join('')))
    const decoder = new TextDecoder()
    const least = costOf(() => () => {
      for (const [at, some] of frames.entries()) {
        let from = 0
        held.latest = some.map(({ data }): Frame => {
          const frame = { event: 'delta', data: decoder.decode(texts[at]?.subarray(from, from + data.length)) }
          from += data.length
          return frame
        })
      }
    })
    return { ours, least }
  },
  decoder({ dialect }) {
    const codec = half(dialect, providerDialects)
    const { head, frames } = streamOf(dialect, codec)
    const ours = costOf(() => {
      const decoder = codec.decodeEvents()
      decoder.read(head)
      return () => {
        for (const some of frames) held.latest = decoder.read(some)
      }
    })
    const leastFact = ({ data }: Frame): InferenceEvent => {
      held.parsed = JSON.parse(data)
      return { type: 'delta', index: 0, delta: { kind: 'text', part: 0, text: data } }
    }
    const least = costOf(() => () => {
      for (const some of frames) held.latest = some.map(leastFact)
    })
    return { ours, least }
  },
  encoder({ dialect }) {
    const codec = half(dialect, clientDialects)
    const request = codec.decodeRequest(JSON.parse(bodyOf({ dialect, model: 'bench', stream: true })))
    const maker = half('messages', providerDialects)
    const { head, frames } = streamOf('messages', maker)
    const decoder = maker.decodeEvents()
    const [announced, ...events] = [head, ...frames].map(some => decoder.read(some))
    const ours = costOf(() => {
      const encoder = codec.encodeEvents(request, () => metadata)
      encoder.write(announced ?? [])
      return () => {
        for (const some of events) held.latest = encoder.write(some)
      }
    })
    const before = JSON.stringify({ id: metadata.id, of: 'x'.repeat(100) })
    const leastFrame = (event: InferenceEvent): Frame => ({ event: 'delta', data: `${before}${JSON.stringify(textOf(event))}}` })
    const least = costOf(() => () => {
      for (const some of events) held.latest = some.map(leastFrame)
    })
    return { ours, least }
  },
} satisfies CodecVerbs)
