import type { InferenceEvent } from '../../protocol/event.ts'
import type { Item, ReasoningItem } from '../../protocol/item.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { DialectName } from '../../protocol/wire.ts'

/** Thoughts in the raw, as summaries. */
export interface AsSummaries {
  readonly batch: (batch: readonly InferenceEvent[]) => readonly InferenceEvent[]
  readonly item: (item: Item) => Item
}

/**
 * Thoughts in the raw, told as the summary that the client asked for: many clients show nothing else. Nothing where none was
 * asked for, and nothing for a language that has summaries of its own and knows what belongs in them.
 */
export function asSummaries({ reasoning }: Prompt, dialect: DialectName): AsSummaries | undefined {
  const isWanted = reasoning?.summary !== undefined && reasoning.summary !== 'none'
  return isWanted && dialect !== 'responses' ? summaries : undefined
}

const summaries: AsSummaries = {
  batch: batch => (batch.some(isRaw) ? batch.map(retell) : batch),
  item: item => (isRawItem(item) ? asSummary(item) : item),
}

const isRaw = (event: InferenceEvent): boolean => {
  if (event.type === 'delta') return event.delta.kind === 'reasoning'
  return (event.type === 'item_finished' || event.type === 'item_started') && isRawItem(event.item)
}

const isRawItem = (item: Item): item is ReasoningItem =>
  item.type === 'reasoning' && item.content !== undefined && item.summary.length === 0

function retell(event: InferenceEvent): InferenceEvent {
  if (event.type === 'delta' && event.delta.kind === 'reasoning') return { ...event, delta: { ...event.delta, kind: 'summary' } }
  if ((event.type !== 'item_finished' && event.type !== 'item_started') || !isRawItem(event.item)) return event
  return { ...event, item: asSummary(event.item) }
}

function asSummary({ content = [], ...item }: ReasoningItem): ReasoningItem {
  return { ...item, summary: content }
}
