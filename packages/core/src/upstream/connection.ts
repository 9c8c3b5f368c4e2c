import type { Failure, FailureKind } from '@signalbox/dialects/protocol'
import type { Cancellation } from '../runtime/cancellation.ts'

/** Why the gateway stops a response before its end. */
export type StopReason = Extract<FailureKind, 'deadline' | 'out_of_credit' | 'out_of_budget'>

/** The connection of one attempt. Its signal also follows the request. */
export interface Connection {
  readonly signal: AbortSignal
  readonly cancellation: Cancellation
  /** The connection stays open when the client disconnects, because usage comes at the end of the response. */
  outlivesClient: boolean
  /** Called after the request was cancelled. */
  onCancelled: (() => void) | undefined
  /** Closes it, if it is still open. */
  close(): void
  /** Stops following the request, so that listeners do not accumulate there. */
  release(): void
}

export function openConnection(cancellation: Cancellation): Connection {
  const controller = new AbortController()
  // If the request has already ended, the listener below runs before `stop` is assigned.
  let stop = (): void => {}
  const connection: Connection = {
    signal: controller.signal,
    cancellation,
    outlivesClient: false,
    onCancelled: undefined,
    close: () => {
      stop()
      controller.abort(new Error('The attempt is over.'))
    },
    release: () => stop(),
  }
  stop = cancellation.onCancel(() => {
    if (!(connection.outlivesClient && cancellation.reason === 'client_left')) controller.abort(new Error(cancellation.reason))
    connection.onCancelled?.()
  })
  return connection
}

/** How a response was stopped. */
export interface Stop {
  readonly connection: Pick<Connection, 'cancellation'>
  /** Undefined if it was not stopped, or only with its request. */
  readonly stopped: StopReason | 'idle' | undefined
  readonly idleMs: number
}

/** The failure of a response that the gateway stopped; its decoder would only report a broken stream. */
export function stopFailure({ connection: { cancellation }, stopped, idleMs }: Stop): Failure | undefined {
  if (cancellation.reason) return { kind: cancellation.reason, message: '' }
  if (stopped === 'idle') return { kind: 'timed_out', message: `No data arrived for ${idleMs} ms.` }
  return stopped && { kind: stopped, message: '' }
}
