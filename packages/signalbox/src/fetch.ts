export {
  type BunWebSockets,
  bunWebSockets,
  denoWebSockets,
  type FetchContext,
  type FetchHandler,
  type FetchOptions,
  type GatewayFetch,
  type GatewayFetchOptions,
  gatewayFetch,
  toFetchHandler,
  type WebSocketRuntime,
  workersWebSockets,
} from '@signalbox/fetch-handler'
