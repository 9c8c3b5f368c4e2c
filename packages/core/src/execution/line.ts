import type { FailureKind } from '../protocol/failure.ts'
import type { Ending } from '../runtime/ending.ts'

/** Why an answer is ended before its end, though its provider and its reader would go on. */
export type CutReason = Extract<FailureKind, 'deadline' | 'out_of_credit' | 'out_of_budget'>

/** The connection of one attempt, as we hold it: its own signal, which also follows the request. */
export interface Line {
  readonly signal: AbortSignal
  readonly ending: Ending
  /** Why we hung up ourselves, if we did. */
  why: 'idle' | CutReason | undefined
  /** The client may leave without ending it: what it has cost stands at its end. */
  outlivesClient: boolean
  /** Closes the connection, if it is still open. */
  hangUp(): void
  /** Stops following the request, so that no listeners pile up there. */
  letGo(): void
}

export function openLine(ending: Ending): Line {
  const controller = new AbortController()
  const letGo = ending.onEnd(() => {
    if (!(line.outlivesClient && ending.why === 'client_left')) controller.abort(new Error(ending.why))
  })
  const line: Line = {
    signal: controller.signal,
    ending,
    why: undefined,
    outlivesClient: false,
    hangUp: () => {
      letGo()
      controller.abort(new Error('The attempt is over.'))
    },
    letGo,
  }
  return line
}
