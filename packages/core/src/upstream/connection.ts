import type { Failure, FailureKind } from '../protocol/failure.ts'
import type { Cancellation } from '../runtime/cancellation.ts'

/** Why an answer is stopped before its end, though its provider and its reader would go on. */
export type StopReason = Extract<FailureKind, 'deadline' | 'out_of_credit' | 'out_of_budget'>

/** The connection of one attempt: its own signal, which also follows the request. */
export interface Connection {
  readonly signal: AbortSignal
  readonly cancellation: Cancellation
  /** The client may leave without closing it: what the answer has cost stands at its end. */
  outlivesClient: boolean
  /** Closes it, if it is still open. */
  close(): void
  /** Stops following the request, so that no listeners pile up there. */
  release(): void
}

export function openConnection(cancellation: Cancellation): Connection {
  const controller = new AbortController()
  // Where the request has ended already this is called at once, before there is a way to stop following it.
  let stop = (): void => {}
  const connection: Connection = {
    signal: controller.signal,
    cancellation,
    outlivesClient: false,
    close: () => {
      stop()
      controller.abort(new Error('The attempt is over.'))
    },
    release: () => stop(),
  }
  stop = cancellation.onCancel(() => {
    if (!(connection.outlivesClient && cancellation.reason === 'client_left')) controller.abort(new Error(cancellation.reason))
  })
  return connection
}

/** How an answer was stopped. */
export interface Stop {
  readonly connection: Pick<Connection, 'cancellation'>
  /** Absent: it was not, or only with its request. */
  readonly stopped: StopReason | 'idle' | undefined
  readonly idleMs: number
}

/** The failure of an answer that we ended ourselves; its decoder would only see a broken one. */
export function stopFailure({ connection: { cancellation }, stopped, idleMs }: Stop): Failure | undefined {
  if (cancellation.reason) return { kind: cancellation.reason, message: '' }
  if (stopped === 'idle') return { kind: 'timed_out', message: `No data arrived for ${idleMs} ms.` }
  return stopped && { kind: stopped, message: '' }
}
