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
        ...(finished?.usage && { usage: finished.usage }),
        ...(finished?.unmodeled && { unmodeled: finished.unmodeled }),
      }
      return remember(response, finished && originalOf(finished))
    },
  }
}
