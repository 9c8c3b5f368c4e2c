import { anyText, required } from '@signalbox/dialects/common'
import { type ReasoningItem, remember } from '@signalbox/dialects/protocol'
import type { PartAtPath } from './part-at-path.ts'
import { dialect, ownOptions } from './wire.ts'

/** The reasoning parts of one item. */
export interface ReasoningParts {
  readonly itemId: string | undefined
  readonly parts: PartAtPath[]
}

/** Decodes reasoning: its texts, and its sealed state if the gateway sent one. */
export function decodeReasoning({ parts }: ReasoningParts): ReasoningItem {
  const summary: string[] = []
  const content: string[] = []
  let state: string | undefined
  for (const part of parts) {
    const own = ownOptions(part.body)
    const text = required(part, 'text', anyText)
    if (text !== '') (own.raw === true ? content : summary).push(text)
    if (typeof own.state === 'string') state = own.state
  }
  const item: ReasoningItem = {
    type: 'reasoning',
    summary,
    ...(content.length > 0 && { content }),
    ...(state !== undefined && { encrypted_content: state }),
  }
  const [first] = parts
  return remember(item, first && { dialect, body: first.body, path: first.path })
}
