export type { ClientDialect, EventDecoder, EventEncoder, FailedAnswer, ProviderDialect, Stamp } from './dialect.ts'
export type { ErrorBody } from './error-body.ts'
export { type Delta, type InferenceEvent, isPreamble, type NativeEvent } from './event.ts'
export type { Failure, FailureKind } from './failure.ts'
export { type Folding, fold, startFold } from './fold.ts'
export type {
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
export { type Ability, abilities, type Model, type Offer, type Price, type Quirks } from './model.ts'
export { type Original, originalOf, remember } from './original.ts'
export type { Credential, LocalAnswer, LocalReply, Provider } from './provider.ts'
export type { Effort, FunctionTool, InferenceRequest, Prompt, RoutingOptions, TextFormat, Tool, ToolChoice } from './request.ts'
export type { InferenceResponse, Outcome, Usage, Warning } from './response.ts'
export { unfold } from './unfold.ts'
export { type DialectName, type Frame, isObject, type Json, type JsonObject } from './wire.ts'
