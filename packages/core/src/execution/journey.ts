import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate, Excluded } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Attempted, AttemptLimits } from './attempt.ts'
import { type Branch, branchOf } from './branch.ts'
import type { Call, Turn, Won } from './call.ts'
import type { Batches } from './commit.ts'
import { type Leg, race } from './race.ts'
import { mostTelling, verdicts } from './verdict.ts'

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
  /** This one may be asked beside another that is silent: at once, and at what it costs. */
  readonly mayHedge: (turn: Turn) => boolean
}

/** A request on its way from one candidate to the next. */
export interface Journey {
  readonly executing: Executing
  readonly failures: Failure[]
  /** Those who were not even asked, since they had no room. */
  readonly full: Failure[]
  /** Once for each time. */
  readonly asked: Candidate[]
  /** Who could not use the state of the conversation, and is not sent it again. */
  readonly bare: Set<Candidate>
  /** Calls that may still be made. */
  left: number
  /** Chosen, and not asked yet. */
  waiting: Turn | undefined
  /** Nobody is asked any more. Who was asked already may still answer: not everyone finds the same request at fault. */
  stopped: Failure | undefined
}

export const begin = (executing: Executing): Journey => ({
  executing,
  failures: [],
  full: [],
  asked: [],
  bare: new Set(),
  left: executing.budget,
  waiting: undefined,
  stopped: undefined,
})

/** Times that one candidate is asked, each time it could not use the state of the conversation aside. */
const mostTimes = 2
const againMs = 250
const longestWaitMs = 2_000

const timeLeft = ({ executing: { limits, clock } }: Journey): number => limits.deadlineAt - clock.monotonic()
const isOver = (journey: Journey): boolean =>
  journey.left <= 0 || timeLeft(journey) <= 0 || journey.stopped !== undefined || journey.executing.ending.why !== undefined
/** Nobody else may be asked. */
const isAlone = ({ executing: { request } }: Journey): boolean => !request.routing.allow_fallbacks

/** Whom to ask now; nothing where nobody, no call or no time is left. */
export function nextTurn(journey: Journey): Turn | undefined {
  if (isOver(journey)) return undefined
  const { waiting, asked, executing } = journey
  journey.waiting = undefined
  return waiting ?? (isAlone(journey) && asked.length > 0 ? undefined : executing.next())
}

/** Milliseconds to wait before asking; nothing where it is of no use to ask at all. */
export function waitBefore(journey: Journey, { candidate, contender: { belief }, choice: { waitMs, sight } }: Turn): number | undefined {
  const isVain = sight.heldMs > waitMs + 1
  if (!isVain && waitMs < timeLeft(journey)) return waitMs
  if (journey.asked.includes(candidate)) return undefined
  // Who asked to be left alone for longer than anyone waits is asked all the same, and at once, but by one at a time.
  if (!isVain || belief.running === 0 || belief.capacity.refusals === 0) return 0
  journey.full.push({ kind: 'rate_limited', message: '', provider: candidate.provider.id, retryAfterMs: Math.ceil(sight.heldMs) })
  return undefined
}

/** Asks, and somebody beside it where that is worth its money. Nothing where it failed. */
export function ask(journey: Journey, turn: Turn): Promise<Won | undefined> {
  const { hedgeAfterMs } = turn.choice
  if (hedgeAfterMs === undefined) return call(journey, turn)
  const { clock, onOutrun } = journey.executing
  const drop = ({ call: late, events }: Won): void => {
    onOutrun(late, true)
    close(events)
  }
  return race(launch(journey, turn), { afterMs: hedgeAfterMs, second: () => second(journey, turn), drop, clock })
}

function launch(journey: Journey, turn: Turn): Leg<Won> {
  const branch = branchOf(journey.executing.ending)
  return { result: call(journey, turn, branch), cut: branch.cut }
}

function second(journey: Journey, beside: Turn): Leg<Won> | undefined {
  const { next, mayHedge } = journey.executing
  const turn = isOver(journey) ? undefined : next()
  if (!turn || turn.candidate === beside.candidate) return undefined
  if (mayHedge(turn)) return launch(journey, turn)
  journey.waiting = turn
  return undefined
}

async function call(journey: Journey, turn: Turn, branch?: Branch): Promise<Won | undefined> {
  if (isOver(journey)) return undefined
  journey.left -= 1
  const { candidate, choice } = turn
  const { limits, ending, attempt, onOutrun } = journey.executing
  const ceilingMs = isAlone(journey) ? limits.ceilingMs : Math.min(limits.ceilingMs, choice.timeoutMs)
  const made: Call = { turn, bare: journey.bare.has(candidate), ceilingMs, ending: branch ?? ending }
  const tried = await attempt(made)
  if (branch?.isCut) {
    onOutrun(made, tried.ok || tried.accepted)
    if (tried.ok) close(tried.events)
    return undefined
  }
  if (tried.ok) return { call: made, candidate, events: tried.events, warnings: [...tried.warnings, ...survived(journey.failures)] }
  return lost(journey, made, { failure: tried.failure, branch })
}

interface Loss {
  readonly failure: Failure
  readonly branch: Branch | undefined
}

/** By the table of verdicts: the same one again without the state that it could not use, the next, or nobody. */
function lost(journey: Journey, made: Call, { failure, branch }: Loss): Promise<Won | undefined> | undefined {
  const { executing, failures, asked, bare } = journey
  const { turn } = made
  const { candidate } = turn
  const { then } = verdicts[failure.kind]
  const isStripped = then === 'strip' && !made.bare && executing.carries?.(candidate) === true
  if (!isStripped) asked.push(candidate)
  const isFinal = then !== 'retry' || asked.filter(each => each === candidate).length >= mostTimes
  failures.push(failure)
  executing.onFailure(made, failure, isFinal && !isStripped)
  if (then === 'stop') journey.stopped = moreTelling(journey.stopped, failure)
  if (isAlone(journey) && !isFinal) journey.waiting = againAfter(turn, failure)
  if (!isStripped) return undefined
  bare.add(candidate)
  return call(journey, turn, branch)
}

const moreTelling = (before: Failure | undefined, failure: Failure): Failure =>
  before && mostTelling([before, failure]) === 0 ? before : failure

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
