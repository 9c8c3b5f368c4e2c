import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { objectIn } from '../json.ts'

// The state of a reasoning item is its wire block as text: providers accept a thought only exactly as they sent it.

export interface Thought {
  readonly text: string
  readonly signature: string
  /** Base64 of a thought that the provider hides. */
  readonly redacted: string
}

/** Undefined without a signature: no provider would accept the thought. */
export function encodeReasoningState({ text, signature, redacted }: Thought): string | undefined {
  if (redacted !== '') return JSON.stringify({ redactedContent: redacted })
  return signature === '' ? undefined : JSON.stringify({ reasoningText: { text, signature } })
}

export function decodeReasoningState(state: string): JsonObject | undefined {
  const block = objectIn(state)
  return block && (isObject(block.reasoningText) || typeof block.redactedContent === 'string') ? block : undefined
}
