import type { InferenceEvent, Item, Prompt, ProviderDialect, ReasoningItem } from '@signalbox/dialects/protocol'

/** Turns raw reasoning into summaries. */
export interface SummaryRewriter {
  readonly batch: (batch: readonly InferenceEvent[]) => readonly InferenceEvent[]
  readonly item: (item: Item) => Item
}

/**
 * Turns raw reasoning into the summary that the client requested, because many clients show only summaries. Undefined if no summary was
 * requested or the dialect has its own summaries.
 */
export function summaryRewriter({ reasoning }: Prompt, dialect: ProviderDialect | undefined): SummaryRewriter | undefined {
  const isWanted = reasoning?.summary !== undefined && reasoning.summary !== 'none'
  return isWanted && !dialect?.hasReasoningSummaries ? rewriter : undefined
}

const rewriter: SummaryRewriter = {
  batch: batch => (batch.some(isRaw) ? batch.map(rewriteEvent) : batch),
  item: item => (isRawItem(item) ? withSummary(item) : item),
}

const isRaw = (event: InferenceEvent): boolean => {
  if (event.type === 'delta') return event.delta.kind === 'reasoning'
  return (event.type === 'item_finished' || event.type === 'item_started') && isRawItem(event.item)
}

const isRawItem = (item: Item): item is ReasoningItem =>
  item.type === 'reasoning' && item.content !== undefined && item.summary.length === 0

function rewriteEvent(event: InferenceEvent): InferenceEvent {
  if (event.type === 'delta' && event.delta.kind === 'reasoning') return { ...event, delta: { ...event.delta, kind: 'summary' } }
  if ((event.type !== 'item_finished' && event.type !== 'item_started') || !isRawItem(event.item)) return event
  return { ...event, item: withSummary(event.item) }
}

function withSummary({ content = [], ...item }: ReasoningItem): ReasoningItem {
  return { ...item, summary: content }
}
