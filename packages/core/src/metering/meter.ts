import { type InferenceEvent, isPreamble } from '../protocol/event.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import type { Clock } from '../runtime/ports.ts'
import { type Drains, drainLimits } from './drains.ts'

/** What passed through a meter. */
export interface Seen {
  /** Absent where the stream was left before its end. */
  readonly outcome?: Outcome
  readonly usage?: Usage
  /** Characters of text, reasoning, arguments and refusals that were handed on. */
  readonly characters: number
  /** Of those, thoughts. */
  readonly thoughtCharacters: number
  /** Something was handed on that has no characters: a picture, what a tool of the provider's found. */
  readonly hasNative?: boolean
  /** Monotonic milliseconds. */
  readonly firstContentAt?: number
  /** When the client left, in monotonic milliseconds. What is known of the end is from reading on without it. */
  readonly leftAt?: number
}

/** What a batch goes through on its way: itself, another, or one that is waited for. */
export type Stage = (batch: readonly InferenceEvent[]) => readonly InferenceEvent[] | Promise<readonly InferenceEvent[]>

/** What an answer may cost while it grows. */
export interface RunningLimit {
  /** Characters from which on it may have passed what is set aside for it. */
  characters: number
  /** Called once it has passed them: raises them, or ends the answer. */
  passed(): Promise<void>
}

export interface Metering {
  readonly clock: Clock
  /** Before the meter looks. Here and not around the source, where each batch would cost a promise of its own. */
  readonly through?: Stage
  /** Absent: nothing bounds it. */
  readonly running?: RunningLimit | undefined
  /** Reads on after the client has left. Absent: the answer is left at once. */
  readonly drains?: Drains | undefined
}

type Step = IteratorResult<readonly InferenceEvent[], undefined>

export interface Metered {
  readonly events: AsyncIterator<readonly InferenceEvent[], undefined>
  /** What has been seen so far. */
  seen(): Seen
  /** The client has left: whoever reads is told so at once. Resolves when the answer is settled, which may take as long as reading on does. */
  leave(): Promise<void>
  /** The answer is read on without its client. */
  isDraining(): boolean
}

/**
 * Passes batches on, looks at each, and calls `end` exactly once, however the stream ends, before the last batch is
 * handed on: what was sent to its end has been paid for. Not a generator on purpose: a generator closed before its
 * first read never runs its `finally`, and one that waits for a read cannot be closed until that read is over.
 */
export function meter(
  source: AsyncIterator<readonly InferenceEvent[], undefined>,
  { clock, through, running, drains }: Metering,
  end: (seen: Seen) => Promise<Usage>,
): Metered {
  let characters = 0
  let thoughtCharacters = 0
  let hasNative = false
  let firstContentAt: number | undefined
  let finished: Extract<InferenceEvent, { type: 'finished' }> | undefined
  let ended: Promise<Usage> | undefined
  let reading: Promise<Step> | undefined
  let left: Left | undefined
  let leaving: Promise<void> | undefined

  const seen = (): Seen => ({
    characters: left?.characters ?? characters,
    thoughtCharacters,
    ...(hasNative && { hasNative }),
    ...(firstContentAt !== undefined && { firstContentAt }),
    ...(finished && { outcome: finished.outcome }),
    ...(finished?.usage && { usage: finished.usage }),
    ...(left && { leftAt: left.at }),
  })
  const finish = (): Promise<Usage> => {
    ended ??= end(seen())
    return ended
  }
  const look = (event: InferenceEvent): void => {
    if (event.type === 'delta' && event.delta.kind !== 'annotation') {
      const { kind, text } = event.delta
      characters += text.length
      if (kind === 'reasoning') thoughtCharacters += text.length
      firstContentAt ??= clock.monotonic()
    } else if (event.type === 'finished') finished = event
    else if (!isPreamble(event)) {
      // Pictures and hidden thoughts are content too, though they come whole.
      firstContentAt ??= clock.monotonic()
      hasNative ||= event.type === 'item_finished' && event.item.type === 'native'
    }
  }
  const pass = (step: Step): Step | Promise<Step> => {
    if (left) return gone(step)
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
    await abandon()
    throw error
  }
  const handOn = (step: Step, batch: readonly InferenceEvent[]): Step | Promise<Step> => {
    for (const event of batch) look(event)
    if (finished) return finish().then(usage => ({ done: false, value: billedAs(usage, batch) }))
    const next: Step = batch === step.value ? step : { done: false, value: batch }
    return running !== undefined && characters > running.characters ? running.passed().then(() => next) : next
  }
  /** What came after the client had left is looked at, and not handed on. */
  const gone = (step: Step): Step => {
    for (const event of step.done || ended ? [] : step.value) look(event)
    const isTold = left?.isTold
    if (left) left.isTold = true
    return isTold ? { done: true, value: undefined } : { done: false, value: [clientLeft] }
  }
  const abandon = async (): Promise<void> => {
    if (ended) {
      await ended
      return
    }
    const closing = close(source)
    await finish()
    await closing
  }
  const readOn = async (): Promise<boolean> => {
    const pending = reading
    reading = undefined
    if (pending) await pending.catch(() => {})
    else {
      const step = await source.next()
      if (step.done) return false
      for (const event of step.value) look(event)
    }
    return finished === undefined && !ended && characters - (left?.characters ?? 0) <= drainLimits.characters
  }
  const leaveOnce = async (): Promise<void> => {
    if (!ended && !left) {
      left = { at: clock.monotonic(), characters, isTold: false }
      if (drains && firstContentAt !== undefined) await drains.run(readOn)
    }
    await abandon()
  }
  const leave = (): Promise<void> => {
    leaving ??= leaveOnce()
    return leaving
  }
  return {
    events: {
      next() {
        if (left) return Promise.resolve(gone({ done: true, value: undefined }))
        reading = source.next().then(pass, broken)
        return reading
      },
      async return() {
        await leave()
        return { done: true, value: undefined }
      },
    },
    seen,
    leave,
    isDraining: () => left !== undefined && ended === undefined,
  }
}

interface Left {
  readonly at: number
  /** That had been handed on by then. */
  readonly characters: number
  /** The reader has been told. */
  isTold: boolean
}

const clientLeft: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: { kind: 'client_left', message: '' } } }

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
