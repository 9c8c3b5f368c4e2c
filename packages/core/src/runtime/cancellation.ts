/** Why a request is cancelled. */
type CancelReason = 'client_left' | 'shut_down'

/**
 * Cancels a request when its client disconnects or the gateway closes. A minimal AbortSignal, because a request adds several listeners and
 * an EventTarget takes microseconds for each.
 */
export interface Cancellation {
  /** Set once, by the first `cancel`. */
  readonly reason: CancelReason | undefined
  /** The error code of the gateway, if it is the gateway that cannot go on with the response. Set before `cancel`. */
  failure: string | undefined
  cancel(why: CancelReason): void
  /** Calls `run` on cancellation, or at once if already cancelled. Returns a function that removes the listener. */
  onCancel(run: () => void): () => void
}

export function createCancellation(): Cancellation {
  let listeners: (() => void)[] = []
  // Plain fields instead of getters: a getter on a per-request object keeps each of them alive until a full collection.
  const cancellation: { -readonly [K in keyof Cancellation]: Cancellation[K] } = {
    reason: undefined,
    failure: undefined,
    cancel(reason) {
      if (cancellation.reason !== undefined) return
      cancellation.reason = reason
      const runs = listeners
      listeners = []
      for (const run of runs) run()
    },
    onCancel(run) {
      if (cancellation.reason !== undefined) run()
      else listeners = listeners.concat(run)
      return () => {
        const at = listeners.indexOf(run)
        if (at >= 0) listeners.splice(at, 1)
      }
    },
  }
  return cancellation
}
