import type { JsonObject } from '@signalbox/dialects/protocol'
import type { GatewayFetch } from '@signalbox/fetch-handler'

// What clients of every dialect have in common: they send a message, receive a response, and continue.

export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** Input with what came from a cache, output with reasoning: each token once. */
export interface Counts {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** An answer as a vendor's own client understood it. */
export interface Heard {
  readonly text: string
  /** The text piece by piece, put together; of a whole answer the text. */
  readonly told: string
  readonly reasoning: string
  readonly calls: readonly Call[]
  readonly refusal: string
  /** `filter`: withheld or refused, if a dialect has one reason for both. */
  readonly finish: 'stop' | 'calls' | 'length' | 'filter'
  readonly usage: Counts
}

export interface Asking {
  readonly stream: boolean
  readonly tools?: readonly { readonly name: string; readonly parameters: JsonObject }[]
  /** Of the answer. */
  readonly schema?: JsonObject
  readonly model?: string
  /** Fields of the body beyond what the vendor knows. */
  readonly more?: JsonObject
}

export interface Picture {
  readonly type: 'image/png'
  /** Base64. */
  readonly data: string
}

/** A conversation in one dialect, stored as its client stores it. */
export interface Conversation {
  say(text: string, picture?: Picture): void
  /** What the tools gave back, in the order of the calls. */
  answer(calls: readonly Call[], outputs: readonly string[]): void
  /** The next answer. It becomes part of the conversation. */
  ask(asking: Asking): Promise<Heard>
}

export interface Testbed {
  readonly secret: string
  /** Without the version: each client writes that as it does. */
  readonly url: string
  readonly fetch?: GatewayFetch
}

type ErrorClass = abstract new (...args: never) => Error

export interface Client {
  readonly dialect: 'responses' | 'chat' | 'messages'
  /** What it throws: always, and for a fault of the request. */
  readonly errors: { readonly any: ErrorClass; readonly badRequest: ErrorClass }
  converse(testbed: Testbed): Conversation
}
