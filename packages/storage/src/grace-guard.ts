import { type Awaitable, isPromise, promised } from './awaitable.ts'
import type { GuardedCall, OutageGuard } from './outage-guard.ts'
import { probeDelays } from './outage-policy.ts'
import { type BackgroundTimer, type ProbeState, probeLater, setBackgroundTimer } from './probe-timer.ts'
import type { StorageOutage } from './storage.ts'

/** Options of a guard of a durable storage. */
export interface GraceGuardOptions {
  /** Succeeds if the storage is writable. */
  readonly probe: () => Awaitable<unknown>
  /** Catches up after an outage: once before calls go to the storage again, and once after. Skips what is not possible yet. */
  readonly repair: () => Promise<unknown>
  /** Called when the outage begins, when its grace ends, and when the outage ends. */
  readonly report: (state: GraceState, outage: EndedOutage) => void
  /** How long calls of `grace` rows are answered during an outage, in milliseconds. */
  readonly graceMs: number
  /** Milliseconds without a response after which the storage is probed. */
  readonly maxWaitMs: number
}

/** The states of an outage, as used in events. */
export type GraceState = 'begun' | 'grace_over' | 'over'

/** What is known of an outage when its state changes. */
export interface EndedOutage {
  readonly reason: string
  readonly lastedMs: number
}

/** A call whose response may arrive after it was answered without the storage. */
interface WatchedCall<T> extends GuardedCall<T> {
  /** Called with the storage's response if it arrives later. `isAnswered`: whether the call had succeeded without it. */
  readonly late?: (value: T, isAnswered: boolean) => void
}

/**
 * A circuit breaker in front of a durable storage. An error or a timeout opens it only if a probe fails too, because a single call may fail
 * for its own reasons. A background probe closes it.
 */
export interface GraceGuard extends OutageGuard {
  run<T>(call: WatchedCall<T>): Awaitable<T>
  /** Runs a call whose timeouts and errors say nothing about the storage. During an outage it fails at once. */
  pass<T>(run: () => Awaitable<T>): Awaitable<T>
  outage(): StorageOutage | undefined
}

interface Outage {
  readonly reason: string
  /** Monotonic milliseconds. */
  readonly since: number
  isGraceOver: boolean
}

interface PendingCall {
  /** Monotonic milliseconds. */
  readonly since: number
  /** Answers the call without the storage. */
  readonly leave: () => void
}

interface GuardState extends GraceGuardOptions, ProbeState {
  outage: Outage | undefined
  /** In the order in which they began. */
  readonly pending: Set<PendingCall>
  /** A probe after an error or timeout: resolves to whether the storage is usable. */
  checking: Promise<boolean> | undefined
  /** Checks pending calls, or probes during an outage. */
  timer: BackgroundTimer | undefined
  isClosed: boolean
}

/** Maximum milliseconds that a repair may delay the end of an outage. */
const maxRepairMs = 5_000

/** Creates a guard for one storage. `createGraceGuard({ probe, repair, report, graceMs, maxWaitMs }).run(call)` */
export function createGraceGuard(options: GraceGuardOptions): GraceGuard {
  const state: GuardState = {
    ...options,
    outage: undefined,
    pending: new Set(),
    checking: undefined,
    delayMs: probeDelays.firstMs,
    timer: undefined,
    isClosed: false,
  }
  return {
    run: call => (state.outage ? answerWithout(state, call) : runWatched(state, call)),
    pass: run => (state.outage ? Promise.reject(awayError(state.outage)) : run()),
    outage() {
      if (!state.outage) return undefined
      const lastedMs = performance.now() - state.outage.since
      return { lastedMs, leftMs: Math.max(0, state.graceMs - lastedMs) }
    },
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
    },
  }
}

function runWatched<T>(state: GuardState, call: WatchedCall<T>): Awaitable<T> {
  let value: Awaitable<T>
  try {
    value = call.run()
  } catch (error) {
    return afterError(state, call, error)
  }
  if (!isPromise(value)) return value
  const running = value
  return new Promise<T>(resolve => {
    const { pending } = state
    let isAnswered: Promise<boolean> | undefined
    const entry: PendingCall = {
      since: performance.now(),
      leave() {
        const answer = promised(() => answerWithout(state, call))
        isAnswered = answer.then(
          () => true,
          () => false,
        )
        resolve(answer)
      },
    }
    pending.add(entry)
    lookLater(state)
    running.then(
      answer => {
        if (pending.delete(entry)) resolve(answer)
        else void isAnswered?.then(is => call.late?.(answer, is))
      },
      error => {
        if (pending.delete(entry)) resolve(promised(() => afterError(state, call, error)))
      },
    )
  })
}

function afterError<T>(state: GuardState, call: WatchedCall<T>, error: unknown): Awaitable<T> {
  // An invalid argument, such as a fraction of a microdollar.
  if (error instanceof RangeError || state.isClosed) throw error
  if (state.outage) return answerWithout(state, call)
  return checkOutage(state, String(error), performance.now()).then(isUsable => {
    if (isUsable) throw error
    return answerWithout(state, call)
  })
}

function answerWithout<T>(state: GuardState, { row, instead }: WatchedCall<T>): Awaitable<T> {
  const { outage } = state
  // The outage ended in the same moment.
  if (!outage) return Promise.reject(awayError({ reason: 'It failed a moment ago.' }))
  const isOver = performance.now() - outage.since >= state.graceMs
  return row.instead === 'reject' || (row.instead === 'grace' && isOver) ? Promise.reject(awayError(outage)) : instead()
}

const awayError = ({ reason }: Pick<Outage, 'reason'>): Error => new Error(`The storage is unavailable. ${reason}`)

/** Starts an outage if a probe fails. Concurrent calls share the probe. */
function checkOutage(state: GuardState, reason: string, since: number): Promise<boolean> {
  state.checking ??= probeOnce(state)
    .then(
      () => true,
      () => {
        if (!state.isClosed) beginGrace(state, reason, since)
        return false
      },
    )
    .finally(() => {
      state.checking = undefined
    })
  return state.checking
}

const probeOnce = (state: GuardState): Promise<unknown> => settledWithin(state.maxWaitMs / 2, state.probe)

function settledWithin(waitMs: number, run: () => Awaitable<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setBackgroundTimer(() => reject(new Error(`It did not answer within ${waitMs} ms.`)), waitMs)
    promised(run)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Sets a single timer for all pending calls. */
function lookLater(state: GuardState): void {
  if (state.timer !== undefined || state.isClosed) return
  state.timer = setBackgroundTimer(() => look(state), state.maxWaitMs / 2)
}

function look(state: GuardState): void {
  state.timer = undefined
  const [oldest] = state.pending
  if (!oldest || state.outage) return
  const silentMs = performance.now() - oldest.since
  if (silentMs >= state.maxWaitMs) void checkOutage(state, `It did not answer within ${Math.round(silentMs)} ms.`, oldest.since)
  lookLater(state)
}

function beginGrace(state: GuardState, reason: string, since: number): void {
  clearTimeout(state.timer)
  state.outage = { reason, since, isGraceOver: false }
  state.delayMs = probeDelays.firstMs
  state.report('begun', { reason, lastedMs: 0 })
  const left = [...state.pending]
  state.pending.clear()
  for (const { leave } of left) leave()
  probeLater(state, () => probeAgain(state))
}

async function probeAgain(state: GuardState): Promise<void> {
  const { outage } = state
  if (!outage || state.isClosed) return
  const lastedMs = (): number => Math.round(performance.now() - outage.since)
  if (!outage.isGraceOver && lastedMs() >= state.graceMs) {
    outage.isGraceOver = true
    state.report('grace_over', { reason: outage.reason, lastedMs: lastedMs() })
  }
  try {
    await probeOnce(state)
    await settledWithin(maxRepairMs, state.repair)
    // The storage may have become unavailable again.
    await probeOnce(state)
  } catch {
    probeLater(state, () => probeAgain(state))
    return
  }
  if (state.isClosed) return
  state.timer = undefined
  state.outage = undefined
  state.report('over', { reason: outage.reason, lastedMs: lastedMs() })
  // For calls that were answered without the storage after the first repair.
  await state.repair()
}
