export type { Caller } from '@signalbox/core/access'
export type { CallOptions, Reply } from '@signalbox/core/request'
export type { Hooks, Logger } from '@signalbox/core/runtime'
export type { Limits, Timeouts } from '@signalbox/core/upstream'
export { GatewayError, isGatewayError } from '@signalbox/dialects/errors'
export type {
  InferenceEvent,
  InferenceRequest,
  InferenceResponse,
  Model,
  Offer,
  Price,
  Provider,
  ProviderFacts,
  Transport,
} from '@signalbox/dialects/protocol'
export { toUsd, usd } from '@signalbox/dialects/protocol'
export { defineProvider } from '@signalbox/providers/define-provider'
export type { Workspace } from '@signalbox/workspaces'
export { createGateway } from './create-gateway.ts'
export type { Gateway } from './gateway.ts'
export type { GatewayOptions } from './options.ts'
