import type { CachePoint, Native } from './tool.ts'
import { innerDialect, type JsonObject } from './wire.ts'

export type { Native } from './tool.ts'

/** An element of a conversation, in requests and responses. */
export type Item = MessageItem | FunctionCallItem | FunctionCallOutputItem | ReasoningItem | Native

/** The author of a message. `system` and `developer` are instructions. */
export type Role = 'user' | 'assistant' | 'system' | 'developer'

/** Whether a generated item is complete. Undefined on items from the client. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** A message from the user, the developer or the model. */
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
  /** The tool group, if the tool belongs to one. */
  readonly namespace?: string
  /** JSON text exactly as the model wrote it, possibly invalid. For a custom tool: free text. */
  readonly arguments: string
  /** Whether this is a call of a custom tool, whose input is free text instead of JSON. */
  readonly custom?: boolean
  readonly status?: ItemStatus
  readonly cache?: CachePoint
}

/** The result of a function call, linked to it by `call_id`. */
export interface FunctionCallOutputItem {
  readonly type: 'function_call_output'
  readonly call_id: string
  /** Text, or a list of parts (which may include images) if the client sent a list. */
  readonly output: string | readonly Part[]
  /** Whether the tool failed; `output` then describes the error. */
  readonly is_error?: boolean
  readonly cache?: CachePoint
}

/** Reasoning of the model: a summary, possibly the text, and the state that continues it. */
export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id?: string
  readonly summary: readonly string[]
  /** Raw reasoning, if the model exposes it. */
  readonly content?: readonly string[]
  /**
   * State that only the vendor can read. Between a provider dialect and the gateway it is whatever text the dialect needs to restore the
   * reasoning later: an encrypted blob, a signature, or a small JSON object. Clients never see that text: the gateway seals it in responses
   * and opens it in requests.
   */
  readonly encrypted_content?: string
  /** Whether the provider hides the reasoning: there is state but, by design, no text. */
  readonly redacted?: boolean
}

/** Prefix of reasoning state sealed by this gateway. */
export const sealedPrefix = 'gw1.'

/** The id of an `item_reference`, which refers to an item of an earlier response; undefined for any other item. */
export const referenceOf = (item: Item): string | undefined =>
  item.type === 'native' && item.body.type === 'item_reference' && typeof item.body.id === 'string' ? item.body.id : undefined

const isNativeOf = (item: Item, type: string): item is Native =>
  item.type === 'native' && item.dialect === innerDialect && item.body.type === type

/** Whether an item is a compaction of earlier turns, sealed by this gateway or issued by a vendor. */
export const isCompaction = (item: Item): item is Native => isNativeOf(item, 'compaction')

/** Whether an item asks a vendor to compact the conversation before it. */
export const isCompactionTrigger = (item: Item): item is Native => isNativeOf(item, 'compaction_trigger')

/** A part of a message's content. */
export type Part = TextPart | ImagePart | FilePart | AudioPart | RefusalPart | Native

/** Text with its annotations and log probabilities. */
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
  /** An https or data: URL. The gateway never fetches it. */
  readonly url: string
  readonly detail?: string
  /** Set if the model generated the image in an earlier turn. */
  readonly isGenerated?: true
  readonly cache?: CachePoint
}
/** A document: PDF or plain text. */
export interface FilePart {
  readonly type: 'file'
  /** An https URL, or a data: URL with its media type. */
  readonly url: string
  readonly filename?: string
  /** Whether the answer may cite it (Claude's models). */
  readonly citable?: true
  /** What the model should know of the document, which is not cited (Claude's models). */
  readonly context?: string
  readonly cache?: CachePoint
}
/** Inline audio. */
export interface AudioPart {
  readonly type: 'audio'
  /** Base64-encoded audio. */
  readonly data: string
  /** `wav`, `mp3`… */
  readonly format: string
  readonly cache?: CachePoint
}
/** The model's refusal, in its own words. */
interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}
