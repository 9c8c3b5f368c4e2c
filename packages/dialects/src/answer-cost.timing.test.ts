import { describe, expect, inject, test } from 'vitest'
import { OutputCutter } from '../../core/src/request/response/output-cutter.ts'
import { summaryRewriter, watchCalls } from '../../core/src/request/response/response-pipeline.ts'
import { streamBytes } from '../test/bedrock-wire.ts'
import { type BigAnswer, bigAnswers, frameOf } from '../test/big-answers.ts'
import { metadataOf } from '../test/laws.ts'
import { readEventStream } from './bedrock/frames.ts'
import { chatProvider } from './chat/provider.ts'
import { clientDialects } from './index.ts'
import type { FrameReader, ProviderDialect } from './protocol/dialect.ts'
import type { InferenceEvent } from './protocol/event.ts'
import { startFold, unfold } from './protocol/fold.ts'
import type { InferenceRequest, Prompt } from './protocol/request.ts'
import type { InferenceResponse } from './protocol/response.ts'
import type { Frame, JsonObject } from './protocol/wire.ts'
import { providerDialects } from './providers.ts'
import { readFrames } from './sse/read.ts'

// The cost of processing a response must grow linearly: eight times the response is about eight times the work.

const prompt: Prompt = {
  input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  tools: [{ type: 'function', name: 'f', parameters: {} }],
  reasoning: { summary: 'auto' },
}
const request: InferenceRequest = { prompt, routing: { models: ['model'], allow_fallbacks: true }, delivery: 'stream' }

/** As many events as one read from a busy connection contains. */
const batchSize = 16

type Batch = readonly InferenceEvent[]

/** Everything a response passes through between its decoder and the client, folded into a whole response. */
function watched(batches: Iterable<Batch>): InferenceResponse {
  const cutter = new OutputCutter(1_000_000, { onCut: () => {}, close: () => [] })
  const calls = watchCalls(prompt)
  const retell = summaryRewriter(prompt, chatProvider)
  const folding = startFold()
  for (const batch of batches) {
    const kept = cutter.cut(batch)
    calls?.look(kept)
    for (const event of retell ? retell.batch(kept) : kept) folding.add(event)
  }
  return folding.response()
}

function* streamed(dialect: ProviderDialect, frames: readonly Frame[]): Generator<Batch> {
  const decoder = dialect.decodeEvents()
  for (let at = 0; at < frames.length; at += batchSize) yield decoder.read(frames.slice(at, at + batchSize))
  yield decoder.end()
}

/** The response encoded for clients of every dialect, streamed and whole. */
function encodedForClients(batches: readonly Batch[], response: InferenceResponse): void {
  const metadata = metadataOf()
  for (const { encodeEvents, encodeResponse } of Object.values(clientDialects)) {
    const encoder = encodeEvents(request, () => metadata)
    for (const batch of batches) encoder.write(batch)
    JSON.stringify(encodeResponse(response, request, metadata))
  }
}

/** CPU time in milliseconds. */
function costOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Sizes to compare: n and 8n. Writing costs more than reading. */
const counts = inject('isLongRun')
  ? ({ read: [1_000, 8_000], written: [400, 3_200], bytes: [3_000, 24_000], messages: [300, 2_400] } as const)
  : ({ read: [400, 3_200], written: [150, 1_200], bytes: [1_500, 12_000], messages: [100, 800] } as const)
/** Linear code gives 8, quadratic code up to 64; the rest is noise of a busy machine. */
const maxRatio = 24
/** Shorter measurements are meaningless. */
const minMs = 40
const maxTries = 8

/** Uses the fastest of several runs for each size, because interference only makes a run slower. */
function ratioOf([few, many]: readonly [number, number], prepare: (n: number) => () => void): number {
  let small = Number.POSITIVE_INFINITY
  let large = Number.POSITIVE_INFINITY
  const ratio = (): number => (large < minMs ? 1 : large / Math.max(small, minMs / maxRatio))
  for (let tries = 0; tries < maxTries && !(ratio() <= maxRatio); tries += 1) {
    small = Math.min(small, costOf(prepare(few)))
    large = Math.min(large, costOf(prepare(many)))
  }
  return ratio()
}

type Delivery = 'stream' | 'whole'

function batchesOf({ dialect: name, stream, whole }: BigAnswer, delivery: Delivery, n: number): () => Iterable<Batch> {
  const dialect = providerDialects[name]
  if (!dialect) throw new Error(`There is no dialect "${name}".`)
  if (delivery === 'stream') {
    const frames = (stream?.(n) ?? []).map(frameOf)
    return () => streamed(dialect, frames)
  }
  const body = JSON.parse(JSON.stringify(whole?.(n))) as JsonObject
  return () => [unfold(dialect.decodeResponse(body))]
}

/** A third of the answers in the default run, of every dialect: encoding depends less on how a provider wrote them. All others are decoded. */
const encoded = bigAnswers.filter((_, at) => inject('isLongRun') || at % 3 === 0)
const decoded = bigAnswers.filter(answer => inject('isLongRun') || !encoded.includes(answer))

/** The default run tries only the first. */
const deliveries = (answer: BigAnswer): readonly Delivery[] =>
  (['stream', 'whole'] as const).filter(delivery => answer[delivery]).slice(0, inject('isLongRun') ? undefined : 1)

describe.each(bigAnswers.map(answer => [answer.dialect, answer] as const))('%s', (_, answer) => {
  test.each(decoded.includes(answer) ? deliveries(answer) : [])(
    `decoding eight times as many ${answer.name} in one response (%s) takes about eight times as long`,
    delivery => {
      const ratio = ratioOf(counts.read, n => {
        const batches = batchesOf(answer, delivery, n)
        return () => void watched(batches())
      })
      expect(ratio).toBeLessThan(maxRatio)
    },
  )

  test.each(encoded.includes(answer) ? deliveries(answer) : [])(
    `encoding eight times as many ${answer.name} for a client takes about eight times as long (%s)`,
    delivery => {
      const ratio = ratioOf(counts.written, n => {
        const batches = [...batchesOf(answer, delivery, n)()]
        const response = watched(batches)
        return () => encodedForClients(batches, response)
      })
      expect(ratio).toBeLessThan(maxRatio)
    },
  )
})

/** Streams that are hard to split into frames. */
const hardBytes: Readonly<Record<string, (n: number) => Uint8Array>> = {
  'one line that never ends': n => utf8.encode(`data: ${'x'.repeat(n)}`),
  'one event of many lines': n => utf8.encode(`${'data: x\n'.repeat(n)}\n`),
  'one event of many lines that end in CR': n => utf8.encode(`${'data: x\r'.repeat(n)}\r`),
  'lines that end in LF, and one CR behind them all': n => utf8.encode(`${'data: x\n\n'.repeat(n)}\r`),
  comments: n => utf8.encode(': x\n\n'.repeat(n)),
  'letters of three bytes': n => utf8.encode(`data: ${'中'.repeat(n)}`),
}
const utf8 = new TextEncoder()
const inOne = (bytes: Uint8Array): readonly Uint8Array[] => [bytes]
const byteByByte = (bytes: Uint8Array): readonly Uint8Array[] => Array.from(bytes, byte => Uint8Array.of(byte))

function framed(reader: FrameReader, pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) reader.push(piece)
  reader.end()
}

describe.each([
  ['in one piece', inOne],
  ['byte by byte', byteByByte],
] as const)('bytes of a stream that come %s', (_, cut) => {
  test.each(Object.entries(hardBytes))('eight times as many take about eight times as long to split: %s', (__, make) => {
    const ratio = ratioOf(counts.bytes, n => {
      const pieces = cut(make(n))
      return () => framed(readFrames(), pieces)
    })
    expect(ratio).toBeLessThan(maxRatio)
  })

  test('eight times as many AWS messages, or one eight times as long, take about eight times as long to split', () => {
    const many = ratioOf(counts.messages, n => {
      const pieces = cut(streamBytes(Array.from({ length: n }, () => ({ event: 'metadata', data: '{}' }))))
      return () => framed(readEventStream(), pieces)
    })
    const long = ratioOf(counts.bytes, n => {
      const pieces = cut(streamBytes([{ event: 'metadata', data: `{"x":"${'x'.repeat(n)}"}` }]))
      return () => framed(readEventStream(), pieces)
    })
    expect([many < maxRatio, long < maxRatio]).toEqual([true, true])
  })
})
