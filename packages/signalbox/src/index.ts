export type { CallLimits, EndUser, EndUserBudget } from '@signalbox/core/access'
export type { GatewayDecisionLog } from '@signalbox/core/request'
export type { PlannedRequest, TokenCount } from '@signalbox/core/request/dry-run'
export type {
  ApiKey,
  Budget,
  ByokKey,
  CreditBalance,
  Invite,
  Member,
  NewApiKey,
  NewBudget,
  NewByokKey,
  NewInvite,
  NewMember,
  NewSession,
  NewWorkspace,
  RoutingDefaults,
  Session,
  Subscription,
} from '@signalbox/core/resources'
export type { Clock, Ids, MediaReader } from '@signalbox/core/runtime'
export type { BudgetFacts, ErrorCode } from '@signalbox/dialects/errors'
export {
  type Caller,
  type CallOptions,
  createGateway,
  type Gateway,
  GatewayError,
  type GatewayOptions,
  type Hooks,
  type InferenceEvent,
  type InferenceRequest,
  type InferenceResponse,
  isGatewayError,
  type Limits,
  type Logger,
  type Model,
  type Offer,
  type Price,
  type Provider,
  type ProviderFacts,
  type Reply,
  type Timeouts,
  type Transport,
  toUsd,
  usd,
  type Workspace,
} from '@signalbox/gateway'
export type {
  ChatCompletion,
  ChatCompletionChunk,
  CreateChatCompletion,
  CreateMessage,
  CreateResponse,
  MessageObject,
  MessageStreamEvent,
  ResponseObject,
  ResponseStreamEvent,
} from '@signalbox/gateway/in-process'
export type { Storage } from '@signalbox/storage'
export { type MemoryStorageOptions, memoryStorage } from '@signalbox/storage-memory'
export type {
  Analytics,
  ApiKeys,
  AuditEvents,
  AutoReload,
  Billing,
  BillingOptions,
  Budgets,
  ByokKeys,
  Invites,
  Members,
  ModelDirectory,
  Sessions,
  Workspaces,
} from '@signalbox/workspaces'
export type { Identity } from '@signalbox/workspaces/identity'
