import type { Clock } from '../runtime/ports.ts'

/** One of two racing calls. */
export interface RacedCall<Won> {
  /** The result, or undefined if this call failed. A rejection ends both calls. */
  readonly result: Promise<Won | undefined>
  /** Closes its connection. */
  readonly abort: () => void
}

export interface RaceOptions<Won> {
  /** Milliseconds before the second call starts. */
  readonly afterMs: number
  /** Starts the second call. Undefined if there is none. */
  readonly second: () => RacedCall<Won> | undefined
  /** Discards a result that arrived after the winner's. */
  readonly drop: (won: Won) => void
  readonly clock: Clock
}

/** The result of the call that succeeds first. The other call is aborted and has ended when this resolves. Undefined if both failed. */
export function race<Won>(first: RacedCall<Won>, { afterMs, second, drop, clock }: RaceOptions<Won>): Promise<Won | undefined> {
  return new Promise((resolve, reject) => {
    const running = new Map<RacedCall<Won>, Promise<void>>()
    let isOver = false
    const end = (settle: () => void): void => {
      isOver = true
      clock.clearTimeout(timer)
      const others = [...running.values()]
      for (const leg of running.keys()) leg.abort()
      void Promise.all(others).then(settle)
    }
    const follow = (leg: RacedCall<Won>): void => {
      const followed = leg.result.then(
        won => {
          running.delete(leg)
          if (isOver && won) drop(won)
          if (!isOver && (won || running.size === 0)) end(() => resolve(won))
        },
        (error: unknown) => {
          running.delete(leg)
          if (!isOver) end(() => reject(error))
        },
      )
      running.set(leg, followed)
    }
    const timer = clock.setTimeout(() => {
      const other = isOver ? undefined : second()
      if (other) follow(other)
    }, afterMs)
    follow(first)
  })
}
