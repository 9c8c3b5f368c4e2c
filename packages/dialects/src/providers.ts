import { bedrockProvider } from './bedrock/provider.ts'
import { chatProvider } from './chat/provider.ts'
import { geminiProvider } from './gemini/provider.ts'
import { messagesProvider } from './messages/provider.ts'
import type { ProviderDialect } from './protocol/dialect.ts'
import { responsesProvider } from './responses/provider.ts'

export { bedrockProvider, chatProvider, geminiProvider, messagesProvider, responsesProvider }

const providers = {
  responses: responsesProvider,
  chat: chatProvider,
  messages: messagesProvider,
  gemini: geminiProvider,
  bedrock: bedrockProvider,
}

/** The dialects that a provider may be served in without further code. */
export type BuiltInDialect = keyof typeof providers

/** The provider half of each dialect, by name. */
export const providerDialects: Readonly<Record<string, ProviderDialect>> & typeof providers = providers
