import { objectIn } from '../common/json.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'

// Reasoning state is the wire block as text: providers accept reasoning only exactly as they sent it.

export interface ReasoningBlock {
  readonly text: string
  readonly signature: string
  /** Base64 of redacted reasoning. */
  readonly redacted: string
}

/** Undefined without a signature, because no provider accepts unsigned reasoning. */
export function encodeReasoningState({ text, signature, redacted }: ReasoningBlock): string | undefined {
  if (redacted !== '') return JSON.stringify({ redactedContent: redacted })
  return signature === '' ? undefined : JSON.stringify({ reasoningText: { text, signature } })
}

export function decodeReasoningState(state: string): JsonObject | undefined {
  const block = objectIn(state)
  return block && (isObject(block.reasoningText) || typeof block.redactedContent === 'string') ? block : undefined
}
