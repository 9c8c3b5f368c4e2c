import type { InferenceEvent } from './event.ts'
import type { Item } from './item.ts'
import { originalOf, remember } from './original.ts'
import type { InferenceResponse } from './response.ts'

/** Events → response. A stream without `finished` folds to a failure: truncated is never finished. */
export function fold(events: Iterable<InferenceEvent>): InferenceResponse {
  const folding = startFold()
  for (const event of events) folding.add(event)
  return folding.response()
}

export interface Folding {
  add(event: InferenceEvent): void
  response(): InferenceResponse
}

/** The same, for a stream that arrives in batches. */
export function startFold(): Folding {
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
          error: { kind: 'unreadable', message: 'The stream ended before the answer was finished.' },
        },
        ...(finished?.usage && { usage: finished.usage }),
      }
      return remember(response, finished && originalOf(finished))
    },
  }
}
