import pRetry from 'p-retry'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import type { Clock } from '../runtime/ports.ts'
import { type Attempted, type AttemptLimits, leaving } from './attempt.ts'
import type { Batches } from './commit.ts'
import { allFailed } from './told.ts'
import { verdicts } from './verdict.ts'

/** The candidate that committed, its events, and what it took to get there. */
export interface Won {
  readonly candidate: Candidate
  readonly events: Batches
  readonly warnings: readonly Warning[]
  readonly failures: readonly Failure[]
}

export interface Executing {
  readonly plan: Plan
  readonly request: InferenceRequest
  readonly signal: AbortSignal
  readonly limits: AttemptLimits
  /** Upstream calls that the request may make in all. */
  readonly budget: number
  readonly clock: Clock
  readonly attempt: (candidate: Candidate) => Promise<Attempted>
  readonly onFailure: (candidate: Candidate, failure: Failure) => void
}

/** Rounds over the candidates: the first asks each, the second asks again those whose failure may pass. */
const rounds = 2
const waitMs = 250

/** Candidates in order until one commits. Throws the GatewayError that ends the request when none does. */
export async function execute(executing: Executing): Promise<Won> {
  const { plan, request, clock, limits, signal } = executing
  const failures: Failure[] = []
  let left = executing.budget
  let open: readonly Candidate[] = request.routing.allow_fallbacks ? plan.candidates : plan.candidates.slice(0, 1)
  const stops = new WeakSet<Error>()
  const timeLeft = (): number => limits.deadlineAt - clock.monotonic()

  const round = async (): Promise<Won | undefined> => {
    const again: Candidate[] = []
    for (const candidate of open) {
      if (left <= 0 || timeLeft() <= 0 || signal.aborted) break
      left -= 1
      const tried = await executing.attempt(candidate)
      if (tried.ok) return { candidate, events: tried.events, warnings: [...tried.warnings, ...survived(failures)], failures }
      failures.push(tried.failure)
      executing.onFailure(candidate, tried.failure)
      const verdict = verdicts[tried.failure.kind]
      if (verdict.then === 'stop') {
        const end = allFailed([tried.failure], false)
        stops.add(end)
        throw end
      }
      if (verdict.then === 'retry') again.push(candidate)
    }
    open = again
    return undefined
  }

  const mayGoOn = (): boolean => open.length > 0 && left > 0 && timeLeft() > waitMs && !signal.aborted
  return pRetry(
    async () => {
      const won = await round()
      if (won) return won
      throw signal.aborted ? allFailed([{ kind: leaving(signal), message: '' }], false) : allFailed(failures, timeLeft() <= 0)
    },
    {
      retries: rounds - 1,
      minTimeout: 0,
      shouldRetry: async ({ error }) => {
        if (stops.has(error) || !mayGoOn()) return false
        await pause(clock, waitMs, signal)
        return mayGoOn()
      },
    },
  )
}

/** The caller learns of a time-out that a fallback made good; other failures stay in the evidence. */
const survived = (failures: readonly Failure[]): readonly Warning[] =>
  failures
    .filter(({ kind }) => kind === 'timed_out')
    .slice(0, 1)
    .map(({ provider }) => ({ code: 'provider_timeout', message: `${provider} did not answer in time; another provider answered.` }))

function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.setTimeout(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })
  })
}
