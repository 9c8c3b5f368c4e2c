import type { Source } from '../protocol/source.ts'
import type { AnswerTimer } from './answer-timer.ts'
import type { Connection } from './connection.ts'

/** The parts of a stream's state that concern its connection. */
export interface DrainState {
  readonly connection: Connection
  readonly timer: AnswerTimer
  readonly source: Pick<Source<unknown>, 'resume' | 'cancel'>
  /** `opening`: no content yet. `draining`: the last event was delivered, and the connection is read to its end. */
  phase: 'opening' | 'open' | 'draining' | 'over'
  readsAfterEnd: number
  stopDraining?: () => void
}

/** Limits of reading a connection after the last event. */
const drainLimits = { milliseconds: 1_000, reads: 8 } as const

/**
 * After the last event the connection is read to its end, because only then can it be reused. If the provider keeps sending or keeps it
 * open, it is closed.
 */
export function beginDrain(state: DrainState): void {
  if (state.phase === 'over') return
  state.phase = 'draining'
  state.source.resume()
  // The end usually arrives with the last event, before this runs.
  queueMicrotask(() => {
    if (state.phase !== 'draining') return
    const { clock } = state.timer
    const timer = clock.setTimeout(() => hangUp(state), drainLimits.milliseconds)
    const stopDraining = (): void => clock.clearTimeout(timer)
    state.stopDraining = stopDraining
  })
}

export function drainOnce(state: DrainState): void {
  state.readsAfterEnd += 1
  if (state.readsAfterEnd >= drainLimits.reads) hangUp(state)
}

function hangUp(state: DrainState): void {
  if (state.phase !== 'draining') return
  state.connection.close()
  state.source.cancel()
  finishDrain(state)
}

/** Releases the connection. */
export function finishDrain(state: DrainState): void {
  state.phase = 'over'
  state.stopDraining?.()
  state.connection.release()
}
