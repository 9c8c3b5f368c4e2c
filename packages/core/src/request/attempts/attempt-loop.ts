import type { Credential, Failure, Warning } from '@signalbox/dialects/protocol'
import type { DynamicRouter } from '@signalbox/router'
import type { Candidate } from '../../routing/plan.ts'
import { callHook } from '../../runtime/call-hook.ts'
import type { Cancellation } from '../../runtime/cancellation.ts'
import type { Clock, Hooks, Logger } from '../../runtime/ports.ts'
import { runSteps, type Step, wait } from '../../runtime/steps.ts'
import type { Answer } from '../../upstream/attempt.ts'
import type { CommittedCall, SelectedOffer, UpstreamCall } from '../../upstream/call.ts'
import { allFailed } from '../../upstream/error-message.ts'
import { failurePolicies, mostInformative } from '../../upstream/failure-policy.ts'
import { logFailure } from '../../upstream/log-failure.ts'
import { type AttemptContext, noteDiscarded } from './attempt-context.ts'
import { type ByokFailure, byokWarnings } from './byok-warnings.ts'
import { type CallPorts, callCandidate, reportResult } from './call-candidate.ts'
import { type AbortScope, abortScope, affordsBeside, type RacedCall, race } from './hedging.ts'
import { reportFailure, reportOvertaken } from './report-outcome.ts'

export interface AttemptLoopPorts extends CallPorts {
  readonly router: DynamicRouter
  readonly clock: Clock
  readonly hooks: Hooks
  readonly logger: Logger
  /** Called when a provider refuses a BYOK key, with the status of its response. */
  readonly onCredentialRefused?: ((workspaceId: string, credential: Credential, status: number | undefined) => void) | undefined
}

/** The state of a request between its attempts. */
interface LoopState {
  readonly ports: AttemptLoopPorts
  readonly context: AttemptContext
  readonly failures: Failure[]
  /** Failures of candidates that were skipped because they are rate limited. */
  readonly rateLimited: Failure[]
  /** Candidates in call order, one entry per call. */
  readonly called: Candidate[]
  /** Candidates that could not use the reasoning state of the conversation; they are called without it. */
  readonly stateless: Candidate[]
  /** Failures of calls with BYOK keys. */
  readonly byokFailures: ByokFailure[]
  callsLeft: number
  /** Chosen but not called yet. */
  chosen: SelectedOffer | undefined
  /** If set, no further candidate is called. Running calls may still succeed, since providers validate requests differently. */
  stopped: Failure | undefined
}

/** Calls one candidate after another until one commits. Throws the GatewayError that ends the request if none does. */
export function* attemptLoop(ports: AttemptLoopPorts, context: AttemptContext): Step<CommittedCall> {
  const { clock, hooks, logger } = ports
  const { plan, cancellation, limits, startedAt, facts } = context
  const loop: LoopState = {
    ports,
    context,
    failures: [],
    rateLimited: [],
    called: [],
    stateless: [],
    byokFailures: [],
    callsLeft: context.maxCalls,
    chosen: undefined,
    stopped: undefined,
  }
  for (let selected = nextOffer(loop); selected; selected = nextOffer(loop)) {
    const waitMs = waitBefore(loop, selected)
    if (waitMs === undefined) continue
    if (waitMs > 0) {
      yield* wait(pause(clock, waitMs, cancellation))
      if (isOver(loop)) continue
    }
    const committed = yield* callOrHedge(loop, selected)
    if (!committed) continue
    const { provider } = committed.candidate
    if (hooks.onFirstContent)
      callHook(logger, 'onFirstContent', () => hooks.onFirstContent?.(facts, provider.id, clock.monotonic() - startedAt))
    return withWarnings(committed, loop)
  }
  const { failures, rateLimited, stopped } = loop
  if (stopped) throw allFailed(failures, { shown: stopped })
  if (cancellation.reason) throw allFailed([{ kind: cancellation.reason, message: '' }])
  const deadlineOver = limits.deadlineAt <= clock.monotonic()
  throw allFailed(failures.length > 0 ? failures : rateLimited, { deadlineOver, excluded: plan.excluded })
}

/** Maximum calls to one candidate, not counting calls repeated without reasoning state. */
const maxCallsOfOne = 2
const retryMs = 250

const timeLeft = ({ ports: { clock }, context: { limits } }: LoopState): number => limits.deadlineAt - clock.monotonic()
const isOver = (loop: LoopState): boolean =>
  loop.callsLeft <= 0 || timeLeft(loop) <= 0 || loop.stopped !== undefined || loop.context.cancellation.reason !== undefined
const hasNoFallback = ({ context: { request } }: LoopState): boolean => !request.routing.allow_fallbacks

/** The next candidate to call. Undefined if no candidate, call or time is left. */
function nextOffer(loop: LoopState): SelectedOffer | undefined {
  if (isOver(loop)) return undefined
  const { chosen, called, context } = loop
  loop.chosen = undefined
  return chosen ?? (hasNoFallback(loop) && called.length > 0 ? undefined : context.selection.next())
}

/**
 * Milliseconds to wait before the call. Undefined if the candidate must be skipped. The router queues a request for a full offer as long as
 * that is worth it by the request's preference and deadline. Beyond that the offer is called at once, and while it returns 429 one call at a
 * time: the limit may have been lifted.
 */
function waitBefore(loop: LoopState, { candidate, contender: { state }, choice: { waitMs, estimate } }: SelectedOffer): number | undefined {
  const isRateLimited = estimate.rateLimitedMs > waitMs + 1
  if (!isRateLimited && (waitMs <= 0 || waitMs < timeLeft(loop))) return waitMs
  if (loop.called.includes(candidate)) return undefined
  if (!isRateLimited || state.capacity.probes === 0 || state.capacity.refusals === 0) return 0
  loop.rateLimited.push({
    kind: 'rate_limited',
    message: '',
    provider: candidate.provider.id,
    retryAfterMs: Math.ceil(estimate.rateLimitedMs),
  })
  return undefined
}

/** Calls a candidate, and hedges with another one if that is worth its cost. Undefined if all calls failed. */
function callOrHedge(loop: LoopState, selected: SelectedOffer): Step<CommittedCall | undefined> {
  const { hedgeAfterMs } = selected.choice
  if (hedgeAfterMs === undefined) return callOnce(loop, selected)
  const drop = ({ call, answer }: CommittedCall): void => {
    handleHedgeLost(loop, call, true)
    closeAnswer(answer)
  }
  const second = (): RacedCall<CommittedCall> | undefined => launchSecond(loop, selected)
  return wait(race(launch(loop, selected), { afterMs: hedgeAfterMs, second, drop, clock: loop.ports.clock }))
}

function launch(loop: LoopState, selected: SelectedOffer): RacedCall<CommittedCall> {
  const scope = abortScope(loop.context.cancellation)
  return { result: Promise.resolve(runSteps(callOnce(loop, selected, scope))), abort: scope.abort }
}

function launchSecond(loop: LoopState, beside: SelectedOffer): RacedCall<CommittedCall> | undefined {
  const selected = isOver(loop) ? undefined : loop.context.selection.next()
  if (!selected || selected.candidate === beside.candidate) return undefined
  if (affordsBeside(loop.context, selected)) return launch(loop, selected)
  loop.chosen = selected
  return undefined
}

function* callOnce(loop: LoopState, selected: SelectedOffer, scope?: AbortScope): Step<CommittedCall | undefined> {
  loop.callsLeft -= 1
  const { ports, context } = loop
  const { candidate, choice } = selected
  const { limits, cancellation } = context
  const ceilingMs = hasNoFallback(loop) ? limits.ceilingMs : Math.min(limits.ceilingMs, choice.timeoutMs)
  const call: UpstreamCall = { selected, isStateless: loop.stateless.includes(candidate), ceilingMs, cancellation: scope ?? cancellation }
  const result = yield* wait(callCandidate(ports, context, call))
  reportResult(ports.router, context, { call, result })
  if (scope?.isAborted) {
    handleHedgeLost(loop, call, result.ok || result.accepted)
    if (result.ok) closeAnswer(result.answer)
    return undefined
  }
  if (result.ok) {
    const { answer, warnings, used } = result
    const survived = survivedTimeouts(loop.failures)
    return { call, candidate, answer, warnings: survived.length > 0 ? [...warnings, ...survived] : warnings, used }
  }
  if (!handleFailure(loop, call, result.failure) || isOver(loop)) return undefined
  return yield* callOnce(loop, selected, scope)
}

/** Handles a failure by `failurePolicies`. Returns true if the same candidate is called again without reasoning state. */
function handleFailure(loop: LoopState, call: UpstreamCall, failure: Failure): boolean {
  const { context, failures, called, stateless } = loop
  const { selected } = call
  const { candidate } = selected
  const { action } = failurePolicies[failure.kind]
  const isStripped = action === 'strip' && !call.isStateless && context.carried?.fit(candidate, false).carries === true
  if (!isStripped) called.push(candidate)
  const isFinal = action !== 'retry' || called.filter(each => each === candidate).length >= maxCallsOfOne
  failures.push(failure)
  report(loop, call, { failure, isFinal: isFinal && !isStripped })
  if (action === 'stop') loop.stopped = moreInformative(loop.stopped, failure)
  if (hasNoFallback(loop) && !isFinal) loop.chosen = retryAfter(selected, failure)
  if (isStripped) stateless.push(candidate)
  return isStripped
}

interface Reported {
  readonly failure: Failure
  /** Whether the candidate is not called again: the call would fail again, or was the last of those allowed. */
  readonly isFinal: boolean
}

function report({ ports, context, byokFailures }: LoopState, call: UpstreamCall, { failure, isFinal }: Reported): void {
  const { router, clock, hooks, logger } = ports
  const { facts, request, limits, isCeilingChosen } = context
  // A timeout that the client chose is weak evidence about the provider, and must not demote it for others.
  const isDeadlineOver = request.routing.deadline_ms !== undefined && clock.monotonic() >= limits.deadlineAt
  const chosen = isDeadlineOver || (isCeilingChosen && call.ceilingMs >= limits.ceilingMs)
  reportFailure(router, call, { ...failure, final: isFinal, chosen })
  const { candidate } = call.selected
  logFailure(logger, candidate, failure)
  if (candidate.credential.owner === 'workspace') {
    byokFailures.push({ candidate, kind: failure.kind })
    if (failure.kind === 'bad_credential') ports.onCredentialRefused?.(facts.workspaceId, candidate.credential, failure.status)
  }
  if (hooks.onFailure) callHook(logger, 'onFailure', () => hooks.onFailure?.(facts, failure))
}

/** Handles the call of a hedged pair that did not respond first. */
function handleHedgeLost({ ports: { router }, context: { attempts } }: LoopState, call: UpstreamCall, accepted: boolean): void {
  reportOvertaken(router, call)
  const { candidate } = call.selected
  if (accepted) noteDiscarded(attempts, candidate)
}

const moreInformative = (before: Failure | undefined, failure: Failure): Failure =>
  before && mostInformative([before, failure]) === 0 ? before : failure

/** Retries the same candidate if fallbacks are disabled. Undefined if its Retry-After is longer than the request may wait. */
function retryAfter(selected: SelectedOffer, { retryAfterMs = 0 }: Failure): SelectedOffer | undefined {
  const { choice } = selected
  return retryAfterMs > choice.maxFurtherWaitMs
    ? undefined
    : { ...selected, choice: { ...choice, waitMs: Math.max(retryMs, retryAfterMs) } }
}

const closeAnswer = (answer: Answer): void => {
  if ('stream' in answer) answer.stream.cancel()
}

/** A warning for the first timeout that was followed by a successful fallback; other failures are only in the decision log. */
const survivedTimeouts = (failures: readonly Failure[]): readonly Warning[] =>
  failures
    .filter(({ kind }) => kind === 'timed_out')
    .slice(0, 1)
    .map(({ provider }) => ({ code: 'provider_timeout', message: `${provider} did not respond in time; another provider was used.` }))

function withWarnings(committed: CommittedCall, { context, byokFailures }: LoopState): CommittedCall {
  const { attempts } = context
  const unused = byokWarnings(committed.candidate, byokFailures, context)
  if (attempts.discarded.length === 0 && unused.length === 0) return committed
  const hedged = attempts.discarded.map(({ provider }) => paidTwice(provider.id, committed.candidate.provider.id))
  return { ...committed, warnings: [...committed.warnings, ...hedged, ...unused] }
}

const paidTwice = (slower: string, winner: string): Warning => ({
  code: 'hedged',
  message: `Two providers were called at the same time, and ${winner} responded first. ${slower} had accepted the request, so its input tokens are billed too.`,
  param: 'gateway.routing.hedge',
})

function pause(clock: Clock, milliseconds: number, cancellation: Cancellation): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.setTimeout(() => {
      stop()
      resolve()
    }, milliseconds)
    const stop = cancellation.onCancel(() => {
      clock.clearTimeout(timer)
      resolve()
    })
  })
}
