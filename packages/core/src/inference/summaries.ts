import type { InferenceEvent } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import type { Prompt } from '../protocol/request.ts'
import type { DialectName } from '../protocol/wire.ts'

type Tell = (batch: readonly InferenceEvent[]) => readonly InferenceEvent[]

/**
 * Thoughts in the raw, told as the summary that the caller asked for: many clients show nothing else. Nothing where none was
 * asked for, and nothing for a language that has summaries of its own and knows what belongs in them.
 */
export function asSummaries({ reasoning }: Prompt, dialect: DialectName): Tell | undefined {
  const isWanted = reasoning?.summary !== undefined && reasoning.summary !== 'none'
  return isWanted && dialect !== 'responses' ? retold : undefined
}

const retold: Tell = batch => (batch.some(isRaw) ? batch.map(event => (isRaw(event) ? retell(event) : event)) : batch)

const isRaw = (event: InferenceEvent): boolean => {
  if (event.type === 'delta') return event.delta.kind === 'reasoning'
  return (event.type === 'item_finished' || event.type === 'item_started') && isRawItem(event.item)
}

const isRawItem = (item: Item): boolean => item.type === 'reasoning' && item.content !== undefined && item.summary.length === 0

function retell(event: InferenceEvent): InferenceEvent {
  if (event.type === 'delta' && event.delta.kind === 'reasoning') return { ...event, delta: { ...event.delta, kind: 'summary' } }
  if ((event.type !== 'item_finished' && event.type !== 'item_started') || event.item.type !== 'reasoning') return event
  const { content = [], ...item } = event.item
  return { ...event, item: { ...item, summary: content } }
}
