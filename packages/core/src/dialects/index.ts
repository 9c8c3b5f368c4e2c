import type { ClientDialect, ProviderDialect } from '../protocol/dialect.ts'
import { bedrockProvider } from './bedrock/provider.ts'
import { chatClient } from './chat/client.ts'
import { chatProvider } from './chat/provider.ts'
import { geminiProvider } from './gemini/provider.ts'
import { messagesClient } from './messages/client.ts'
import { messagesProvider } from './messages/provider.ts'
import { responsesClient } from './responses/client.ts'
import { responsesProvider } from './responses/provider.ts'

export { bedrockProvider, chatClient, chatProvider, geminiProvider, messagesClient, messagesProvider, responsesClient, responsesProvider }

/** The halves that face callers, by name. */
export const clientDialects: Readonly<Record<string, ClientDialect>> & { readonly responses: ClientDialect } = {
  responses: responsesClient,
  messages: messagesClient,
  chat: chatClient,
}

/** The halves that face providers, by name. */
export const providerDialects: Readonly<Record<string, ProviderDialect>> = {
  responses: responsesProvider,
  chat: chatProvider,
  messages: messagesProvider,
  gemini: geminiProvider,
  bedrock: bedrockProvider,
}
