import { type FetchHandler, type FetchOptions, toFetchHandler } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'

const routeMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Route handlers of Next.js, by method. */
export type NextHandlers = Readonly<Record<(typeof routeMethods)[number], (request: Request, context: NextContext) => Promise<Response>>>

/** The second argument of a route handler. */
export interface NextContext {
  readonly params: Promise<unknown> | object
}

/**
 * Mounts a gateway in a catch-all route of the App Router, in the runtime `nodejs` or `edge`. The route tells where it is mounted.
 *
 * @example
 * // app/api/[...path]/route.ts
 * export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNextJsHandler(gateway)
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 */
export function toNextJsHandler(gateway: Gateway, options?: FetchOptions): NextHandlers {
  const handler: FetchHandler = toFetchHandler(gateway, options, 'toNextJsHandler')
  return Object.fromEntries(routeMethods.map(method => [method, handler])) as NextHandlers
}
