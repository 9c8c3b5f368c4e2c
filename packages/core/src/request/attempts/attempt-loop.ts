import type { Brain } from '../../brain/brain.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Credential } from '../../protocol/provider.ts'
import type { Warning } from '../../protocol/response.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { Ending } from '../../runtime/ending.ts'
import type { Clock, Hooks, Logger } from '../../runtime/ports.ts'
import { runSteps, type Step, wait } from '../../runtime/steps.ts'
import { tell } from '../../runtime/tell.ts'
import { type AbortScope, abortScope } from '../../upstream/abort-scope.ts'
import type { Answer } from '../../upstream/attempt.ts'
import type { CommittedCall, SelectedOffer, UpstreamCall } from '../../upstream/call.ts'
import { allFailed } from '../../upstream/error-message.ts'
import { type Leg, race } from '../../upstream/race.ts'
import { mostTelling, verdicts } from '../../upstream/verdicts.ts'
import { type AttemptContext, noteAccepted } from './attempt-context.ts'
import { type CallPorts, callCandidate } from './call-candidate.ts'
import { affordsBeside } from './hedging.ts'
import { type Refusal, refusalOf, refusedKeyWarnings } from './refused-keys.ts'
import { reportFailure, reportOvertaken } from './report-outcome.ts'

export interface AttemptLoopPorts extends CallPorts {
  readonly brain: Brain
  readonly clock: Clock
  readonly hooks: Hooks
  readonly logger: Logger
  /** A credential of a workspace's own is not what its provider takes. */
  readonly onCredentialRefused?: ((workspaceId: string, credential: Credential) => void) | undefined
}

/** A request on its way from one candidate to the next. */
interface LoopState {
  readonly ports: AttemptLoopPorts
  readonly context: AttemptContext
  readonly failures: Failure[]
  /** Of candidates that were not called, since they had no room. */
  readonly full: Failure[]
  /** Once for each time. */
  readonly called: Candidate[]
  /** Candidates that could not use the state of the conversation, and are not sent it again. */
  readonly stateless: Set<Candidate>
  readonly refusals: Refusal[]
  callsLeft: number
  /** Chosen, and not called yet. */
  waiting: SelectedOffer | undefined
  /** No further candidate is called. Calls under way may still succeed: not every provider finds the same request at fault. */
  stopped: Failure | undefined
}

/** Calls one candidate after the other until one commits. Throws the GatewayError that ends the request when none does. */
export function* attemptLoop(ports: AttemptLoopPorts, context: AttemptContext): Step<CommittedCall> {
  const { clock, hooks, logger } = ports
  const { plan, ending, limits, startedAt, call } = context
  const loop: LoopState = {
    ports,
    context,
    failures: [],
    full: [],
    called: [],
    stateless: new Set(),
    refusals: [],
    callsLeft: context.maxCalls,
    waiting: undefined,
    stopped: undefined,
  }
  for (let selected = nextOffer(loop); selected; selected = nextOffer(loop)) {
    const waitMs = waitBefore(loop, selected)
    if (waitMs === undefined) continue
    if (waitMs > 0) yield* wait(pause(clock, waitMs, ending))
    const committed = yield* callOrHedge(loop, selected)
    if (!committed) continue
    const { provider } = committed.candidate
    if (hooks.onCommit) tell(logger, 'onCommit', () => hooks.onCommit?.(call, provider.id, clock.monotonic() - startedAt))
    return withWarnings(committed, loop)
  }
  const { failures, full, stopped } = loop
  if (stopped) throw allFailed(failures, { told: stopped })
  if (ending.why) throw allFailed([{ kind: ending.why, message: '' }])
  const deadlineOver = limits.deadlineAt <= clock.monotonic()
  throw allFailed(failures.length > 0 ? failures : full, { deadlineOver, excluded: plan.excluded })
}

/** Times that one candidate is called, each time it could not use the state of the conversation aside. */
const maxCallsOfOne = 2
const retryMs = 250
const maxRetryMs = 2_000

const timeLeft = ({ ports: { clock }, context: { limits } }: LoopState): number => limits.deadlineAt - clock.monotonic()
const isOver = (loop: LoopState): boolean =>
  loop.callsLeft <= 0 || timeLeft(loop) <= 0 || loop.stopped !== undefined || loop.context.ending.why !== undefined
/** There is no fallback. */
const isAlone = ({ context: { request } }: LoopState): boolean => !request.routing.allow_fallbacks

/** The candidate to call now; nothing where no candidate, no call or no time is left. */
function nextOffer(loop: LoopState): SelectedOffer | undefined {
  if (isOver(loop)) return undefined
  const { waiting, called, context } = loop
  loop.waiting = undefined
  return waiting ?? (isAlone(loop) && called.length > 0 ? undefined : context.selection.next())
}

/** Milliseconds to wait before the call; nothing where the call is of no use. */
function waitBefore(loop: LoopState, { candidate, contender: { belief }, choice: { waitMs, sight } }: SelectedOffer): number | undefined {
  const isVain = sight.heldMs > waitMs + 1
  if (!isVain && waitMs < timeLeft(loop)) return waitMs
  if (loop.called.includes(candidate)) return undefined
  // If Retry-After exceeds the longest wait, one probe at a time is allowed.
  if (!isVain || belief.running === 0 || belief.capacity.refusals === 0) return 0
  loop.full.push({ kind: 'rate_limited', message: '', provider: candidate.provider.id, retryAfterMs: Math.ceil(sight.heldMs) })
  return undefined
}

/** Calls, and another candidate beside it where that is worth its money. Nothing where it failed. */
function* callOrHedge(loop: LoopState, selected: SelectedOffer): Step<CommittedCall | undefined> {
  const { hedgeAfterMs } = selected.choice
  if (hedgeAfterMs === undefined) return yield* callOnce(loop, selected)
  const drop = ({ call, answer }: CommittedCall): void => {
    overtaken(loop, call, true)
    close(answer)
  }
  const second = (): Leg<CommittedCall> | undefined => launchSecond(loop, selected)
  return yield* wait(race(launch(loop, selected), { afterMs: hedgeAfterMs, second, drop, clock: loop.ports.clock }))
}

function launch(loop: LoopState, selected: SelectedOffer): Leg<CommittedCall> {
  const scope = abortScope(loop.context.ending)
  return { result: Promise.resolve(runSteps(callOnce(loop, selected, scope))), cut: scope.abort }
}

function launchSecond(loop: LoopState, beside: SelectedOffer): Leg<CommittedCall> | undefined {
  const selected = isOver(loop) ? undefined : loop.context.selection.next()
  if (!selected || selected.candidate === beside.candidate) return undefined
  if (affordsBeside(loop.context, selected)) return launch(loop, selected)
  loop.waiting = selected
  return undefined
}

function* callOnce(loop: LoopState, selected: SelectedOffer, scope?: AbortScope): Step<CommittedCall | undefined> {
  if (isOver(loop)) return undefined
  loop.callsLeft -= 1
  const { ports, context } = loop
  const { candidate, choice } = selected
  const { limits, ending } = context
  const ceilingMs = isAlone(loop) ? limits.ceilingMs : Math.min(limits.ceilingMs, choice.timeoutMs)
  const call: UpstreamCall = { selected, isStateless: loop.stateless.has(candidate), ceilingMs, ending: scope ?? ending }
  const result = yield* callCandidate(ports, context, call)
  if (scope?.isAborted) {
    overtaken(loop, call, result.ok || result.accepted)
    if (result.ok) close(result.answer)
    return undefined
  }
  if (result.ok) return { call, candidate, answer: result.answer, warnings: [...result.warnings, ...survivedTimeouts(loop.failures)] }
  if (!failed(loop, call, result.failure)) return undefined
  return yield* callOnce(loop, selected, scope)
}

/** What follows from a failure, by the table of verdicts. True: the same candidate is called again without the state that it could not use. */
function failed(loop: LoopState, call: UpstreamCall, failure: Failure): boolean {
  const { context, failures, called, stateless } = loop
  const { selected } = call
  const { candidate } = selected
  const { then } = verdicts[failure.kind]
  const isStripped = then === 'strip' && !call.isStateless && context.carried?.fit(candidate, false).carries === true
  if (!isStripped) called.push(candidate)
  const isFinal = then !== 'retry' || called.filter(each => each === candidate).length >= maxCallsOfOne
  failures.push(failure)
  report(loop, call, { failure, isFinal: isFinal && !isStripped })
  if (then === 'stop') loop.stopped = moreTelling(loop.stopped, failure)
  if (isAlone(loop) && !isFinal) loop.waiting = retryAfter(selected, failure)
  if (isStripped) stateless.add(candidate)
  return isStripped
}

interface Reported {
  readonly failure: Failure
  /** Called again, it would fail again. */
  readonly isFinal: boolean
}

function report({ ports, context, refusals }: LoopState, call: UpstreamCall, { failure, isFinal }: Reported): void {
  const { brain, clock, hooks, logger } = ports
  const { call: facts, request, limits, isCeilingChosen } = context
  // A limit that the client chose says little about the provider, and must not demote it for others.
  const isDeadlineOver = request.routing.deadline_ms !== undefined && clock.monotonic() >= limits.deadlineAt
  const chosen = isDeadlineOver || (isCeilingChosen && call.ceilingMs >= limits.ceilingMs)
  reportFailure(brain, call, { ...failure, final: isFinal, chosen })
  const refusal = refusalOf(failure)
  if (refusal) {
    refusals.push(refusal)
    ports.onCredentialRefused?.(facts.workspaceId, call.selected.candidate.credential)
  }
  if (hooks.onFailure) tell(logger, 'onFailure', () => hooks.onFailure?.(facts, failure))
}

/** Another candidate was called beside it, and answered first. */
function overtaken({ ports: { brain }, context: { attempts } }: LoopState, call: UpstreamCall, accepted: boolean): void {
  reportOvertaken(brain, call)
  const { candidate } = call.selected
  if (accepted) noteAccepted(attempts, candidate)
}

const moreTelling = (before: Failure | undefined, failure: Failure): Failure =>
  before && mostTelling([before, failure]) === 0 ? before : failure

/** The same candidate once more, where there is no fallback; nothing where it asked for a long pause. */
function retryAfter(selected: SelectedOffer, { retryAfterMs = 0 }: Failure): SelectedOffer | undefined {
  const waitMs = Math.max(retryMs, retryAfterMs)
  return waitMs > maxRetryMs ? undefined : { ...selected, choice: { ...selected.choice, waitMs } }
}

const close = (answer: Answer): void => {
  if ('stream' in answer) answer.stream.cancel()
}

/** A time-out that a fallback made good is told to the client; other failures stay in the evidence. */
const survivedTimeouts = (failures: readonly Failure[]): readonly Warning[] =>
  failures
    .filter(({ kind }) => kind === 'timed_out')
    .slice(0, 1)
    .map(({ provider }) => ({ code: 'provider_timeout', message: `${provider} did not answer in time; another provider answered.` }))

function withWarnings(committed: CommittedCall, { context, refusals }: LoopState): CommittedCall {
  const { plan, request, attempts, refusedKeys } = context
  const hedged = attempts.accepted.map(({ provider }) => paidTwice(provider.id, committed.candidate.provider.id))
  const refused = refusedKeyWarnings(committed.candidate, refusals, { refusedKeys, plan, request })
  return hedged.length + refused.length > 0 ? { ...committed, warnings: [...committed.warnings, ...hedged, ...refused] } : committed
}

const paidTwice = (slower: string, winner: string): Warning => ({
  code: 'hedged',
  message: `Two providers were asked at once, and ${winner} answered first; ${slower} had taken the request, so its input is billed too.`,
  param: 'gateway.routing.hedge',
})

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
