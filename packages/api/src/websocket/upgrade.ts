import { type Step, wait } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Api, ApiReply, ApiRequest } from '../api.ts'
import { authorize } from '../authorize.ts'
import { checkSite } from '../origin.ts'
import type { Route, UnreadCall } from '../route.ts'
import { hasSessionToken } from '../secret.ts'
import type { WebSocketOffer } from './port.ts'

/** Whether a request is a WebSocket upgrade. `Upgrade` may name several protocols. */
export const isWebSocketUpgrade = ({ method, header }: ApiRequest): boolean =>
  method === 'GET' && (header('upgrade') ?? '').split(',').some(protocol => protocol.trim().toLowerCase() === 'websocket')

// Loaded on first use, because few programs serve WebSockets.
const loadSession = () => import('./session.ts')

/** Loads the WebSocket code ahead of the first connection, for servers that start before their clients. */
export const loadWebSockets = async (): Promise<void> => void (await loadSession())

interface UpgradeCall extends UnreadCall {
  /** Handles the messages. */
  readonly api: Api
}

/** Decides on a WebSocket upgrade: key, scope, origin, and number of connections. */
export function* offerWebSocket(row: Route, call: UpgradeCall): Step<ApiReply> {
  const { gateway, site, request, context, api } = call
  if (request.canUpgrade !== true || row.needs === 'nothing')
    throw new GatewayError('upgrade_required', {
      message: 'WebSocket is not available on this endpoint. Send the request with POST; `stream: true` streams the response.',
    })
  // The origins of a session are checked with its token.
  if (!hasSessionToken(request)) checkSite(request, site.settings.cors, 'WebSocket')
  const caller = yield* authorize(row, call)
  if ('status' in caller) return caller
  const { Session } = yield* wait(loadSession())
  const giveBack = site.webSockets.connections.take(caller)
  const webSocket: WebSocketOffer = {
    maxMessageBytes: Math.min(site.settings.maxBodyBytes, site.settings.webSockets.maxMessageBytes),
    open: port => new Session({ api, gateway, site, upgrade: request, caller, context, port, onEnd: giveBack }),
    abandon: giveBack,
  }
  return { status: 101, headers: {}, body: '', webSocket }
}
