export type { ApiOptions, ClientLimits, RequestLine } from '@signalbox/api'
export { type FetchHandler, toFetchHandler } from './fetch-handler.ts'
export { type GatewayFetch, type GatewayFetchOptions, gatewayFetch } from './gateway-fetch.ts'
export { createResponder, type FetchContext, type FetchOptions, type Responder, type ResponderOptions } from './responder.ts'
export {
  type BunWebSockets,
  bunWebSockets,
  denoWebSockets,
  type WebSocketRuntime,
  type WebSocketUpgrade,
  workersWebSockets,
} from './web-sockets.ts'
