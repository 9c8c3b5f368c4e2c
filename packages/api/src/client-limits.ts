/** Limits on how slowly a client may send and receive. */
export interface ClientLimits {
  /** Window over which the speed of an upload is measured, in milliseconds. Default: 15,000. */
  readonly bodyIdleMs?: number
  /** Minimum upload speed in bytes per second, averaged over `bodyIdleMs`. Default: 1,000. */
  readonly bodyBytesPerSecond?: number
  /** Milliseconds after which a client that does not read waiting data is disconnected. Default: 60,000. */
  readonly drainMs?: number
}

const defaultClientLimits: Required<ClientLimits> = { bodyIdleMs: 15_000, bodyBytesPerSecond: 1_000, drainMs: 60_000 }

/** Fills in the defaults of `ClientLimits`. */
export const limitsOf = ({
  bodyIdleMs = defaultClientLimits.bodyIdleMs,
  bodyBytesPerSecond = defaultClientLimits.bodyBytesPerSecond,
  drainMs = defaultClientLimits.drainMs,
}: ClientLimits = {}): Required<ClientLimits> => ({ bodyIdleMs, bodyBytesPerSecond, drainMs })
