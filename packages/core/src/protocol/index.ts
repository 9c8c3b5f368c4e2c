export { bodyCaps, largeBody, loggedMetadataCaps } from './body-caps.ts'
export type {
  ClientDialect,
  EncodedRequest,
  EventDecoder,
  EventEncoder,
  FailedAnswer,
  Fate,
  FrameReader,
  ProviderDialect,
  ResponseMapping,
  ResponseMetadata,
} from './dialect.ts'
export type { ErrorBody, FailedAttempt } from './error-body.ts'
export { estimateMemory } from './estimate-memory.ts'
export { type Delta, type InferenceEvent, isPreamble, type NativeEvent } from './event.ts'
export type { Failure, FailureKind } from './failure.ts'
export { fold, type ResponseFold, startFold } from './fold.ts'
export type {
  AudioPart,
  CachePoint,
  FilePart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ImagePart,
  Item,
  ItemStatus,
  MessageItem,
  Native,
  Part,
  ReasoningItem,
  RefusalPart,
  Role,
  TextPart,
} from './item.ts'
export {
  type Ability,
  abilities,
  type Capability,
  capabilities,
  type HostedTool,
  type HostedToolRates,
  hostedTools,
  type Model,
  type Offer,
  type OfferRegion,
  type Price,
  type PriceChange,
  type PriceTier,
  type PriceWindow,
  type PriorityRates,
  type Quirks,
  type Rates,
  type Surcharge,
  type ThinkingStyle,
} from './model.ts'
export { type Original, originalOf, pathOf, remember } from './original.ts'
export {
  type AccountCheck,
  type AccountFacts,
  type AuthorizationContext,
  type Credential,
  credentialOf,
  dialectFor,
  type EndpointContext,
  type HostSurcharge,
  type LocalAnswer,
  type LocalReply,
  type Provider,
  quirksFor,
  type TierHeader,
} from './provider.ts'
export {
  type AccountTier,
  type DataPolicy,
  type DataPolicyDemand,
  dataPolicies,
  dataPolicyDemands,
  type ProviderFacts,
} from './provider-facts.ts'
export type { Headroom, LimitHeaders } from './rate-limit-headroom.ts'
export type { Effort, FunctionTool, InferenceRequest, Prompt, RoutingOptions, TextFormat, Tool, ToolChoice } from './request.ts'
export type { HostedCalls, InferenceResponse, Outcome, Usage, Warning } from './response.ts'
export { sessionTokenPrefix } from './session-token.ts'
export type { Sink, Source } from './source.ts'
export { dayMs, isUtcTime } from './time.ts'
export type { Transport, TransportBody, TransportReply, TransportRequest } from './transport.ts'
export { unfold } from './unfold.ts'
export { type DialectName, type Frame, innerDialect, isObject, type Json, type JsonObject, own } from './wire.ts'
export { type CodeNames, codeNameOf, wireNameOf, withCodeNames, withWireNames } from './wire-names.ts'
