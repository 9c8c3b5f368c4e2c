export {
  type BuiltInDialect,
  bedrockProvider,
  chatClient,
  chatProvider,
  clientDialects,
  geminiProvider,
  messagesClient,
  messagesProvider,
  providerDialects,
  responsesClient,
  responsesProvider,
} from '@signalbox/dialects'
export type { ClientDialect, EventEncoder, ResponseMetadata } from '@signalbox/dialects/protocol'
