import { allTools, isHosted } from '@signalbox/dialects/common'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { type Cancellation, createCancellation } from '../../runtime/cancellation.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { SelectedOffer } from '../../upstream/attempt.ts'

/** Whether a request may be hedged: streams with fallbacks, and without hosted tools, which must not run twice. */
export const hedges = ({ hedge }: { readonly hedge: boolean }, { delivery, prompt, routing }: InferenceRequest): boolean =>
  (routing.hedge ?? hedge) &&
  delivery === 'stream' &&
  routing.allow_fallbacks &&
  prompt.tools?.some(({ type }) => type === 'native') !== true &&
  !allTools(prompt).some(isHosted)

/** Whether an offer may be the second call of a hedge: it needs no wait and is within the operator's cost limit. */
export const affordsBeside = (
  { maxHedgeCost }: { readonly maxHedgeCost: number },
  { choice: { estimate, waitMs } }: SelectedOffer,
): boolean => waitMs <= 0 && estimate.cost <= maxHedgeCost

/** The cancellation of one of two concurrent calls of a request: it follows the request, and can be aborted alone. */
export interface AbortScope extends Cancellation {
  /** The other call won, or the request is over. */
  readonly isAborted: boolean
  abort(): void
}

/** `cancel` of the scope cancels the whole request; `abort` ends only the scope. */
export function abortScope(request: Cancellation): AbortScope {
  const own = createCancellation()
  const cancelOwn = own.cancel
  const release = request.onCancel(() => cancelOwn(request.reason ?? 'client_left'))
  const scope: { -readonly [K in keyof AbortScope]: AbortScope[K] } = Object.assign(own, {
    cancel: request.cancel,
    isAborted: false,
    abort() {
      scope.isAborted = true
      release()
      cancelOwn('client_left')
    },
  })
  return scope
}

/** One of two racing calls. */
export interface RacedCall<Won> {
  /** The result, or undefined if this call failed. A rejection ends both calls. */
  readonly result: Promise<Won | undefined>
  /** Closes its connection. */
  readonly abort: () => void
}

interface RaceOptions<Won> {
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
