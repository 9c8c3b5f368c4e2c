import { performance } from 'node:perf_hooks'
import { sqlStateOf } from './client.ts'

// A circuit breaker for a server that accepts connections and answers nothing. An error comes by itself; a silence has to be measured.
// Silence is not slowness: while any statement is answered, or a probe is, the others wait for their own timeouts.

/** Times of the circuit breaker, in milliseconds. */
export const breakerLimits = {
  /** Between two looks at what is pending. */
  lookMs: 250,
  /** Without an answer before a probe is sent, and the wait for the answer to a probe. */
  probeMs: 1_500,
  /** Without an answer before the server counts as silent: what is pending fails then, and what comes later fails at once. */
  maxMs: 3_000,
  /** Between two probes of a silent server. */
  nextProbeMs: 250,
} as const

/** The error of a statement that was given up, or not sent, because the server is silent. */
export class UnresponsiveServerError extends Error {
  override readonly name = 'UnresponsiveServerError'
  constructor() {
    super(`the server has not responded for ${breakerLimits.maxMs / 1_000} s`)
  }
}

/** Silence of the server opens it, and the next answer, of a probe or of any statement, closes it. */
export interface CircuitBreaker {
  /** Runs a statement that fails with `UnresponsiveServerError` once the server is silent; the signal is for its connection. */
  run<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Runs a statement that waits for its own timeout. Its answer counts. */
  follow<T>(send: () => Promise<T>): Promise<T>
  close(): void
}

interface BreakerState {
  readonly probe: (signal: AbortSignal) => Promise<unknown>
  /** Since when each waits, in the order of their beginnings. Monotonic milliseconds. */
  readonly pending: Map<AbortController, number>
  answeredAt: number
  isSilent: boolean
  /** The probe that is under way. */
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

/** An error of the server is an answer too; one of the connection is not. */
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
    // Answers that arrived while the process was busy are read first.
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
