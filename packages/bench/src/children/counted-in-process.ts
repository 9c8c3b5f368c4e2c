import { type ApiRequest, createApi } from '@signalbox/api'
import { asSource } from '@signalbox/core/runtime'
import type { Source, TransportBody } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { openBenchGateway } from '../bench-gateway.ts'
import { allocatedBy, type Counts, heapAfterYoungCollections, leastOf, makeInstruments, settled } from '../counts/instruments.ts'
import { pieceTransport } from '../counts/piece-transport.ts'
import type { Dialect } from '../dialects.ts'
import { serve } from '../ipc.ts'
import { bodyOf, pathOf } from '../requests.ts'

/** The gateway as a function, with a provider without sockets, so that only the gateway's own work is counted. */
export interface CountedRequest {
  readonly client: Dialect
  readonly provider: Dialect
  /** Deltas of a streamed response; 0 requests a whole one. */
  readonly deltas: number
}

/** What a request takes of V8's heap. */
export interface TakenBytes {
  /** Without those of the client and the provider. */
  readonly bytes: number
  /** Those that survive young-generation collections after the request: mostly its usage row and its ledger entry. */
  readonly keptBytes: number
}

export type InProcessVerbs = {
  count: (request: CountedRequest) => Promise<Counts>
  weigh: (request: CountedRequest) => Promise<TakenBytes>
}

const { transport, setDeltas, upstream } = pieceTransport()
const { gateway, authorization } = await openBenchGateway({ upstream, storage: memoryStorage(), transport, isRepeatable: true })
const api = createApi(gateway, { onRequest: () => {} })
const instruments = makeInstruments()

/** Handles a request: the gateway, or the provider directly. */
type Answer = (request: ApiRequest) => Promise<{ readonly status: number; readonly body: string | TransportBody | Source<string> }>

serve({
  async count(asked) {
    const { request } = prepare(asked)
    // The first requests fill caches.
    for (let at = 0; at < 50; at += 1) await run(api, request())
    await settled()
    const counts: Counts[] = []
    for (let round = 0; round < 3; round += 1) {
      instruments.start()
      await run(api, request())
      await settled()
      counts.push(instruments.stop())
    }
    return leastOf(counts)
  },
  async weigh(asked) {
    const { request, direct, stream } = prepare(asked)
    const through = await bytesOf(() => run(api, request()), stream)
    const bytes = through - (await bytesOf(() => run(withoutGateway, direct()), stream))
    return { bytes, keptBytes: await keptBytesOf(() => run(api, request())) }
  },
} satisfies InProcessVerbs)

/** The request to the gateway, and the one that it sends to the provider. */
function prepare({ client, provider, deltas }: CountedRequest) {
  setDeltas(deltas)
  const stream = deltas > 0
  return {
    stream,
    request: requestOf({ dialect: client, model: `${provider}/bench`, stream }),
    direct: requestOf({ dialect: provider, model: 'bench', stream }),
  }
}

/**
 * Bytes that one run allocates: the minimum of three groups without a collection, after the code was optimized as in a server that has
 * served for a few seconds. Code that is interpreted allocates a tenth more.
 */
async function bytesOf(once: () => Promise<void>, stream: boolean): Promise<number> {
  const repeat = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at += 1) await once()
    await settled()
  }
  await repeat(stream ? 800 : 2_000)
  const times = stream ? 15 : 100
  const groups: number[] = []
  for (let tries = 0; groups.length < 3 && tries < 10; tries += 1) {
    const bytes = await allocatedBy(() => repeat(times))
    if (bytes !== undefined) groups.push(bytes / times)
  }
  return Math.min(...groups)
}

/**
 * Bytes of one request that survive young-generation collections. 32 requests run at once, because one request may be kept alive by a table
 * that another one grew.
 */
async function keptBytesOf(once: () => Promise<void>): Promise<number> {
  const rounds = 10
  const atOnce = 32
  const heapAfterRound = async (): Promise<number> => {
    await Promise.all(Array.from({ length: atOnce }, once))
    return heapAfterYoungCollections()
  }
  globalThis.gc?.()
  const before = await heapAfterRound()
  let after = before
  for (let at = 0; at < rounds; at += 1) after = await heapAfterRound()
  return (after - before) / rounds / atOnce
}

/** Repeats the same request. */
function requestOf(asked: Parameters<typeof pathOf>[0]): () => ApiRequest {
  const [path = '', query = ''] = pathOf(asked).split('?')
  const body = bodyOf(asked)
  const headers: Readonly<Record<string, string>> = { authorization, 'content-type': 'application/json' }
  const { signal } = new AbortController()
  return () => ({
    method: 'POST',
    path,
    query,
    header: name => headers[name],
    arrived: () => true,
    text: () => Promise.resolve({ ok: true, text: body }),
    signal,
  })
}

const withoutGateway: Answer = async ({ path, query, text, signal }) => {
  const read = await text(Number.POSITIVE_INFINITY)
  const url = `${upstream}${path}${query === '' ? '' : `?${query}`}`
  return transport({ url, method: 'POST', headers: {}, signal, ...(read.ok && { body: read.text }) })
}

async function run(answer: Answer, request: ApiRequest): Promise<void> {
  const { status, body } = await answer(request)
  if (status !== 200) throw new Error(`Expected 200, got ${status}: ${String(body)}`)
  if (typeof body === 'string') return
  const source: Source<unknown> = asSource<unknown>(body)
  await new Promise<void>((resolve, reject) => source.read({ next: () => {}, end: resolve, fail: reject }))
}
