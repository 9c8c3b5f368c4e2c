import { performance } from 'node:perf_hooks'
import { sqlStateOf } from './client.ts'

// A circuit breaker for a server that accepts connections but does not respond. Errors arrive by themselves; silence must be measured. A
// slow server is not silent: while any statement or probe gets a response, the others wait for their own timeouts.

/** Timing of the circuit breaker in milliseconds. */
export const breakerLimits = {
  /** Between two checks of pending statements. */
  lookMs: 250,
  /** Silence before a probe is sent, and how long a probe may take. */
  probeMs: 1_500,
  /** Silence after which the server counts as silent: pending statements fail, and new ones fail at once. */
  maxMs: 3_000,
  /** Between two probes of a silent server. */
  nextProbeMs: 250,
} as const

/** The error of a statement that was given up or not sent because the server is silent. */
export class UnresponsiveServerError extends Error {
  override readonly name = 'UnresponsiveServerError'
  constructor() {
    super(`the server has not responded for ${breakerLimits.maxMs / 1_000} s`)
  }
}

/** Opens when the server is silent, and closes with the next response to a probe or statement. */
export interface CircuitBreaker {
  /** Runs a statement that fails with `UnresponsiveServerError` when the server is silent. The signal is for its connection. */
  run<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Runs a statement that waits for its own timeout. Its response counts. */
  follow<T>(send: () => Promise<T>): Promise<T>
  close(): void
}

interface BreakerState {
  readonly probe: (signal: AbortSignal) => Promise<unknown>
  /** Start of each pending statement in monotonic milliseconds, oldest first. */
  readonly pending: Map<AbortController, number>
  answeredAt: number
  isSilent: boolean
  /** The running probe. */
  probing: AbortSignal | undefined
  isClosed: boolean
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Creates the breaker of one server. `createCircuitBreaker(signal => client.run(selectOne, signal)).run(send)` */
export function createCircuitBreaker(probe: BreakerState['probe']): CircuitBreaker {
  const state: BreakerState = {
    ...{ probe, pending: new Map(), answeredAt: 0 },
    ...{ isSilent: false, probing: undefined, isClosed: false, timer: undefined },
  }
  return {
    async run(send) {
      if (state.isSilent) throw new UnresponsiveServerError()
      const abort = new AbortController()
      state.pending.set(abort, performance.now())
      lookLater(state, breakerLimits.lookMs)
      const silence = new Promise<never>((_, reject) => {
        abort.signal.addEventListener('abort', () => reject(new UnresponsiveServerError()), { once: true })
      })
      try {
        return await Promise.race([follow(state, send(abort.signal)), silence])
      } finally {
        state.pending.delete(abort)
      }
    },
    follow: send => follow(state, send()),
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
    },
  }
}

/** An error from the server is a response too; a connection error is not. */
function follow<T>(state: BreakerState, running: Promise<T>): Promise<T> {
  const answered = (): void => {
    state.answeredAt = performance.now()
    state.isSilent = false
  }
  running.then(answered, error => {
    if ((sqlStateOf(error) ?? sqlStateOf((error as Error | undefined)?.cause)) !== undefined) answered()
  })
  return running
}

function lookLater(state: BreakerState, waitMs: number): void {
  if (state.timer !== undefined || state.isClosed) return
  state.timer = setTimeout(() => {
    // Reads responses first that arrived while the process was busy.
    setImmediate(() => checkSilence(state))
  }, waitMs)
  state.timer.unref?.()
}

function checkSilence(state: BreakerState): void {
  state.timer = undefined
  const { pending, answeredAt, isSilent } = state
  const [oldest] = pending.values()
  if (isSilent) sendProbe(state)
  else if (oldest !== undefined) {
    const silentMs = performance.now() - Math.max(oldest, answeredAt)
    if (silentMs >= breakerLimits.probeMs) sendProbe(state)
    if (silentMs >= breakerLimits.maxMs) beginSilence(state)
  }
  if (state.isSilent) lookLater(state, breakerLimits.nextProbeMs)
  else if (pending.size > 0) lookLater(state, breakerLimits.lookMs)
}

function beginSilence(state: BreakerState): void {
  state.isSilent = true
  for (const abort of state.pending.keys()) abort.abort()
  state.pending.clear()
}

function sendProbe(state: BreakerState): void {
  if (state.probing && !state.probing.aborted) return
  const signal = AbortSignal.timeout(breakerLimits.probeMs)
  state.probing = signal
  follow(state, state.probe(signal))
    .catch(() => undefined)
    .finally(() => {
      if (state.probing === signal) state.probing = undefined
    })
}
