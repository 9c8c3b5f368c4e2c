import type { Failure, Warning } from '@signalbox/dialects/protocol'
import type { Candidate } from '../../routing/plan.ts'
import { callHook } from '../../runtime/call-hook.ts'
import type { Cancellation } from '../../runtime/cancellation.ts'
import type { Clock } from '../../runtime/ports.ts'
import { runSteps, type Step, wait } from '../../runtime/steps.ts'
import { Attempt, type CommittedAttempt, type SelectedOffer } from '../../upstream/attempt.ts'
import { allFailedError } from '../../upstream/error-message.ts'
import { failurePolicies, mostInformative } from '../../upstream/failure-policy.ts'
import { logFailure } from '../../upstream/log-failure.ts'
import type { RequestRun } from '../run.ts'
import { type ByokFailure, byokWarnings } from './byok-warnings.ts'
import { type AbortScope, abortScope, affordsBeside, type RacedCall, race } from './hedging.ts'
import type { Selection } from './select-offers.ts'

/** Maximum calls to one candidate, not counting calls repeated without reasoning state. */
const maxCallsOfOne = 2
const retryMs = 250

/** The attempts of one request: calls one candidate after another until one commits. */
export class AttemptLoop {
  readonly #run: RequestRun
  readonly #selection: Pick<Selection, 'next'>
  readonly #failures: Failure[] = []
  /** Failures of candidates that were skipped because they are rate limited. */
  readonly #rateLimited: Failure[] = []
  /** Candidates in call order, one entry per call. */
  readonly #called: Candidate[] = []
  /** Candidates that could not use the reasoning state of the conversation; they are called without it. */
  readonly #stateless: Candidate[] = []
  /** Failures of calls with BYOK keys. */
  readonly #byokFailures: ByokFailure[] = []
  #callsLeft: number
  /** Chosen but not called yet. */
  #chosen: SelectedOffer | undefined
  /** If set, no further candidate is called. Running calls may still succeed, since providers validate requests differently. */
  #stopped: Failure | undefined

  constructor(run: RequestRun, selection: Pick<Selection, 'next'>) {
    this.#run = run
    this.#selection = selection
    this.#callsLeft = run.engine.limits.attempts
  }

  /** The attempt that commits. Throws the GatewayError that ends the request if none does. Called once. */
  *commit(): Step<CommittedAttempt> {
    const { engine, plan, cancellation, deadlineAt, startedAt, facts } = this.#run
    const { clock, hooks, logger } = engine
    for (let selected = this.#nextOffer(); selected; selected = this.#nextOffer()) {
      const waitMs = this.#waitBefore(selected)
      if (waitMs === undefined) continue
      if (waitMs > 0) {
        yield* wait(pause(clock, waitMs, cancellation))
        if (this.#isOver()) continue
      }
      const { hedgeAfterMs } = selected.choice
      const attempt = yield* hedgeAfterMs === undefined ? this.#call(selected) : wait(this.#callAndHedge(selected, hedgeAfterMs))
      if (!attempt) continue
      const { provider } = attempt.candidate
      if (hooks.onFirstContent)
        callHook(logger, 'onFirstContent', () => hooks.onFirstContent?.(facts, provider.id, clock.monotonic() - startedAt))
      const added = this.#warningsFor(attempt)
      if (added.length > 0) attempt.warnings = [...attempt.warnings, ...added]
      return attempt
    }
    if (this.#stopped) throw allFailedError(this.#failures, { shown: this.#stopped })
    if (cancellation.reason) throw allFailedError([{ kind: cancellation.reason, message: '' }])
    const deadlineOver = deadlineAt <= clock.monotonic()
    throw allFailedError(this.#failures.length > 0 ? this.#failures : this.#rateLimited, { deadlineOver, excluded: plan.excluded })
  }

  #isOver(): boolean {
    return this.#callsLeft <= 0 || this.#run.leftMs() <= 0 || this.#stopped !== undefined || this.#run.cancellation.reason !== undefined
  }

  /** The next candidate to call. Undefined if no candidate, call or time is left. */
  #nextOffer(): SelectedOffer | undefined {
    if (this.#isOver()) return undefined
    const chosen = this.#chosen
    this.#chosen = undefined
    if (chosen) return chosen
    return this.#run.request.routing.allow_fallbacks || this.#called.length === 0 ? this.#selection.next() : undefined
  }

  /**
   * Milliseconds to wait before the call. Undefined if the candidate must be skipped. The router queues a request for a full offer as long as
   * that is worth it by the request's preference and deadline. Beyond that the offer is called at once, and while it returns 429 one call at a
   * time: the limit may have been lifted.
   */
  #waitBefore({ candidate, contender: { state }, choice: { waitMs, estimate } }: SelectedOffer): number | undefined {
    const { rateLimitedMs } = estimate
    const isRateLimited = rateLimitedMs > waitMs + 1
    if (!isRateLimited && (waitMs <= 0 || waitMs < this.#run.leftMs())) return waitMs
    if (this.#called.includes(candidate)) return undefined
    if (!isRateLimited || state.capacity.probes === 0 || state.capacity.refusals === 0) return 0
    const { id: provider } = candidate.provider
    this.#rateLimited.push({ kind: 'rate_limited', message: '', provider, retryAfterMs: Math.ceil(rateLimitedMs) })
    return undefined
  }

  /** Calls a candidate, and hedges with another one if that is worth its cost. Undefined if all calls failed. */
  #callAndHedge(selected: SelectedOffer, afterMs: number): Promise<CommittedAttempt | undefined> {
    const { clock } = this.#run.engine
    const second = (): RacedCall<CommittedAttempt> | undefined => {
      const other = this.#isOver() ? undefined : this.#selection.next()
      if (!other || other.candidate === selected.candidate) return undefined
      if (affordsBeside(this.#run, other)) return this.#launch(other)
      this.#chosen = other
      return undefined
    }
    return race(this.#launch(selected), { afterMs, second, drop: attempt => this.#drop(attempt), clock })
  }

  #launch(selected: SelectedOffer): RacedCall<CommittedAttempt> {
    const scope = abortScope(this.#run.cancellation)
    return { result: Promise.resolve(runSteps(this.#call(selected, scope))), abort: scope.abort }
  }

  /** Calls a candidate, and once more without reasoning state if it could not use that. Undefined if the call failed, or was aborted. */
  *#call(selected: SelectedOffer, scope?: AbortScope): Step<CommittedAttempt | undefined> {
    const run = this.#run
    const { candidate, choice } = selected
    const ceilingMs = run.request.routing.allow_fallbacks ? Math.min(run.ceilingMs, choice.timeoutMs) : run.ceilingMs
    for (;;) {
      this.#callsLeft -= 1
      run.attempts += 1
      const fitted = run.carried?.fit(candidate, this.#stateless.includes(candidate))
      const attempt = new Attempt(run, selected, ceilingMs, scope ?? run.cancellation)
      const failure = yield* wait(attempt.send(run.bounds.capped(fitted?.request ?? run.request, candidate), fitted?.warnings))
      if (scope?.isAborted) {
        this.#drop(attempt)
        return undefined
      }
      if (!failure) return attempt as CommittedAttempt
      if (run.cancellation.reason) this.#noteDiscarded(attempt)
      if (!this.#handleFailure(attempt, failure) || this.#isOver()) return undefined
    }
  }

  /** Handles a failure by `failurePolicies`. Returns true if the same candidate is called again without reasoning state. */
  #handleFailure(attempt: Attempt, failure: Failure): boolean {
    const { engine, facts, request, deadlineAt, carried, isCeilingChosen, ceilingMs } = this.#run
    const { clock, hooks, logger } = engine
    const { candidate, selected } = attempt
    const { action } = failurePolicies[failure.kind]
    const isStripped = action === 'strip' && !this.#stateless.includes(candidate) && carried?.fit(candidate, false).carries === true
    if (isStripped) this.#stateless.push(candidate)
    else this.#called.push(candidate)
    // The call would fail again, or was the last of those allowed.
    const isFinal = action !== 'retry' || this.#called.filter(each => each === candidate).length >= maxCallsOfOne
    this.#failures.push(failure)
    // A timeout that the client chose is weak evidence about the provider, and must not demote it for others.
    const isDeadlineOver = request.routing.deadline_ms !== undefined && clock.monotonic() >= deadlineAt
    const chosen = isDeadlineOver || (isCeilingChosen && attempt.ceilingMs >= ceilingMs)
    attempt.reportFailure(failure, { permanent: isFinal && !isStripped, chosen })
    logFailure(logger, candidate, failure)
    if (candidate.credential.owner === 'workspace') {
      this.#byokFailures.push({ candidate, kind: failure.kind })
      if (failure.kind === 'bad_credential') engine.onCredentialRefused?.(facts.workspaceId, candidate.credential, failure.status)
    }
    if (hooks.onFailure) callHook(logger, 'onFailure', () => hooks.onFailure?.(facts, failure))
    const stopped = this.#stopped
    if (action === 'stop' && !(stopped && mostInformative([stopped, failure]) === 0)) this.#stopped = failure
    // Without fallbacks the same candidate is retried, unless its Retry-After is longer than the request may wait.
    const { retryAfterMs = 0 } = failure
    if (!request.routing.allow_fallbacks && !isFinal && retryAfterMs <= selected.choice.maxFurtherWaitMs)
      this.#chosen = { ...selected, choice: { ...selected.choice, waitMs: Math.max(retryMs, retryAfterMs) } }
    return isStripped
  }

  /** Ends the attempt of a hedged pair that was not the first to respond. */
  #drop(attempt: Attempt): void {
    attempt.reportEnd()
    this.#noteDiscarded(attempt)
    attempt.cancel()
  }

  /** Notes that a cancelled attempt may be billed. A candidate is billed once. */
  #noteDiscarded({ candidate, isAccepted }: Attempt): void {
    const { discarded } = this.#run
    if (isAccepted && !discarded.includes(candidate)) discarded.push(candidate)
  }

  #warningsFor({ candidate }: CommittedAttempt): readonly Warning[] {
    const winner = candidate.provider.id
    // One warning, for the first timeout; other failures are only in the decision log.
    const timedOut = this.#failures.filter(({ kind }) => kind === 'timed_out').slice(0, 1)
    return [
      ...timedOut.map(({ provider }) => ({
        code: 'provider_timeout',
        message: `${provider} did not respond in time; another provider was used.`,
      })),
      ...this.#run.discarded.map(({ provider }) => ({
        code: 'hedged',
        message: `Two providers were called at the same time, and ${winner} responded first. ${provider.id} had accepted the request, so its input tokens are billed too.`,
        param: 'gateway.routing.hedge',
      })),
      ...byokWarnings(candidate, this.#byokFailures, this.#run),
    ]
  }
}

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
