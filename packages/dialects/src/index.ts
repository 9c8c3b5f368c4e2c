import { chatClient } from './chat/client.ts'
import { messagesClient } from './messages/client.ts'
import type { ClientDialect } from './protocol/dialect.ts'
import { responsesClient } from './responses/client.ts'

export { bedrockProvider } from './bedrock/provider.ts'
export { chatProvider } from './chat/provider.ts'

export { geminiProvider } from './gemini/provider.ts'
export { decodeHeaders as decodeMessagesHeaders } from './messages/headers.ts'
export { messagesProvider } from './messages/provider.ts'
export { type BuiltInDialect, providerDialects } from './providers.ts'
export { responsesProvider } from './responses/provider.ts'
export { chatClient, messagesClient, responsesClient }

const clients = { responses: responsesClient, messages: messagesClient, chat: chatClient }

/** Client dialects by name. */
export const clientDialects: Readonly<Record<string, ClientDialect>> & typeof clients = clients
