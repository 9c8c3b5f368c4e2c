import { GatewayError } from '@signalbox/dialects/errors'
import type { ApiRequest } from './api.ts'
import type { Cors } from './settings.ts'

/** The host of an origin, as in `app.example:8080`. Undefined if it is not a URL. */
export const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)

/** What a page of another site could misuse: the cookies of a sign-in, or a WebSocket, which CORS does not restrict. */
export type CrossSiteUse = 'sign-in' | 'WebSocket'

/** What `*` allows: WebSockets use keys, which no browser sends by itself, but a sign-in uses cookies. */
const openToAll: Readonly<Record<CrossSiteUse, boolean>> = { 'sign-in': false, WebSocket: true }

const isHost = (host: string | undefined, sentTo: string | undefined): boolean => host !== undefined && host === sentTo?.toLowerCase()

/**
 * Refuses a request of a page of another site, unless `cors` lists its origin. `Sec-Fetch-Site` decides if the browser sends it, because a
 * proxy may have changed the host; otherwise the host of `Origin` does. Clients other than browsers send neither.
 *
 * @throws `operation_not_allowed` (403)
 */
export function checkSite({ header }: Pick<ApiRequest, 'header'>, cors: Cors | undefined, use: CrossSiteUse): void {
  const origin = header('origin')
  const site = header('sec-fetch-site')
  if (site === 'same-origin' || (origin === undefined && (site === undefined || site === 'none'))) return
  if (site === undefined && origin !== undefined && isHost(hostOf(origin), header('host'))) return
  const origins = cors?.origins ?? []
  if (origins === '*' ? openToAll[use] : origin !== undefined && origins.includes(origin)) return
  throw new GatewayError('operation_not_allowed', {
    message: `Pages of ${origin?.slice(0, 100) ?? 'another site'} may not use a ${use} with this gateway. Add the origin to \`cors.origins\`.`,
  })
}
