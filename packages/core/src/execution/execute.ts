import type { Contender } from '../brain/belief.ts'
import type { Attempt, Choice } from '../brain/port.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate, Excluded } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Attempted, AttemptLimits } from './attempt.ts'
import { type Branch, branchOf } from './branch.ts'
import type { Batches } from './commit.ts'
import type { Guarded } from './guard.ts'
import { type Leg, race } from './race.ts'
import { allFailed } from './told.ts'
import { verdicts } from './verdict.ts'

/** Whose turn it is to be asked. */
export interface Turn {
  readonly candidate: Candidate
  /** As the brain knows it. */
  readonly contender: Contender
  readonly choice: Choice
}

/** One call to one candidate. */
export interface Call {
  readonly turn: Turn
  /** Without the reasoning state of the conversation. */
  readonly bare: boolean
  readonly ceilingMs: number
  readonly ending: Ending
  /** As the brain knows it, from when it goes out until it has been told how the call ended. */
  underway?: Attempt | undefined
}

/** The call that committed, its events, and what it took to get there. */
export interface Won {
  readonly call: Call
  readonly candidate: Candidate
  readonly events: Batches | Guarded
  readonly warnings: readonly Warning[]
}

export interface Executing {
  readonly request: InferenceRequest
  readonly ending: Ending
  readonly limits: AttemptLimits
  /** Upstream calls that the request may make in all. */
  readonly budget: number
  readonly clock: Clock
  /** Who was not asked at all. */
  readonly excluded: readonly Excluded[]
  /** Whom to ask now, judged anew each time; nothing where nobody is left. */
  readonly next: () => Turn | undefined
  readonly attempt: (call: Call) => Promise<Attempted>
  /** Some state of the conversation goes to this candidate. Default: none to nobody. */
  readonly carries?: (candidate: Candidate) => boolean
  /** `final`: asked again it would fail again. */
  readonly onFailure: (call: Call, failure: Failure, final: boolean) => void
  /** Another was asked beside it, and answered first. `accepted`: it had taken the request. */
  readonly onOutrun: (call: Call, accepted: boolean) => void
  /** This one may be asked beside another that is silent. */
  readonly mayHedge: (turn: Turn) => boolean
}

/** Times that one candidate is asked, each time it could not use the state of the conversation aside. */
const mostTimes = 2
const againMs = 250
const longestWaitMs = 2_000

/** One candidate after the other until one commits. Throws the GatewayError that ends the request when none does. */
export async function execute(executing: Executing): Promise<Won> {
  const { clock, limits, ending, excluded } = executing
  const journey = begin(executing)
  for (let turn = journey.next(); turn; turn = journey.next()) {
    const waitMs = journey.waitFor(turn)
    if (waitMs === undefined) continue
    if (waitMs > 0) await pause(clock, waitMs, ending)
    const won = await journey.ask(turn)
    if (won) return won
  }
  if (ending.why) throw allFailed([{ kind: ending.why, message: '' }])
  throw allFailed(journey.failures.length > 0 ? journey.failures : journey.full, {
    deadlineOver: limits.deadlineAt <= clock.monotonic(),
    excluded,
  })
}

interface Journey {
  readonly failures: readonly Failure[]
  /** Those who were not even asked, since they had no room. */
  readonly full: readonly Failure[]
  next(): Turn | undefined
  /** Milliseconds to wait before asking; nothing where it is of no use to ask at all. */
  waitFor(turn: Turn): number | undefined
  /** Throws where the request itself is at fault. */
  ask(turn: Turn): Promise<Won | undefined>
}

function begin(executing: Executing): Journey {
  const { request, clock, limits, ending } = executing
  const alone = !request.routing.allow_fallbacks
  const failures: Failure[] = []
  const full: Failure[] = []
  const asked: Candidate[] = []
  /** Who could not use the state of the conversation, and is not sent it again. */
  const bare = new Set<Candidate>()
  let left = executing.budget
  /** Chosen, and not asked yet. */
  let waiting: Turn | undefined
  const timeLeft = (): number => limits.deadlineAt - clock.monotonic()
  const isOver = (): boolean => left <= 0 || timeLeft() <= 0 || ending.why !== undefined
  const timesOf = (candidate: Candidate): number => asked.reduce((times, each) => (each === candidate ? times + 1 : times), 0)

  const tryOnce = async (turn: Turn, branch?: Branch): Promise<Won | undefined> => {
    const { candidate } = turn
    if (isOver()) return undefined
    left -= 1
    const ceilingMs = alone ? limits.ceilingMs : Math.min(limits.ceilingMs, turn.choice.timeoutMs)
    const call: Call = { turn, bare: bare.has(candidate), ceilingMs, ending: branch ?? ending }
    const tried = await executing.attempt(call)
    if (branch?.isCut) {
      executing.onOutrun(call, tried.ok || tried.accepted)
      if (tried.ok) close(tried.events)
      return undefined
    }
    if (tried.ok) return { call, candidate, events: tried.events, warnings: [...tried.warnings, ...survived(failures)] }
    return lost(call, tried.failure, branch)
  }

  const lost = (call: Call, failure: Failure, branch?: Branch): Promise<Won | undefined> | undefined => {
    const { turn } = call
    const { candidate } = turn
    const { then } = verdicts[failure.kind]
    const isStripped = then === 'strip' && !call.bare && executing.carries?.(candidate) === true
    if (!isStripped) asked.push(candidate)
    const isFinal = then !== 'retry' || timesOf(candidate) >= mostTimes
    failures.push(failure)
    executing.onFailure(call, failure, isFinal && !isStripped)
    if (then === 'stop') throw allFailed(failures, { told: failure })
    if (alone && !isFinal) waiting = againAfter(turn, failure)
    if (!isStripped) return undefined
    bare.add(candidate)
    return tryOnce(turn, branch)
  }

  const launch = (turn: Turn): Leg<Won> => {
    const branch = branchOf(ending)
    return { result: tryOnce(turn, branch), cut: branch.cut }
  }
  const second = (beside: Turn): Leg<Won> | undefined => {
    const turn = isOver() ? undefined : executing.next()
    if (!turn || turn.candidate === beside.candidate) return undefined
    if (turn.choice.waitMs <= 0 && executing.mayHedge(turn)) return launch(turn)
    waiting = turn
    return undefined
  }
  const drop = ({ call, events }: Won): void => {
    executing.onOutrun(call, true)
    close(events)
  }

  return {
    failures,
    full,
    next() {
      if (isOver()) return undefined
      const turn = waiting ?? (alone && asked.length > 0 ? undefined : executing.next())
      waiting = undefined
      return turn
    },
    waitFor({ candidate, contender: { belief }, choice: { waitMs, sight } }) {
      const isVain = sight.heldMs > waitMs + 1
      if (!isVain && waitMs < timeLeft()) return waitMs
      if (asked.includes(candidate)) return undefined
      // Who asked to be left alone for longer than anyone waits is asked all the same, and at once, but by one at a time.
      if (!isVain || belief.running === 0 || belief.capacity.refusals === 0) return 0
      full.push({ kind: 'rate_limited', message: '', provider: candidate.provider.id, retryAfterMs: Math.ceil(sight.heldMs) })
      return undefined
    },
    ask(turn) {
      const { hedgeAfterMs } = turn.choice
      if (hedgeAfterMs === undefined) return tryOnce(turn)
      return race(launch(turn), { afterMs: hedgeAfterMs, second: () => second(turn), drop, clock })
    },
  }
}

/** The same one once more, where it may not be anybody else; nothing where it asked to be left alone for long. */
function againAfter(turn: Turn, { retryAfterMs = 0 }: Failure): Turn | undefined {
  const waitMs = Math.max(againMs, retryAfterMs)
  return waitMs > longestWaitMs ? undefined : { ...turn, choice: { ...turn.choice, waitMs } }
}

/** What a source says when it is closed is of no interest any more. */
const close = (events: Batches): void => void events.return?.().catch(() => {})

/** The caller learns of a time-out that a fallback made good; other failures stay in the evidence. */
const survived = (failures: readonly Failure[]): readonly Warning[] =>
  failures
    .filter(({ kind }) => kind === 'timed_out')
    .slice(0, 1)
    .map(({ provider }) => ({ code: 'provider_timeout', message: `${provider} did not answer in time; another provider answered.` }))

function pause(clock: Clock, milliseconds: number, ending: Ending): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.setTimeout(() => {
      stop()
      resolve()
    }, milliseconds)
    const stop = ending.onEnd(() => {
      clock.clearTimeout(timer)
      resolve()
    })
  })
}
