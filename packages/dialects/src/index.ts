import { chatClient } from './chat/client.ts'
import { messagesClient } from './messages/client.ts'
import type { ClientDialect } from './protocol/dialect.ts'
import { responsesClient } from './responses/client.ts'

export {
  type BuiltInDialect,
  bedrockProvider,
  chatProvider,
  geminiProvider,
  messagesProvider,
  providerDialects,
  responsesProvider,
} from './providers.ts'
export {
  type RequestTranslationOptions,
  type ResponseTranslationOptions,
  type TranslatedRequest,
  type TranslatedResponse,
  type TranslatedStream,
  translateRequest,
  translateResponse,
  translateStream,
} from './translate.ts'
export { chatClient, messagesClient, responsesClient }

const clients = { responses: responsesClient, messages: messagesClient, chat: chatClient }

/** Client dialects by name. */
export const clientDialects: Readonly<Record<string, ClientDialect>> & typeof clients = clients
