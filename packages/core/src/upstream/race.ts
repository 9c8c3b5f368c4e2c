import type { Clock } from '../runtime/ports.ts'

/** A call of two. */
export interface Leg<Won> {
  /** The result, or undefined if this call failed. A rejection ends both calls. */
  readonly result: Promise<Won | undefined>
  /** Closes its connection. */
  readonly cut: () => void
}

export interface Racing<Won> {
  /** How long the first is waited for alone. */
  readonly afterMs: number
  /** Begins the second; nothing where there is none to begin. */
  readonly second: () => Leg<Won> | undefined
  /** Of one that won too, but later. */
  readonly drop: (won: Won) => void
  readonly clock: Clock
}

/** The first of two that wins, and the other is hung up on; it is over before this resolves. Nothing where neither wins. */
export function race<Won>(first: Leg<Won>, { afterMs, second, drop, clock }: Racing<Won>): Promise<Won | undefined> {
  return new Promise((resolve, reject) => {
    const running = new Map<Leg<Won>, Promise<void>>()
    let isOver = false
    const end = (settle: () => void): void => {
      isOver = true
      clock.clearTimeout(timer)
      const others = [...running.values()]
      for (const leg of running.keys()) leg.cut()
      void Promise.all(others).then(settle)
    }
    const follow = (leg: Leg<Won>): void => {
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
