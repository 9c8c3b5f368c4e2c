import { type ApiOptions, type ClientLimits, createApi, limitsOf } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { Pace } from './pace.ts'
import { exchangeOf } from './request.ts'
import { responseOf } from './response.ts'

export interface FetchOptions extends ApiOptions, ClientLimits {
  /** Who sent a request, for the audit: as the runtime tells it. Default: nothing is noted. */
  readonly ip?: (request: Request) => string | undefined
}

/** Where a runtime may freeze after the reply, work that is still to be done is handed to `waitUntil`. */
export interface FetchContext {
  waitUntil(work: Promise<unknown>): void
}

interface Circumstances {
  readonly context?: FetchContext | undefined
  /** What a path stands for. Default: itself. */
  readonly place?: (path: string) => string
  /** What of a query is the client's. Default: all. */
  readonly ownQuery?: (query: string) => string
}

/** Request → Response, with plain values in between. */
export function answering(
  gateway: Gateway,
  options?: FetchOptions,
): (request: Request, circumstances?: Circumstances) => Promise<Response> {
  const api = createApi(gateway, options)
  const pace: Pace = { clock: gateway.clock, ...limitsOf(options) }
  return async (request, { context, ...seen } = {}) => {
    const exchange = exchangeOf(request, pace, { ...seen, ip: options?.ip?.(request) })
    const reply = await api(exchange.request, context && { waitUntil: work => context.waitUntil(work) })
    return responseOf(reply, exchange, pace)
  }
}

/** As `fetch` does it: a caller who aborts hears of it at once, by an AbortError. */
export function orLeft(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const left = (): void => reject(signal.reason)
    if (signal.aborted) left()
    signal.addEventListener('abort', left, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', left))
  })
}
