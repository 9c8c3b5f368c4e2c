import type { DialectName, JsonObject } from './wire.ts'

/** What a conversation is made of, going in and coming out. */
export type Item = MessageItem | FunctionCallItem | FunctionCallOutputItem | ReasoningItem | Native

export type Role = 'user' | 'assistant' | 'system' | 'developer'

/** Whether a generated item reached its end. Absent on what a client sends. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface MessageItem {
  readonly type: 'message'
  readonly id?: string
  readonly role: Role
  readonly content: readonly Part[]
  readonly phase?: 'commentary' | 'final_answer'
  readonly status?: ItemStatus
}

export interface FunctionCallItem {
  readonly type: 'function_call'
  readonly id?: string
  readonly call_id: string
  readonly name: string
  /** JSON text, exactly as the model wrote it; it may be invalid. */
  readonly arguments: string
  readonly status?: ItemStatus
}

export interface FunctionCallOutputItem {
  readonly type: 'function_call_output'
  readonly call_id: string
  /** Text, or parts where the client sent a list (images among them). */
  readonly output: string | readonly Part[]
}

export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id?: string
  readonly summary: readonly string[]
  /** Thoughts in the raw, where a model shows them. */
  readonly content?: readonly string[]
  readonly encrypted_content?: string
}

/** Anything we do not model. It can be replayed in its own dialect and nowhere else. */
export interface Native {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly body: JsonObject
}

export type Part = TextPart | ImagePart | RefusalPart | Native

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: readonly JsonObject[]
  readonly logprobs?: readonly JsonObject[]
}
export interface ImagePart {
  readonly type: 'image'
  /** An https address or a data: address; never fetched by us. */
  readonly url: string
  readonly detail?: string
}
export interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}
