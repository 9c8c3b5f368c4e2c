import type { Ending } from '../runtime/ending.ts'

/** The connection of one attempt, as we hold it: its own signal, which also follows the request. */
export interface Line {
  readonly signal: AbortSignal
  readonly ending: Ending
  /** Why we hung up ourselves, if we did. */
  why: 'idle' | 'deadline' | undefined
  /** Closes the connection, if it is still open. */
  hangUp(): void
  /** Stops following the request, so that no listeners pile up there. */
  letGo(): void
}

export function openLine(ending: Ending): Line {
  const controller = new AbortController()
  const letGo = ending.onEnd(() => controller.abort(new Error(ending.why)))
  return {
    signal: controller.signal,
    ending,
    why: undefined,
    hangUp: () => {
      letGo()
      controller.abort(new Error('The attempt is over.'))
    },
    letGo,
  }
}
