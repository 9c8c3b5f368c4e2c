import { knownFields as chatFields } from '../chat/known-fields.ts'
import { outputFidelity as chatFidelity } from '../chat/output-fidelity.ts'
import { dialect as chat } from '../chat/wire.ts'
import { knownFields as messagesFields } from '../messages/known-fields.ts'
import { outputFidelity as messagesFidelity } from '../messages/output-fidelity.ts'
import { dialect as messages } from '../messages/wire.ts'
import type { ClientDialect } from '../protocol/dialect.ts'
import { knownFields as responsesFields } from '../responses/known-fields.ts'
import { outputFidelity as responsesFidelity } from '../responses/output-fidelity.ts'
import { dialect as responses } from '../responses/wire.ts'

/** What is known of a client dialect without its code. */
export type ClientFacts = Pick<ClientDialect, 'name' | 'knownFields' | 'outputFidelity'>

/** The facts of each client dialect, by name. */
export const clientFacts: Readonly<Record<string, ClientFacts>> = {
  responses: { name: responses, knownFields: responsesFields, outputFidelity: responsesFidelity },
  chat: { name: chat, knownFields: chatFields, outputFidelity: chatFidelity },
  messages: { name: messages, knownFields: messagesFields, outputFidelity: messagesFidelity },
}
