export { defineProvider } from '@signalbox/core'
export type {
  EncodedRequest,
  EventDecoder,
  FailedAnswer,
  Failure,
  Frame,
  FrameReader,
  Json,
  JsonObject,
  LocalAnswer,
  LocalReply,
  Provider,
  ProviderDialect,
  Quirks,
  ResponseMapping,
  Warning,
} from '@signalbox/core/protocol'
