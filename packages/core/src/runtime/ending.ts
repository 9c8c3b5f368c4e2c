/** Why a request ends from outside. */
type EndReason = 'client_left' | 'shut_down'

/**
 * Ends a request from outside: its caller leaves, or the gateway closes. An AbortSignal in small, since a request makes
 * several listeners and an EventTarget takes microseconds for each.
 */
export interface Ending {
  /** Set once, by the first `end`. */
  readonly why: EndReason | undefined
  end(why: EndReason): void
  /** Runs at the end, at once if that has come. Returns how to stop listening. */
  onEnd(run: () => void): () => void
}

export function makeEnding(): Ending {
  const listeners: (() => void)[] = []
  // Fields, no getters: a getter in an object made per request keeps each of them alive until a full collection.
  const ending: { -readonly [K in keyof Ending]: Ending[K] } = {
    why: undefined,
    end(reason) {
      if (ending.why !== undefined) return
      ending.why = reason
      for (const run of listeners.splice(0)) run()
    },
    onEnd(run) {
      if (ending.why !== undefined) run()
      else listeners.push(run)
      return () => {
        const at = listeners.indexOf(run)
        if (at >= 0) listeners.splice(at, 1)
      }
    },
  }
  return ending
}
