import { createResponder, type FetchContext, type FetchOptions } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'

/** What is used of the context of a Hono handler. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    /** The pattern of the route, as in `/llm/*`. */
    readonly routePath?: string
  }
  readonly env: unknown
  /** Throws where the runtime has none. */
  readonly executionCtx: FetchContext
}

/**
 * Mounts a gateway in a Hono app. The pattern of the route tells where.
 *
 * @example
 * app.all('/llm/*', toHonoHandler(gateway))
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 */
export function toHonoHandler(gateway: Gateway, options?: FetchOptions): (context: HonoContext) => Promise<Response> {
  const respond = createResponder('toHonoHandler', gateway, options)
  return context => {
    const before = options?.basePath === undefined ? segmentsBefore(context.req.routePath) : 0
    return respond(context.req.raw, {
      server: context.env,
      context: executionContext(context),
      mapPath: before > 0 ? path => `/${path.split('/').slice(before).join('/')}` : undefined,
    })
  }
}

/** How many segments of a path come before the `*` of its route: 2 for `/llm/*`, with the empty one before the first slash. */
const segmentsBefore = (routePath = ''): number => (routePath.endsWith('/*') ? routePath.split('/').length - 1 : 0)

function executionContext(context: HonoContext): FetchContext | undefined {
  try {
    return context.executionCtx
  } catch {
    return undefined
  }
}
