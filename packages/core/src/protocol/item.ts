import type { CachePoint, Native } from './tool.ts'
import { innerDialect, type JsonObject } from './wire.ts'

export type { CachePoint, Native } from './tool.ts'

/** What a conversation is made of, going in and coming out. */
export type Item = MessageItem | FunctionCallItem | FunctionCallOutputItem | ReasoningItem | Native

/** The author of a message. `system` and `developer` are instructions. */
export type Role = 'user' | 'assistant' | 'system' | 'developer'

/** Whether a generated item reached its end. Absent on what a client sends. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** A message of the user, the developer or the model. */
export interface MessageItem {
  readonly type: 'message'
  readonly id?: string
  readonly role: Role
  readonly content: readonly Part[]
  readonly phase?: 'commentary' | 'final_answer'
  readonly status?: ItemStatus
}

/** A call of a function tool, made by the model. */
export interface FunctionCallItem {
  readonly type: 'function_call'
  readonly id?: string
  readonly call_id: string
  readonly name: string
  /** The group that the tool belongs to, where tools come in groups. */
  readonly namespace?: string
  /** JSON text, exactly as the model wrote it; it may be invalid. Free text in a call of a custom tool. */
  readonly arguments: string
  /** The call of a custom tool, whose input is free text and not JSON. */
  readonly custom?: boolean
  readonly status?: ItemStatus
  readonly cache?: CachePoint
}

/** The result of a function call, joined to it by `call_id`. */
export interface FunctionCallOutputItem {
  readonly type: 'function_call_output'
  readonly call_id: string
  /** Text, or parts where the client sent a list (images among them). */
  readonly output: string | readonly Part[]
  /** The tool failed, and `output` says how. */
  readonly is_error?: boolean
  readonly cache?: CachePoint
}

/** A thought of the model: its summary, maybe its text, and the state that continues it. */
export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id?: string
  readonly summary: readonly string[]
  /** Thoughts in the raw, where a model shows them. */
  readonly content?: readonly string[]
  /**
   * State that only its maker can read. Between a provider half and the gateway it is the provider half's own text: an
   * encrypted blob, a signature, a small JSON object, whatever it needs to restore the thought on the way back. Callers
   * never see that text: the gateway seals it on the way out and opens it on the way in.
   */
  readonly encrypted_content?: string
  /** The provider hides the thought: there is state, and on purpose no text. */
  readonly redacted?: boolean
}

/** How state begins that this gateway has sealed. */
export const sealedPrefix = 'gw1.'

/** The id of an item of an earlier answer that stands in a request by its id alone (`item_reference`); undefined for every other item. */
export const referenceOf = (item: Item): string | undefined =>
  item.type === 'native' && item.body.type === 'item_reference' && typeof item.body.id === 'string' ? item.body.id : undefined

const isNativeOf = (item: Item, type: string): item is Native =>
  item.type === 'native' && item.dialect === innerDialect && item.body.type === type

/** Whether an item stands for earlier turns of a conversation, sealed by this gateway or made by a vendor. */
export const isCompaction = (item: Item): item is Native => isNativeOf(item, 'compaction')

/** Whether an item asks a vendor to compact the conversation before it. */
export const isCompactionTrigger = (item: Item): item is Native => isNativeOf(item, 'compaction_trigger')

/** A part of a message's content. */
export type Part = TextPart | ImagePart | FilePart | AudioPart | RefusalPart | Native

/** Text, with the annotations and log probabilities that came with it. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: readonly JsonObject[]
  readonly logprobs?: readonly JsonObject[]
  readonly cache?: CachePoint
}
/** An image. */
export interface ImagePart {
  readonly type: 'image'
  /** An https address or a data: address; never fetched by us. */
  readonly url: string
  readonly detail?: string
  /** The model made it in an earlier turn. */
  readonly isGenerated?: true
  readonly cache?: CachePoint
}
/** A document: PDF or plain text. */
export interface FilePart {
  readonly type: 'file'
  /** An https address, or a data: address with its media type. */
  readonly url: string
  readonly filename?: string
  readonly cache?: CachePoint
}
/** Audio, inline. */
export interface AudioPart {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  /** `wav`, `mp3`… */
  readonly format: string
  readonly cache?: CachePoint
}
/** The model's refusal to answer, in its words. */
export interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}
