import pRetry from 'p-retry'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Attempted, AttemptLimits } from './attempt.ts'
import type { Batches } from './commit.ts'
import { allFailed } from './told.ts'
import { verdicts } from './verdict.ts'

/** The candidate that committed, its events, and what it took to get there. */
export interface Won {
  readonly candidate: Candidate
  readonly events: Batches
  readonly warnings: readonly Warning[]
  readonly latencyMs: number
}

export interface Executing {
  readonly plan: Plan
  readonly request: InferenceRequest
  readonly ending: Ending
  readonly limits: AttemptLimits
  /** Upstream calls that the request may make in all. */
  readonly budget: number
  readonly clock: Clock
  /** `bare`: without the reasoning state of the conversation. */
  readonly attempt: (candidate: Candidate, bare: boolean) => Promise<Attempted>
  /** Some state of the conversation goes to this candidate. Default: none to nobody. */
  readonly carries?: (candidate: Candidate) => boolean
  readonly onFailure: (candidate: Candidate, failure: Failure) => void
}

/** Rounds over the candidates: the first asks each, the second asks again those whose failure may pass. */
const rounds = 2
const waitMs = 250

/** Candidates in order until one commits. Throws the GatewayError that ends the request when none does. */
export async function execute(executing: Executing): Promise<Won> {
  const { plan, request, clock, limits, ending } = executing
  const failures: Failure[] = []
  let left = executing.budget
  let open: readonly Candidate[] = request.routing.allow_fallbacks ? plan.candidates : plan.candidates.slice(0, 1)
  const timeLeft = (): number => limits.deadlineAt - clock.monotonic()
  /** Who could not use the state of the conversation, and is not sent it again. */
  const bare = new Set<Candidate>()

  const ask = async (candidate: Candidate, again: Candidate[]): Promise<Won | undefined> => {
    if (left <= 0 || timeLeft() <= 0 || ending.why) return undefined
    left -= 1
    const tried = await executing.attempt(candidate, bare.has(candidate))
    if (tried.ok)
      return { candidate, events: tried.events, warnings: [...tried.warnings, ...survived(failures)], latencyMs: tried.latencyMs }
    failures.push(tried.failure)
    executing.onFailure(candidate, tried.failure)
    const verdict = verdicts[tried.failure.kind]
    if (verdict.then === 'stop') throw allFailed(failures, { told: tried.failure })
    if (verdict.then === 'retry') again.push(candidate)
    if (verdict.then !== 'strip' || bare.has(candidate) || !executing.carries?.(candidate)) return undefined
    bare.add(candidate)
    return ask(candidate, again)
  }
  const round = async (): Promise<Won | undefined> => {
    const again: Candidate[] = []
    for (const candidate of open) {
      const won = await ask(candidate, again)
      if (won) return won
    }
    open = again
    return undefined
  }

  const mayGoOn = (): boolean => open.length > 0 && left > 0 && timeLeft() > waitMs && !ending.why
  const won = await round()
  if (won) return won
  // The first round is behind us: p-retry is asked for what comes after it, and costs nothing where that is not needed.
  return pRetry(
    async attemptNumber => {
      const again = attemptNumber === 1 ? undefined : await round()
      if (again) return again
      throw ending.why
        ? allFailed([{ kind: ending.why, message: '' }])
        : allFailed(failures, { deadlineOver: timeLeft() <= 0, excluded: plan.excluded })
    },
    {
      retries: rounds - 1,
      minTimeout: 0,
      shouldRetry: async () => {
        if (!mayGoOn()) return false
        await pause(clock, waitMs, ending)
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
