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
} from '@signalbox/dialects/protocol'
export { defineProvider } from '@signalbox/gateway'
