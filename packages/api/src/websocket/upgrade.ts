import { GatewayError } from '@signalbox/core/errors'
import type { Step } from '@signalbox/core/runtime'
import type { Api, ApiReply, ApiRequest } from '../api.ts'
import { authorize } from '../authorize.ts'
import { hostOf } from '../origin.ts'
import type { Call, Route } from '../route.ts'
import type { Cors } from '../settings.ts'
import type { WebSocketOffer } from './port.ts'
import { createSession } from './session.ts'

/** Whether a request asks for a WebSocket. `Upgrade` may name several protocols. */
export const isWebSocketUpgrade = ({ method, header }: ApiRequest): boolean =>
  method === 'GET' && (header('upgrade') ?? '').split(',').some(protocol => protocol.trim().toLowerCase() === 'websocket')

interface UpgradeCall extends Omit<Call, 'query' | 'body'> {
  /** Answers the messages. */
  readonly api: Api
}

/** Decides on a request for a WebSocket: the key, its scope, the origin, and the number of connections. */
export function* offerWebSocket(row: Route, call: UpgradeCall): Step<ApiReply> {
  const { gateway, site, request, context, api } = call
  if (request.canUpgrade !== true || row.needs === 'nothing') throw notAvailable()
  checkOrigin(request, site.settings.cors)
  const caller = yield* authorize(row, call)
  if ('status' in caller) return caller
  const { workspaceId } = caller
  const giveBack = site.webSockets.connections.take(workspaceId)
  const webSocket: WebSocketOffer = {
    maxMessageBytes: Math.min(site.settings.bodyBytes, site.settings.webSockets.messageBytes),
    open: port => createSession({ api, gateway, site, upgrade: request, workspaceId, context, port, onEnd: giveBack }),
    abandon: giveBack,
  }
  return { status: 101, headers: {}, body: '', webSocket }
}

/** Browsers send the origin of the page. A page of another site needs to be named in `cors`, as for requests. */
function checkOrigin(request: ApiRequest, cors: Cors | undefined): void {
  const origin = request.header('origin')
  if (origin === undefined || hostOf(origin) === request.header('host')?.toLowerCase()) return
  if (cors !== undefined && (cors.origins === '*' || cors.origins.includes(origin))) return
  throw new GatewayError('operation_not_allowed', {
    message: `Pages of ${origin.slice(0, 100)} may not open WebSockets here. Add the origin to \`cors.origins\`.`,
  })
}

const notAvailable = (): GatewayError =>
  new GatewayError('upgrade_required', {
    message: 'WebSocket is not available here. Send the request with POST; `stream: true` streams the response.',
  })
