export {
  type BunWebSockets,
  bunWebSockets,
  createFetchHandler,
  denoWebSockets,
  type FetchContext,
  type FetchHandler,
  type FetchOptions,
  type GatewayFetch,
  type GatewayFetchOptions,
  gatewayFetch,
  type WebSocketRuntime,
  workersWebSockets,
} from '@signalbox/fetch-handler'
