import { once } from '../common/once.ts'
import type { ClientDialect } from '../protocol/dialect.ts'

/** Client dialects that are loaded when first needed, by name. Responses is not among them: it shares its code with the internal format. */
export interface ClientLoaders extends Readonly<Record<string, () => Promise<ClientDialect>>> {
  readonly chat: () => Promise<ClientDialect>
  readonly messages: () => Promise<ClientDialect>
}

/** The client dialects that are loaded on first use. */
export const clientLoaders = (): ClientLoaders => ({
  chat: once(async () => (await import('../chat/client.ts')).chatClient),
  messages: once(async () => (await import('../messages/client.ts')).messagesClient),
})
