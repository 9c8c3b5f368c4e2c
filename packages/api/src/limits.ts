/** What every server that carries the API keeps its clients to. */
export interface ClientLimits {
  /** A body that says nothing for so long is given up; one that takes longer has to come at 1 kB a second from then on. Default 15,000. */
  readonly bodyIdleMs?: number
  /** A client that takes nothing for so long, while there is something for it, is dropped. Default 60,000. */
  readonly drainMs?: number
}

export const limitsOf = ({ bodyIdleMs = 15_000, drainMs = 60_000 }: ClientLimits = {}): Required<ClientLimits> => ({ bodyIdleMs, drainMs })

/** A byte now and then is not silence, and would keep a connection for as long as it likes. */
export const drips = (bytes: number, elapsedMs: number, bodyIdleMs: number): boolean => bytes < elapsedMs - bodyIdleMs
