import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'

/** The name of the dialect. */
export const dialect = 'ai-sdk'

/** The version of the AI SDK's language model specification. */
export const specificationVersion = 'v4'

/** The key of the gateway in `providerOptions` and `providerMetadata`. */
export const optionsKey = 'gateway'

/** A whole answer. */
export type GenerateResult = LanguageModelV4GenerateResult
/** A part of a streamed answer. */
export type StreamPart = LanguageModelV4StreamPart
/** An entry of a whole answer's content. */
export type ResultContent = GenerateResult['content'][number]

/** Data that the gateway keeps in `providerMetadata.gateway` of a part. The AI SDK sends it back as `providerOptions.gateway` with the next turn. */
export interface PartMetadata {
  /** Parts of one reasoning item have the same id. */
  readonly itemId?: string
  /** Sealed reasoning state. */
  readonly state?: string
  /** Whether the text is raw reasoning instead of a summary. */
  readonly raw?: true
  /** Whether the text is a refusal. */
  readonly refusal?: true
  readonly phase?: 'commentary' | 'final_answer'
  /** An item without an AI SDK type, and the dialect it is written in. */
  readonly item?: { readonly dialect: string; readonly body: JsonObject }
}

/** `providerMetadata` with the fields that are set; absent if none is. */
export const metadataOf = (metadata: PartMetadata): { readonly providerMetadata?: Record<string, SdkObject> } =>
  Object.keys(metadata).length > 0 ? { providerMetadata: { [optionsKey]: { ...metadata } as unknown as SdkObject } } : {}

type SdkObject = NonNullable<GenerateResult['providerMetadata']>[string]

/** `providerOptions.gateway` of a message or part; empty if there is none. */
export function ownOptions({ providerOptions }: JsonObject): JsonObject {
  const own: Json | undefined = isObject(providerOptions) ? providerOptions[optionsKey] : undefined
  return isObject(own) ? own : {}
}
