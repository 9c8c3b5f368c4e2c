import type { InferenceEvent } from './event.ts'
import type { Item } from './item.ts'
import { originalOf, remember } from './original.ts'
import type { InferenceResponse } from './response.ts'

/** Folds the events of a stream into a response. A stream without `finished` becomes a failed response. */
export function fold(events: Iterable<InferenceEvent>): InferenceResponse {
  const builder = startFold()
  for (const event of events) builder.add(event)
  return builder.response()
}

/** Builds a response from batches of events. */
export interface ResponseFold {
  add(event: InferenceEvent): void
  response(): InferenceResponse
}

/** Starts a fold for a stream that arrives in batches. */
export function startFold(): ResponseFold {
  const output: Item[] = []
  let started: Extract<InferenceEvent, { type: 'started' }> | undefined
  let finished: Extract<InferenceEvent, { type: 'finished' }> | undefined
  return {
    add(event) {
      if (event.type === 'started') started ??= event
      else if (event.type === 'item_started' || event.type === 'item_finished') output[event.index] = event.item
      else if (event.type === 'finished') finished ??= event
    },
    response: () => {
      const response: InferenceResponse = {
        id: started?.id ?? '',
        model: started?.model ?? '',
        created_at: started?.created_at ?? 0,
        output,
        outcome: finished?.outcome ?? {
          status: 'failed',
          error: { kind: 'unreadable', message: 'The stream ended before the response was complete.' },
        },
        usage: finished?.usage,
        unmodeled: finished?.unmodeled,
      }
      return remember(response, finished && originalOf(finished))
    },
  }
}

/** Turns a whole response into the events of a stream. `fold(unfold(r))` equals `r`. */
export function unfold(response: InferenceResponse): readonly InferenceEvent[] {
  const events: InferenceEvent[] = [{ type: 'started', id: response.id, model: response.model, created_at: response.created_at }]
  response.output.forEach((item, index) => {
    events.push({ type: 'item_started', index, item: shell(item) })
    for (const event of growth(item, index)) events.push(event)
    events.push({ type: 'item_finished', index, item })
  })
  const { outcome, usage, unmodeled } = response
  const finished: InferenceEvent = { type: 'finished', outcome, usage, unmodeled }
  events.push(remember(finished, originalOf(response)))
  return events
}

/** The item without its content, as `item_started` announces it. */
function shell(item: Item): Item {
  if (item.type === 'message') return { ...item, content: [], status: 'in_progress' }
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' }
  if (item.type === 'reasoning') return { type: 'reasoning', id: item.id, summary: [] }
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
        { type: 'delta', index, delta: { kind: 'text', part: at, text: part.text, logprobs: part.logprobs } },
        ...(part.annotations ?? []).map(
          (annotation): InferenceEvent => ({ type: 'delta', index, delta: { kind: 'annotation', part: at, annotation } }),
        ),
      ]
    }
    return part.type === 'refusal' ? [delta('refusal', at, part.refusal)] : []
  })
}
