import { knownFields as chatFields } from '../chat/known-fields.ts'
import { outputFidelity as chatFidelity } from '../chat/output-fidelity.ts'
import { dialect as chat } from '../chat/wire.ts'
import { once } from '../common/once.ts'
import { knownFields as messagesFields } from '../messages/known-fields.ts'
import { outputFidelity as messagesFidelity } from '../messages/output-fidelity.ts'
import { dialect as messages } from '../messages/wire.ts'
import type { ClientDialect } from '../protocol/dialect.ts'
import { responsesClient } from '../responses/client.ts'

/** What is known of a client dialect without its code. */
export type ClientFacts = Pick<ClientDialect, 'name' | 'knownFields' | 'outputFidelity' | 'decodeItem'>

/** The facts of each client dialect, by name. */
export const clientFacts: Readonly<Record<string, ClientFacts>> = {
  responses: responsesClient,
  chat: { name: chat, knownFields: chatFields, outputFidelity: chatFidelity },
  messages: { name: messages, knownFields: messagesFields, outputFidelity: messagesFidelity },
}

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
