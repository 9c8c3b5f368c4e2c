export { type Ability, abilities } from './abilities.ts'
export { answerLimits } from './answer-limits.ts'
export { bodyCaps, capsByField, defaultFieldCaps, type FieldCaps, identifiers, largeBody, loggedMetadataCaps } from './body-caps.ts'
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
export { closingEvents, type Delta, hasEnd, type InferenceEvent, isContent, isPreamble } from './event.ts'
export type { Failure, FailureKind } from './failure.ts'
export { fold, startFold, unfold } from './fold.ts'
export {
  type AudioPart,
  type FilePart,
  type FunctionCallOutputItem,
  type ImagePart,
  type Item,
  isCompaction,
  isCompactionTrigger,
  type MessageItem,
  type Part,
  type ReasoningItem,
  referenceOf,
  sealedPrefix,
  type TextPart,
} from './item.ts'
export type { MediaType, PartPlace } from './media-support.ts'
export {
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
  type ApiKeys,
  type AuthorizationContext,
  type Credential,
  credentialOf,
  dialectFor,
  type EndpointContext,
  type HostSurcharge,
  type LocalAnswer,
  type LocalReply,
  type Provider,
  platformCredentials,
  quirksFor,
  type TierHeader,
  takesOwnKeys,
} from './provider.ts'
export { type AccountTier, type DataPolicyDemand, dataPolicies, dataPolicyDemands, type ProviderFacts } from './provider-facts.ts'
export type { Headroom, LimitHeaders } from './rate-limit-headroom.ts'
export { maxTokensFor, ratesAt, ratesUpTo } from './rates.ts'
export type { Effort, InferenceRequest, Prompt, RoutingOptions, TextFormat, ToolChoice } from './request.ts'
export type { ExtraSteps, HostedCalls, InferenceResponse, Outcome, Usage, Warning } from './response.ts'
export { sessionTokenPrefix } from './session-token.ts'
export type { Sink, Source } from './source.ts'
export { dayMs, isUtcTime } from './time.ts'
export type { CachePoint, FunctionTool, Native, Tool } from './tool.ts'
export type { Transport, TransportBody, TransportReply, TransportRequest } from './transport.ts'
export { roundUsd, toUsd, usd } from './usd.ts'
export { append, type DialectName, type Frame, innerDialect, isObject, type Json, type JsonObject, own } from './wire.ts'
export { type CodeNames, codeNameOf, wireNameOf, withCodeNames, withWireNames } from './wire-names.ts'
