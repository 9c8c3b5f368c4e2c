import type { ApiRequest, BodyText } from '@signalbox/api'

export interface Exchange {
  readonly request: ApiRequest
  /** The client has left: the signal of the request fires. */
  readonly leave: (reason: unknown) => void
  /** Calls back when the client leaves by aborting the request itself. */
  readonly onLeave: (run: (reason: unknown) => void) => void
  readonly gone: () => boolean
}

/** Request → plain values. */
export function exchangeOf(request: Request): Exchange {
  const { path, query } = locate(request.url)
  const leaving = new AbortController()
  const { signal } = request
  const follow = (): void => leaving.abort(signal.reason)
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  return {
    request: {
      method: request.method,
      path,
      query,
      header: name => request.headers.get(name) ?? undefined,
      text: limit => readText(request, limit),
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

/** Counted as it comes: a length that the client announces is not to be trusted. */
async function readText(request: Request, limit: number): Promise<BodyText> {
  if (request.body === null) return { ok: true, text: '' }
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { ok: false, why: 'too_large' }
  try {
    const reader = request.body.getReader()
    const decoder = new TextDecoder()
    let text = ''
    let bytes = 0
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      bytes += step.value.byteLength
      if (bytes > limit) {
        // Not waited for: some runtimes end a cancel only when the upload does.
        reader.cancel().catch(() => {})
        return { ok: false, why: 'too_large' }
      }
      text += decoder.decode(step.value, { stream: true })
    }
    return { ok: true, text: text + decoder.decode() }
  } catch {
    return { ok: false, why: 'broken' }
  }
}
