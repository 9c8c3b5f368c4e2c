export type { Caller } from './access/caller.ts'
export { profileOf, type Scope, scopes } from './access/scopes.ts'
export { type Evidence, type Exclusion, evidenceOf } from './brain/evidence.ts'
export type {
  Attempt,
  Choice,
  Failed,
  Recorded,
  Router,
  RouterOffer,
  RouterOptions,
  RouterPlan,
  RouterRequest,
  Used,
} from './brain/port.ts'
export { type Preference, preferences, type Worth } from './brain/preferences.ts'
export { type Alternative, type Receipt, receiptOf } from './brain/receipt.ts'
export type { DecisionRecord, Outcome, Trace } from './brain/record.ts'
export type { RecordOptions } from './brain/recorder.ts'
export { type Estimate, type Replay, type Replayed, replay } from './brain/replay.ts'
export { createRouter } from './brain/router.ts'
export type { Sight, Strategy } from './brain/sight.ts'
export { decodeTrace, encodeTrace, encodeTraceText } from './brain/trace.ts'
export { GatewayError, isGatewayError } from './errors/gateway-error.ts'
export { nearestOf } from './errors/nearest.ts'
export type { Limits, Timeouts } from './execution/limits.ts'
export { asFailure } from './execution/told.ts'
export { createGateway, type Gateway } from './gateway.ts'
export { checkBody } from './in-process/body.ts'
export type { ChatCompletion, ChatCompletionChunk, CreateChatCompletion } from './in-process/chat.ts'
export type { Calling, Create } from './in-process/create.ts'
export type { CountTokens, CreateMessage, MessageObject, MessageStreamEvent } from './in-process/messages.ts'
export type { CreateResponse, InputItem, OutputItem, ResponseObject, ResponseStreamEvent } from './in-process/responses.ts'
export type { TokenCount } from './inference/count.ts'
export type { FeatureFate, Fidelity } from './inference/fidelity.ts'
export type { Flights } from './inference/flights.ts'
export type { PlannedChoice, PlannedRequest } from './inference/planned.ts'
export type { CallOptions, Reply } from './inference/reply.ts'
export type { ApiKey, ApiKeyChange, ApiKeys, NewApiKey } from './management/api-keys.ts'
export type { Billing, CreditBalance, NewCredit } from './management/billing.ts'
export type { Identity } from './management/identity.ts'
export type { ModelDirectory, ProviderRecord } from './management/models.ts'
export type { Actor } from './management/ports.ts'
export type { NewWorkspace, Workspace, Workspaces } from './management/workspaces.ts'
export type { GatewayOptions } from './options.ts'
export type { InferenceEvent } from './protocol/event.ts'
export type { Model, Offer, Price } from './protocol/model.ts'
export type { Provider } from './protocol/provider.ts'
export type { ProviderFacts } from './protocol/provider-facts.ts'
export type { InferenceRequest } from './protocol/request.ts'
export type { InferenceResponse } from './protocol/response.ts'
export type { Candidate, Excluded, Plan } from './routing/plan.ts'
export type { Clock, Hooks, Ids, Logger, Transport } from './runtime/ports.ts'
export { keepAlive, writeFrames } from './sse/write.ts'
