import type { TokenCount } from '@signalbox/core/request/dry-run'
import type { ClientDialect } from '@signalbox/dialects/protocol'
import type { ChatShapes } from './chat.ts'
import { callerOf, createWith, type Endpoint, type EndpointOptions, type EndpointPorts, headerReader, jsonOf } from './create.ts'
import type { CountTokens, MessagesShapes } from './messages.ts'
import type { ResponsesShapes } from './responses.ts'

/**
 * The inference endpoints without HTTP, with the same bodies, keys, limits and billing. `ModelId` and `StrategyName` are the ids that
 * requests may name.
 */
export interface Endpoints<ModelId extends string = string, StrategyName extends string = string> {
  readonly responses: Endpoint<ResponsesShapes<ModelId, StrategyName>>
  readonly chat: { readonly completions: Endpoint<ChatShapes<ModelId, StrategyName>> }
  readonly messages: Endpoint<MessagesShapes<ModelId, StrategyName>> & {
    countTokens(body: CountTokens<ModelId, StrategyName>, calling: EndpointOptions): Promise<TokenCount>
  }
}

/** The dialects that have an endpoint. */
export interface ClientDialects {
  readonly responses: ClientDialect
  readonly chat: () => Promise<ClientDialect>
  readonly messages: () => Promise<ClientDialect>
}

export const endpointsOf = ({ responses, chat, messages }: ClientDialects, serving: EndpointPorts): Endpoints => ({
  responses: { create: createWith<ResponsesShapes>(responses, serving) },
  chat: { completions: { create: createWith<ChatShapes>(chat, serving) } },
  messages: {
    create: createWith<MessagesShapes>(messages, serving),
    async countTokens(body, calling) {
      const caller = await callerOf(calling, serving)
      const { decodeRequest, decodeCounting: read = decodeRequest } = await messages()
      return serving.countTokens(read(jsonOf(body), headerReader(calling)), caller, { signal: calling.signal })
    },
  },
})
