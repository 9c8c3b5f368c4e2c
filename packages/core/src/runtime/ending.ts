/** Why a request ends from outside. */
export type EndReason = 'client_left' | 'shut_down'

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
  let why: EndReason | undefined
  const listeners: (() => void)[] = []
  return {
    get why() {
      return why
    },
    end(reason) {
      if (why !== undefined) return
      why = reason
      for (const run of listeners.splice(0)) run()
    },
    onEnd(run) {
      if (why !== undefined) run()
      else listeners.push(run)
      return () => {
        const at = listeners.indexOf(run)
        if (at >= 0) listeners.splice(at, 1)
      }
    },
  }
}
