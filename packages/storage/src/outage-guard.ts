import { type Awaitable, recover } from './awaitable.ts'
import { EphemeralError } from './ephemeral.ts'
import { failureRows, type OutageRow, probeDelays, steadyMs } from './outage-policy.ts'
import { type ProbeState, probeLater } from './probe-timer.ts'

/** An outage of ephemeral stores, reported to a hook when it begins and when it ends. */
export interface OutageEvent {
  readonly state: 'begun' | 'over'
  /** What failed, without credentials. */
  readonly reason: string
  /** Duration so far in milliseconds; 0 when it begins. */
  readonly lastedMs: number
  /** Calls that were answered by the fallback or deferred. */
  readonly calls: number
}

/** Logger for outages. Takes facts first, like pino. */
export interface OutageLogger {
  info(facts: Readonly<Record<string, unknown>>, message: string): void
  warn(facts: Readonly<Record<string, unknown>>, message: string): void
}

export interface OutageGuardOptions {
  readonly probe: () => Awaitable<void>
  /** Applies what was deferred: once before calls go to the stores again, and once after, for what was deferred in between. */
  readonly repair: () => Awaitable<unknown>
  readonly onOutage: (event: OutageEvent) => unknown
  readonly logger: OutageLogger
}

/** A call, and its substitute during an outage. */
export interface GuardedCall<T> {
  readonly row: OutageRow
  readonly run: () => Awaitable<T>
  /** Not called for rows that reject. */
  readonly instead: () => Awaitable<T>
}

/** A circuit breaker in front of ephemeral stores: the first failure opens it, and a background probe closes it. */
export interface OutageGuard {
  /** Runs a call, or during an outage its substitute, without waiting. */
  run<T>(call: GuardedCall<T>): Awaitable<T>
  close(): void
}

interface Outage {
  readonly error: EphemeralError
  /** Monotonic milliseconds. */
  readonly since: number
  calls: number
}

interface GuardState extends OutageGuardOptions, ProbeState {
  outage: Outage | undefined
  /** Monotonic milliseconds at which the last outage ended. */
  endedAt: number
  isClosed: boolean
}

/** Creates a guard for one set of stores. `createOutageGuard({ probe, repair, onOutage, logger }).run(call)` */
export function createOutageGuard(options: OutageGuardOptions): OutageGuard {
  const state: GuardState = {
    ...options,
    outage: undefined,
    delayMs: probeDelays.firstMs,
    endedAt: Number.NEGATIVE_INFINITY,
    timer: undefined,
    isClosed: false,
  }
  return {
    run(call) {
      if (state.outage) return answerWithout(call, state.outage)
      return recover(call.run, error => {
        // An invalid argument, such as a fraction: no store would accept it.
        if (error instanceof RangeError || state.isClosed) throw error
        const failure = toFailure(error)
        if (!failureRows[failure.failure].isOutage) return answerWithout(call, { error: failure, since: 0, calls: 0 })
        return answerWithout(call, beginOutage(state, failure))
      })
    },
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
    },
  }
}

function answerWithout<T>({ row, instead }: GuardedCall<T>, outage: Outage): Awaitable<T> {
  outage.calls += 1
  return row.instead === 'reject' ? Promise.reject(outage.error) : instead()
}

function beginOutage(state: GuardState, error: EphemeralError): Outage {
  if (state.outage) return state.outage
  const now = performance.now()
  const outage = { error, since: now, calls: 0 }
  state.outage = outage
  if (now - state.endedAt > steadyMs) state.delayMs = probeDelays.firstMs
  reportOutage(state, { state: 'begun', reason: error.message, lastedMs: 0, calls: 0 })
  probeLater(state, () => probeNow(state))
  return outage
}

async function probeNow(state: GuardState): Promise<void> {
  try {
    await state.probe()
    await state.repair()
  } catch {
    probeLater(state, () => probeNow(state))
    return
  }
  const { outage } = state
  if (!outage || state.isClosed) return
  const now = performance.now()
  state.outage = undefined
  state.endedAt = now
  reportOutage(state, { state: 'over', reason: outage.error.message, lastedMs: Math.round(now - outage.since), calls: outage.calls })
  await recover(
    async () => state.repair(),
    error => {
      if (!state.isClosed) beginOutage(state, toFailure(error))
    },
  )
}

const toFailure = (error: unknown): EphemeralError =>
  error instanceof EphemeralError ? error : new EphemeralError('unreachable', String(error))

function reportOutage({ logger, onOutage }: GuardState, event: OutageEvent): void {
  const { state, reason, lastedMs, calls } = event
  if (state === 'begun') logger.warn({ reason }, 'The counter store is unavailable. Limits are counted by the fallback until it is back.')
  else logger.info({ reason, lasted_ms: lastedMs, calls }, 'The counter store is available again.')
  void recover(
    async () => onOutage(event),
    error => logger.warn({ error: String(error) }, '`onOutage` failed.'),
  )
}

/** The default logger: warnings go to the console. */
export const consoleLog: OutageLogger = {
  info: () => {},
  // biome-ignore lint/suspicious/noConsole: the default of an option, as in the gateway itself
  warn: (facts, message) => console.warn(message, facts),
}
