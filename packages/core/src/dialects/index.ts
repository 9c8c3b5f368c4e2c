import type { ClientDialect, ProviderDialect } from '../protocol/dialect.ts'
import { bedrockProvider } from './bedrock/provider.ts'
import { chatClient } from './chat/client.ts'
import { chatProvider } from './chat/provider.ts'
import { geminiProvider } from './gemini/provider.ts'
import { messagesClient } from './messages/client.ts'
import { messagesProvider } from './messages/provider.ts'
import { responsesClient } from './responses/client.ts'
import { responsesProvider } from './responses/provider.ts'

export { earlierItem } from './earlier-answers.ts'
export { renameError, renameWarnings } from './field-names.ts'
export {
  anyText,
  arrayOf,
  booleanValue,
  exact,
  integerBetween,
  literalOf,
  nonEmptyText,
  numberBetween,
  objectValue,
  optional,
  optionalFields,
  type Read,
  refuse,
  required,
  stringMap,
} from './field-readers.ts'
export { decodeHeaders as decodeMessagesHeaders } from './messages/headers.ts'
export { readRouting } from './routing-options.ts'
export { effortForBudget } from './thinking-budget.ts'
export { bedrockProvider, chatClient, chatProvider, geminiProvider, messagesClient, messagesProvider, responsesClient, responsesProvider }

const clients = { responses: responsesClient, messages: messagesClient, chat: chatClient }
const providers = {
  responses: responsesProvider,
  chat: chatProvider,
  messages: messagesProvider,
  gemini: geminiProvider,
  bedrock: bedrockProvider,
}

/** The provider dialects that are built in. */
export type BuiltInDialect = keyof typeof providers

/** Client dialects by name. */
export const clientDialects: Readonly<Record<string, ClientDialect>> & typeof clients = clients

/** Provider dialects by name. */
export const providerDialects: Readonly<Record<string, ProviderDialect>> & typeof providers = providers
