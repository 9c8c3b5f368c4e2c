import { type InferenceEvent, isPreamble } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Usage } from '../protocol/response.ts'

export type Batch = readonly InferenceEvent[]
export type Batches = AsyncIterator<Batch, undefined>

export type Committed =
  /** `usage`: as the provider told it, where the answer is already over. */
  { readonly ok: true; readonly events: Batches; readonly usage?: Usage } | { readonly ok: false; readonly failure: Failure }

/** At most this much is held back: a preamble longer than that is content of some kind. */
const maxHeld = 10_000

/**
 * Reads until the first content, holding the preamble back; `whole`: until the end. Before that point nothing has reached
 * the caller and another provider may still be tried; after it, never.
 */
export async function commit(events: Batches, whole: boolean): Promise<Committed> {
  const held: Batch[] = []
  let size = 0
  for (;;) {
    const step = await events.next()
    if (step.done) return { ok: false, failure: { kind: 'unreadable', message: 'The stream ended before any content.' } }
    const batch = step.value
    const last = batch.at(-1)
    if (last?.type === 'finished' && last.outcome.status === 'failed' && (whole || !batch.some(isContent))) {
      await events.return?.()
      return { ok: false, failure: last.outcome.error }
    }
    if (batch.length > 0) held.push(batch)
    size += batch.length
    if (last?.type === 'finished') return { ok: true, events: replay(held, events), ...(last.usage && { usage: last.usage }) }
    if (!whole && (size > maxHeld || batch.some(isContent))) return { ok: true, events: replay(held, events) }
  }
}

const isContent = (event: InferenceEvent): boolean => event.type !== 'finished' && !isPreamble(event)

/** By place, and not by taking the first away: of a long list that would move all others each time. */
function replay(held: Batch[], rest: Batches): Batches {
  let at = 0
  return {
    next: () => {
      const value = held[at]
      if (!value) return rest.next()
      at += 1
      if (at === held.length) held.length = 0
      return Promise.resolve({ done: false, value })
    },
    return: () => {
      held.length = 0
      return rest.return?.() ?? Promise.resolve({ done: true, value: undefined })
    },
  }
}
