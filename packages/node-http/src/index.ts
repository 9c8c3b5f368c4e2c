export type { ApiOptions, ClientLimits, RequestLine } from '@signalbox/api'
export { createNodeListener, type NodeListener, type NodeOptions } from './listener.ts'
export { type Served, type ServeOptions, serve } from './serve.ts'
export { type NodeTransport, type NodeTransportOptions, nodeTransport } from './transport.ts'
