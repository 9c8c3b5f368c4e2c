import type { Caller } from '../access/caller.ts'
import type { TokenCount } from '../inference/count.ts'
import type { ClientDialect } from '../protocol/dialect.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { ChatShapes } from './chat.ts'
import { type Calling, type Create, callerOf, createWith, type House, headerOf, jsonOf } from './create.ts'
import type { CountTokens, MessagesShapes } from './messages.ts'
import type { ResponsesShapes } from './responses.ts'

/** The inference endpoints without HTTP: the bodies, keys, limits and money of the endpoints, no text in between. */
export interface Doors {
  readonly responses: { readonly create: Create<ResponsesShapes> }
  readonly chat: { readonly completions: { readonly create: Create<ChatShapes> } }
  readonly messages: {
    readonly create: Create<MessagesShapes>
    countTokens(body: CountTokens, calling: Calling): Promise<TokenCount>
  }
}

/** The languages that have a door. */
export interface Spoken {
  readonly responses: ClientDialect
  readonly chat: ClientDialect
  readonly messages: ClientDialect
}

export interface CountingHouse extends House {
  countTokens(request: InferenceRequest, caller: Caller, signal?: AbortSignal): Promise<TokenCount>
}

export const doorsOf = ({ responses, chat, messages }: Spoken, house: CountingHouse): Doors => ({
  responses: { create: createWith<ResponsesShapes>(responses, house) },
  chat: { completions: { create: createWith<ChatShapes>(chat, house) } },
  messages: {
    create: createWith<MessagesShapes>(messages, house),
    async countTokens(body, calling) {
      const caller = await callerOf(calling, house)
      const read = messages.decodeCounting ?? messages.decodeRequest
      return house.countTokens(read(jsonOf(body), headerOf(calling)), caller, calling.signal)
    },
  },
})
