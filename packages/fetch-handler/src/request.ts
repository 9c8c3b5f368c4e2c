import { type ApiRequest, type BodyText, collectBytes, watchUpload } from '@signalbox/api'
import type { Pace } from './pace.ts'

export interface Exchange {
  readonly request: ApiRequest
  /** The client has left: the signal of the request fires. */
  readonly leave: (reason: unknown) => void
  /** Calls back when the client leaves by aborting the request itself. */
  readonly onLeave: (run: (reason: unknown) => void) => void
  readonly gone: () => boolean
}

interface Whence {
  readonly place?: ((path: string) => string) | undefined
  readonly ownQuery?: ((query: string) => string) | undefined
  readonly ip?: string | undefined
}

/** Request → plain values. `place`: what its path stands for. `ownQuery`: what of its query is the client's. `ip`: who sent it. */
export function exchangeOf(request: Request, pace: Pace, { place = path => path, ownQuery = own => own, ip }: Whence): Exchange {
  const { path, query } = locate(request.url)
  const leaving = new AbortController()
  const { signal } = request
  const follow = (): void => leaving.abort(signal.reason)
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  return {
    request: {
      method: request.method,
      path: place(path),
      ...(ip !== undefined && { ip }),
      query: ownQuery(query),
      header: name => request.headers.get(name) ?? undefined,
      arrived: () => request.body === null,
      text: (limit, heard) => readText(request, { limit, pace, heard }),
      signal: leaving.signal,
    },
    leave: reason => leaving.abort(reason),
    gone: () => leaving.signal.aborted,
    onLeave: run => signal.addEventListener('abort', () => run(signal.reason), { once: true }),
  }
}

/** Cut out of the text: what the router sees is what came, and no host has a say in it. */
function locate(url: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const [beforeHash = ''] = (start === -1 ? '/' : url.slice(start)).split('#', 1)
  const mark = beforeHash.indexOf('?')
  return mark === -1 ? { path: beforeHash, query: '' } : { path: beforeHash.slice(0, mark), query: beforeHash.slice(mark + 1) }
}

interface BodyReading {
  readonly limit: number
  readonly pace: Pace
  /** Told the sum after each piece; false: no more is wanted. */
  readonly heard: ((bytes: number) => boolean) | undefined
}

/** Gives up, without waiting for the runtime, on an upload that comes too slowly. */
async function readText(request: Request, reading: BodyReading): Promise<BodyText> {
  if (request.body === null) return { ok: true, text: '' }
  if (Number(request.headers.get('content-length') ?? 0) > reading.limit) return { ok: false, why: 'too_large' }
  let reader: Reader
  try {
    reader = request.body.getReader()
  } catch {
    return broken
  }
  const drop = (): void => void reader.cancel().catch(() => {})
  return new Promise(resolve => {
    const upload = watchUpload(reading.pace.clock, reading.pace, () => {
      resolve(broken)
      drop()
    })
    void taken(reader, reading, upload.heard).then(text => {
      upload.stop()
      resolve(text)
      if (!text.ok) drop()
    })
  })
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

const broken: BodyText = { ok: false, why: 'broken' }

/** Counted as it comes: a length that the client announces is not to be trusted. */
async function taken(reader: Reader, { limit, heard }: BodyReading, came: (bytes: number) => void): Promise<BodyText> {
  const collected = collectBytes()
  let bytes = 0
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      came(step.value.byteLength)
      bytes += step.value.byteLength
      if (bytes > limit) return { ok: false, why: 'too_large' }
      if (heard?.(bytes) === false) return { ok: false, why: 'stopped' }
      collected.add(step.value)
    }
    return { ok: true, text: textOf(collected.pieces()) }
  } catch {
    return broken
  }
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder()
  let text = ''
  for (const piece of pieces) text += decoder.decode(piece, { stream: true })
  return text + decoder.decode()
}
