import type { InferenceEvent } from './event.ts'
import type { Item } from './item.ts'
import { originalOf, remember } from './original.ts'
import type { InferenceResponse } from './response.ts'

/** Turns a whole response into the events of a stream. `fold(unfold(r))` equals `r`. */
export function unfold(response: InferenceResponse): readonly InferenceEvent[] {
  const events: InferenceEvent[] = [{ type: 'started', id: response.id, model: response.model, created_at: response.created_at }]
  response.output.forEach((item, index) => {
    events.push({ type: 'item_started', index, item: shell(item) })
    for (const event of growth(item, index)) events.push(event)
    events.push({ type: 'item_finished', index, item })
  })
  const { outcome, usage, unmodeled } = response
  const finished: InferenceEvent = { type: 'finished', outcome, ...(usage && { usage }), ...(unmodeled && { unmodeled }) }
  events.push(remember(finished, originalOf(response)))
  return events
}

/** The item without its content, as `item_started` announces it. */
function shell(item: Item): Item {
  if (item.type === 'message') return { ...item, content: [], status: 'in_progress' }
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' }
  if (item.type === 'reasoning') return { type: 'reasoning', ...(item.id !== undefined && { id: item.id }), summary: [] }
  return item
}

function growth(item: Item, index: number): readonly InferenceEvent[] {
  const delta = (kind: 'text' | 'refusal' | 'reasoning' | 'summary' | 'arguments', part: number, text: string): InferenceEvent => ({
    type: 'delta',
    index,
    delta: { kind, part, text },
  })
  if (item.type === 'function_call') return item.arguments ? [delta('arguments', 0, item.arguments)] : []
  if (item.type === 'reasoning') {
    return [
      ...item.summary.map((text, part) => delta('summary', part, text)),
      ...(item.content ?? []).map((text, part) => delta('reasoning', part, text)),
    ]
  }
  if (item.type !== 'message') return []
  return item.content.flatMap((part, at): readonly InferenceEvent[] => {
    if (part.type === 'text') {
      return [
        { type: 'delta', index, delta: { kind: 'text', part: at, text: part.text, ...(part.logprobs && { logprobs: part.logprobs }) } },
        ...(part.annotations ?? []).map(
          (annotation): InferenceEvent => ({ type: 'delta', index, delta: { kind: 'annotation', part: at, annotation } }),
        ),
      ]
    }
    return part.type === 'refusal' ? [delta('refusal', at, part.refusal)] : []
  })
}
