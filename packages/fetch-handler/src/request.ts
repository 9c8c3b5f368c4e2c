import { type ApiRequest, type BodyText, drips } from '@signalbox/api'
import { type Pace, watchSilence } from './pace.ts'

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
  readonly ip?: string | undefined
}

/** Request → plain values. `place`: what its path stands for. `ip`: who sent it. */
export function exchangeOf(request: Request, pace: Pace, { place = path => path, ip }: Whence): Exchange {
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
      query,
      header: name => request.headers.get(name) ?? undefined,
      text: limit => readText(request, limit, pace),
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

/** Gives up, without waiting for the runtime, on an upload that says nothing for `bodyIdleMs`. */
async function readText(request: Request, limit: number, pace: Pace): Promise<BodyText> {
  if (request.body === null) return { ok: true, text: '' }
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { ok: false, why: 'too_large' }
  let reader: Reader
  try {
    reader = request.body.getReader()
  } catch {
    return broken
  }
  const drop = (): void => void reader.cancel().catch(() => {})
  return new Promise(resolve => {
    const silence = watchSilence(pace.clock, pace.bodyIdleMs, () => {
      resolve(broken)
      drop()
    })
    void taken(reader, { limit, pace, heard: silence.broken }).then(text => {
      silence.stop()
      resolve(text)
      if (!text.ok) drop()
    })
  })
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

const broken: BodyText = { ok: false, why: 'broken' }

interface Taking {
  readonly limit: number
  readonly pace: Pace
  readonly heard: () => void
}

/** Counted as it comes: a length that the client announces is not to be trusted. */
async function taken(reader: Reader, { limit, pace: { clock, bodyIdleMs }, heard }: Taking): Promise<BodyText> {
  const decoder = new TextDecoder()
  const began = clock.monotonic()
  let text = ''
  let bytes = 0
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      heard()
      bytes += step.value.byteLength
      if (bytes > limit) return { ok: false, why: 'too_large' }
      if (drips(bytes, clock.monotonic() - began, bodyIdleMs)) return broken
      text += decoder.decode(step.value, { stream: true })
    }
    return { ok: true, text: text + decoder.decode() }
  } catch {
    return broken
  }
}
