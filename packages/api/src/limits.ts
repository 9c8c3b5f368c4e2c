/** What every server that carries the API holds its clients to. */
export interface ClientLimits {
  /** The window over which the pace of a body is judged, silence included. Default 15,000. */
  readonly bodyIdleMs?: number
  /** A body that is not there yet has to bring so many bytes a second, on average over each `bodyIdleMs`. Default 1,000. */
  readonly bodyBytesPerSecond?: number
  /** A client that takes nothing for so long, while there is something for it, is dropped. Default 60,000. */
  readonly drainMs?: number
}

const defaultClientLimits: Required<ClientLimits> = { bodyIdleMs: 15_000, bodyBytesPerSecond: 1_000, drainMs: 60_000 }

export const limitsOf = ({
  bodyIdleMs = defaultClientLimits.bodyIdleMs,
  bodyBytesPerSecond = defaultClientLimits.bodyBytesPerSecond,
  drainMs = defaultClientLimits.drainMs,
}: ClientLimits = {}): Required<ClientLimits> => ({ bodyIdleMs, bodyBytesPerSecond, drainMs })
