import { performance } from 'node:perf_hooks'
import { sqlStateOf } from './client.ts'

// A server that accepts connections and answers nothing is noticed here. An error comes by itself; a silence has to be measured.
// Silence is not slowness: while any statement is answered, or a probe is, the others wait for their own timeouts.

/** The bounds of a silence, in milliseconds. */
export const silenceBounds = {
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
export class SilentServerError extends Error {
  override readonly name = 'SilentServerError'
  constructor() {
    super(`the server has answered nothing for ${silenceBounds.maxMs / 1_000} s`)
  }
}

/** A circuit before the server: silence opens it, and the next answer, of a probe or of any statement, closes it. */
export interface SilenceGuard {
  /** Runs a statement that fails with `SilentServerError` once the server is silent; the signal is for its connection. */
  run<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Runs a statement that waits for its own timeout. Its answer counts. */
  follow<T>(send: () => Promise<T>): Promise<T>
  close(): void
}

interface SilenceState {
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

/** Creates the guard of one server. `createSilenceGuard(signal => client.run(selectOne, signal)).run(send)` */
export function createSilenceGuard(probe: SilenceState['probe']): SilenceGuard {
  const state: SilenceState = {
    ...{ probe, pending: new Map(), answeredAt: 0 },
    ...{ isSilent: false, probing: undefined, isClosed: false, timer: undefined },
  }
  return {
    async run(send) {
      if (state.isSilent) throw new SilentServerError()
      const abort = new AbortController()
      state.pending.set(abort, performance.now())
      lookLater(state, silenceBounds.lookMs)
      const silence = new Promise<never>((_, reject) => {
        abort.signal.addEventListener('abort', () => reject(new SilentServerError()), { once: true })
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
function follow<T>(state: SilenceState, running: Promise<T>): Promise<T> {
  const answered = (): void => {
    state.answeredAt = performance.now()
    state.isSilent = false
  }
  running.then(answered, error => {
    if ((sqlStateOf(error) ?? sqlStateOf((error as Error | undefined)?.cause)) !== undefined) answered()
  })
  return running
}

function lookLater(state: SilenceState, waitMs: number): void {
  if (state.timer !== undefined || state.isClosed) return
  state.timer = setTimeout(() => {
    // Answers that arrived while the process was busy are read first.
    setImmediate(() => checkSilence(state))
  }, waitMs)
  state.timer.unref?.()
}

function checkSilence(state: SilenceState): void {
  state.timer = undefined
  const { pending, answeredAt, isSilent } = state
  const [oldest] = pending.values()
  if (isSilent) sendProbe(state)
  else if (oldest !== undefined) {
    const silentMs = performance.now() - Math.max(oldest, answeredAt)
    if (silentMs >= silenceBounds.probeMs) sendProbe(state)
    if (silentMs >= silenceBounds.maxMs) beginSilence(state)
  }
  if (state.isSilent) lookLater(state, silenceBounds.nextProbeMs)
  else if (pending.size > 0) lookLater(state, silenceBounds.lookMs)
}

function beginSilence(state: SilenceState): void {
  state.isSilent = true
  for (const abort of state.pending.keys()) abort.abort()
  state.pending.clear()
}

function sendProbe(state: SilenceState): void {
  if (state.probing && !state.probing.aborted) return
  const signal = AbortSignal.timeout(silenceBounds.probeMs)
  state.probing = signal
  follow(state, state.probe(signal))
    .catch(() => undefined)
    .finally(() => {
      if (state.probing === signal) state.probing = undefined
    })
}
