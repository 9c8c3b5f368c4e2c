import type { InferenceEvent } from '../protocol/event.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import type { Clock } from '../runtime/ports.ts'

/** What passed through a meter. */
export interface Seen {
  /** Absent where the stream was left before its end. */
  readonly outcome?: Outcome
  readonly usage?: Usage
  /** Characters of text, reasoning, arguments and refusals that were handed on. */
  readonly characters: number
  /** Monotonic milliseconds. */
  readonly firstContentAt?: number
}

/** What a batch goes through on its way: itself, another, or one that is waited for. */
export type Stage = (batch: readonly InferenceEvent[]) => readonly InferenceEvent[] | Promise<readonly InferenceEvent[]>

export interface Metering {
  readonly clock: Clock
  /** Before the meter looks. Here and not around the source, where each batch would cost a promise of its own. */
  readonly through?: Stage
}

type Step = IteratorResult<readonly InferenceEvent[], undefined>

export interface Metered {
  readonly events: AsyncIterator<readonly InferenceEvent[], undefined>
  /** What has been seen so far. */
  seen(): Seen
  /** The caller has left: hangs up and ends, also when nobody is reading. */
  leave(): Promise<void>
}

/**
 * Passes batches on, looks at each, and calls `end` exactly once, however the stream ends, before the last batch is
 * handed on: what was sent to its end has been paid for. Not a generator on purpose: a generator closed before its
 * first read never runs its `finally`, and one that waits for a read cannot be closed until that read is over.
 */
export function meter(
  source: AsyncIterator<readonly InferenceEvent[], undefined>,
  { clock, through }: Metering,
  end: (seen: Seen) => Promise<Usage>,
): Metered {
  let characters = 0
  let firstContentAt: number | undefined
  let finished: Extract<InferenceEvent, { type: 'finished' }> | undefined
  let ended: Promise<Usage> | undefined

  const seen = (): Seen => ({
    characters,
    ...(firstContentAt !== undefined && { firstContentAt }),
    ...(finished && { outcome: finished.outcome }),
    ...(finished?.usage && { usage: finished.usage }),
  })
  const finish = (): Promise<Usage> => {
    ended ??= end(seen())
    return ended
  }
  const look = (event: InferenceEvent): void => {
    if (event.type === 'delta' && event.delta.kind !== 'annotation') {
      characters += event.delta.text.length
      firstContentAt ??= clock.monotonic()
    } else if (event.type === 'finished') finished = event
  }
  const pass = (step: Step): Step | Promise<Step> => {
    if (step.done) return finish().then(() => step)
    try {
      const batch = through ? through(step.value) : step.value
      return batch instanceof Promise ? batch.then(each => handOn(step, each)).catch(broken) : handOn(step, batch)
    } catch (error) {
      return broken(error)
    }
  }
  /** Nothing on the way should throw. What does all the same leaves no hold and no slot behind. */
  const broken = async (error: unknown): Promise<never> => {
    await leave()
    throw error
  }
  const handOn = (step: Step, batch: readonly InferenceEvent[]): Step | Promise<Step> => {
    for (const event of batch) look(event)
    if (finished) return finish().then(usage => ({ done: false, value: billedAs(usage, batch) }))
    return batch === step.value ? step : { done: false, value: batch }
  }
  const leave = async (): Promise<void> => {
    if (ended) {
      await ended
      return
    }
    const closing = close(source)
    await finish()
    await closing
  }
  return {
    events: {
      next: () => source.next().then(pass, broken),
      async return() {
        await leave()
        return { done: true, value: undefined }
      },
    },
    seen,
    leave,
  }
}

/** What a source says when it is closed is of no interest any more; a transport that throws then must not end the process. */
async function close(source: AsyncIterator<unknown, undefined>): Promise<void> {
  try {
    await source.return?.()
  } catch {
    // It is closed as far as we are concerned.
  }
}

/** The last event carries the usage that was billed, also where the provider said nothing, or nonsense. */
const billedAs = (usage: Usage, batch: readonly InferenceEvent[]): readonly InferenceEvent[] =>
  batch.map(event => (event.type === 'finished' && event.usage !== usage ? remember({ ...event, usage }, originalOf(event)) : event))
