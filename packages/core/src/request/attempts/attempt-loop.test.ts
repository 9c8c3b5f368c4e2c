import { chatProvider } from '@signalbox/dialects'
import type { Failure, FailureKind, InferenceRequest } from '@signalbox/dialects/protocol'
import {
  createDynamicRouter,
  type DynamicRouter,
  type Preference,
  type RouterChoice,
  type RouterOffer,
  type TrackedOffer,
} from '@signalbox/router'
import { promised } from '@signalbox/storage/awaitable'
import { type Act, acts, fakeClock, scriptedProvider } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { type Candidate, type Excluded, makeCandidate, type Plan } from '../../routing/plan.ts'
import { createCandidateTracker } from '../../routing/tracked-offers.ts'
import { createCancellation } from '../../runtime/cancellation.ts'
import { runSteps } from '../../runtime/steps.ts'
import { webTransport } from '../../runtime/web.ts'
import type { CommittedAttempt, SelectedOffer } from '../../upstream/attempt.ts'
import type { Carried } from '../reasoning-state/open-state.ts'
import type { RequestRun } from '../run.ts'
import { AttemptLoop } from './attempt-loop.ts'
import type { Selection } from './select-offers.ts'

/** What a provider does to cause each kind of failure. */
const ways = {
  ok: acts.reply(),
  server_error: acts.status(500),
  overloaded: acts.status(503, { code: 'server_is_overloaded' }),
  rate_limited: acts.status(429),
  full_for_4s: acts.status(429, { retryAfter: 4 }),
  full_for_60s: acts.status(429, { retryAfter: 60 }),
  rejected: acts.status(400),
  bad_credential: acts.status(401),
  stale_state: acts.status(400, { code: 'invalid_encrypted_content' }),
  unreadable: acts.endAfter(0),
  unreachable: acts.unreachable(),
  timed_out: acts.never(),
} satisfies Partial<Record<FailureKind | 'ok' | 'full_for_4s' | 'full_for_60s', Act>>

type Way = keyof typeof ways

const request: InferenceRequest = { prompt: { input: [] }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'stream' }
const state = 'the state of the conversation'
const stateful: InferenceRequest = {
  ...request,
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: state }] }] },
}

/** Plays each provider’s script, call by call; its last act is repeated. */
async function run(
  script: Readonly<Record<string, readonly Way[]>>,
  options: {
    excluded?: readonly Excluded[]
    budget?: number
    deadlineMs?: number
    allow_fallbacks?: boolean
    left?: boolean
    carries?: boolean
    preference?: Preference
    decisionLog?: object
    /** Calls of other requests, before. */
    before?: (router: DynamicRouter, contenders: readonly TrackedOffer[]) => void
  } = {},
) {
  const { allow_fallbacks = true, budget = 4, carries = false } = options
  const tried: string[] = []
  const withoutState: boolean[] = []
  const failures: Failure[] = []
  const clock = fakeClock()
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const cancellation = createCancellation()
  if (options.left) cancellation.cancel('client_left')
  const router = createDynamicRouter({
    monotonic: clock.monotonic,
    preference: 'balanced',
    seed: 1,
    ...(options.decisionLog && { decisionLog: options.decisionLog }),
  })
  const candidates = Object.entries(script).map(([id, each]): Candidate => {
    let calls = 0
    const act: Act = context => {
      tried.push(id)
      withoutState.push(!JSON.stringify(context.body).includes(state))
      calls += 1
      return ways[each[calls - 1] ?? each.at(-1) ?? 'ok'](context)
    }
    return makeCandidate({
      model: { id: 'm', offers: [] },
      offer: { provider: id, model: 'm', api: 'chat' },
      provider: scriptedProvider({ id, dialect: chatProvider, clock, acts: Array.from({ length: 10 }, () => act) }),
      credential: { id, owner: 'platform', secret: '' },
    })
  })
  const routed = (of: InferenceRequest): InferenceRequest => ({ ...of, routing: { ...of.routing, allow_fallbacks } })
  const carried: Carried = {
    fit: (_, isBare) => ({ request: routed(carries && !isBare ? stateful : request), warnings: [], carries: carries && !isBare }),
    lastMade: () => undefined,
  }
  const [first, ...others] = candidates
  if (!first) throw new Error('A script has a provider.')
  const plan: Plan = { candidates: [first, ...others], excluded: options.excluded ?? [], strategy: 'order', ruling: 'order' }
  const hooks = { onFailure: (_: unknown, failure: Failure) => void failures.push(failure) }
  const limits = { attempts: budget }
  const deadlineAt = clock.monotonic() + (options.deadlineMs ?? 60_000)
  const loop = new AttemptLoop(
    {
      engine: { router, clock, hooks, logger, limits, transport: webTransport(), timeouts: { idleMs: 1_000 } },
      facts: { requestId: 'r', workspaceId: 'w', keyId: 'k', model: 'm' },
      options: {},
      request: routed(request),
      plan,
      bounds: { capped: (each: InferenceRequest) => each },
      carried,
      cancellation,
      deadlineAt,
      leftMs: () => deadlineAt - clock.monotonic(),
      ceilingMs: 1_000,
      isCeilingChosen: false,
      startedAt: clock.monotonic(),
      maxHedgeCost: 0,
      policy: { credentials: new Map() },
      attempts: 0,
      discarded: [],
      lastSent: undefined,
    } as unknown as RequestRun,
    inOrder(router, candidates, { ...options, maxAttempts: allow_fallbacks ? budget : 1 }),
  )
  const outcome = promised(() => runSteps(loop.commit())).catch((error: Error) => error)
  await clock.advance(10_000)
  return { outcome: await outcome, tried, withoutState, failures, trace: router.trace() }
}

/** A real router that keeps the order given. */
function inOrder(
  router: DynamicRouter,
  candidates: readonly Candidate[],
  { before, deadlineMs = 60_000, ...options }: Parameters<typeof run>[1] & { readonly maxAttempts: number },
): Selection {
  const contenderOf = createCandidateTracker(router)
  const contenders = candidates.map(each => contenderOf(each, { rates: { input: 0, output: 0 }, thinking: false }))
  const rank = (offer: RouterOffer): number => contenders.findIndex(each => each.offer === offer)
  before?.(router, contenders)
  const { maxAttempts, preference = 'balanced' } = options
  const plan = router.plan({ inputTokens: 1, maxAttempts, rank, deadlineMs, preference }, contenders)
  return {
    next(): SelectedOffer | undefined {
      const choice = plan.next()
      const at = choice ? rank(choice.offer) : -1
      const [candidate, tracked] = [candidates[at], contenders[at]]
      return choice && candidate && tracked && { choice, candidate, contender: tracked }
    },
    all: () => {
      throw new Error('The loop takes one candidate at a time.')
    },
  }
}

test('the first candidate that succeeds is used, and no other is tried', async () => {
  const { outcome, tried } = await run({ a: ['ok'], b: ['ok'] })
  expect(tried).toEqual(['a'])
  expect(outcome).toMatchObject({ candidate: { provider: { id: 'a' } }, warnings: [] })
})

test('every candidate is tried once before any is tried twice', async () => {
  const { tried, outcome } = await run({ a: ['server_error', 'ok'], b: ['overloaded'] })
  expect(tried).toEqual(['a', 'b', 'a'])
  expect(outcome).toMatchObject({ candidate: { provider: { id: 'a' } } })
})

test('a permanent failure is not retried', async () => {
  const { tried, outcome } = await run({ a: ['unreadable'], b: ['bad_credential'] })
  expect(tried).toEqual(['a', 'b'])
  expect(outcome).toMatchObject({ code: 'provider_error', status: 502 })
})

test('a request that the provider rejects as invalid ends at once', async () => {
  const { tried, outcome } = await run({ a: ['rejected'], b: ['ok'] })
  expect(tried).toEqual(['a'])
  expect(outcome).toMatchObject({ status: 400 })
})

test('the most informative failure is returned', async () => {
  expect((await run({ a: ['unreachable'], b: ['rate_limited'] })).outcome).toMatchObject({
    code: 'rate_limit_exceeded',
    status: 429,
    facts: { limitedBy: 'provider' },
  })
  expect((await run({ a: ['bad_credential'], b: ['timed_out'] })).outcome).toMatchObject({ code: 'provider_timeout', status: 504 })
})

test('a timeout after which a fallback succeeds becomes a warning', async () => {
  const { outcome } = await run({ a: ['timed_out'], b: ['ok'] })
  expect(outcome).toMatchObject({ warnings: [{ code: 'provider_timeout' }] })
})

test('if several providers time out, there is one warning, about the first of them', async () => {
  const { outcome } = await run({ a: ['server_error'], b: ['timed_out'], c: ['timed_out'], d: ['ok'] })
  expect((outcome as CommittedAttempt).warnings).toEqual([
    { code: 'provider_timeout', message: 'b did not respond in time; another provider was used.' },
  ])
})

test('retries and fallbacks share one limit of attempts', async () => {
  expect((await run({ a: ['server_error'], b: ['server_error'], c: ['server_error'] }, { budget: 4 })).tried).toEqual(['a', 'b', 'c', 'a'])
  expect((await run({ a: ['server_error'], b: ['ok'] }, { budget: 1 })).tried).toEqual(['a'])
})

test('without fallbacks only the first candidate is tried, and retried if the failure is temporary', async () => {
  expect((await run({ a: ['server_error'], b: ['ok'] }, { allow_fallbacks: false })).tried).toEqual(['a', 'a'])
  expect((await run({ a: ['timed_out'], b: ['ok'] }, { allow_fallbacks: false })).tried).toEqual(['a'])
})

test('every call has its own entry in the decisions of the request, also a retry of the same candidate', async () => {
  const outcomes = async (way: Way, options: Parameters<typeof run>[1]) =>
    (await run({ a: [way, 'ok'] }, { ...options, decisionLog: {} })).trace.decisions.map(({ attempt, outcome }) => [
      attempt,
      outcome?.ended,
    ])
  const twice = (ended: string) => [
    [0, ended],
    [1, undefined],
  ]
  expect(await outcomes('server_error', { allow_fallbacks: false })).toEqual(twice('error'))
  expect(await outcomes('rate_limited', { allow_fallbacks: false })).toEqual(twice('rate_limited'))
  expect(await outcomes('stale_state', { carries: true })).toEqual(twice('refused'))
})

test('without fallbacks a rate-limited candidate is retried after its Retry-After, if the preference and the deadline are worth the wait', async () => {
  const callsOf = async (way: Way, more: Parameters<typeof run>[1] = {}): Promise<number> =>
    (await run({ a: [way, 'ok'] }, { allow_fallbacks: false, ...more })).tried.length
  expect(await callsOf('full_for_4s')).toBe(2)
  expect(await callsOf('full_for_4s', { preference: 'latency' })).toBe(1)
  expect(await callsOf('full_for_4s', { deadlineMs: 7_000 })).toBe(1)
  expect(await callsOf('full_for_60s')).toBe(1)
})

/** One call of an offer, by another request. */
const callOf = (router: DynamicRouter, contender: TrackedOffer) =>
  router.startAttempt(router.plan({ inputTokens: 1 }, [contender]).next() as RouterChoice)

test('a candidate that asked for a pause of a minute is called by one request at a time, whatever streams of it run; others fail with its Retry-After', async () => {
  const pausedThen = (probes: number) =>
    run(
      { a: ['ok'] },
      {
        before(router, [a]) {
          router.recordFirstContent(callOf(router, a as TrackedOffer))
          router.failAttempt(callOf(router, a as TrackedOffer), { kind: 'rate_limited', retryAfterMs: 60_000 })
          for (let at = 0; at < probes; at += 1) callOf(router, a as TrackedOffer)
        },
      },
    )
  expect((await pausedThen(0)).tried).toEqual(['a'])
  const { tried, outcome } = await pausedThen(1)
  expect(tried).toEqual([])
  expect(outcome).toMatchObject({ code: 'rate_limit_exceeded', status: 429, facts: { retryAfterMs: 60_000 } })
})

test('no candidate is tried after the client disconnected or the deadline passed', async () => {
  expect(await run({ a: ['ok'] }, { left: true })).toMatchObject({ tried: [], outcome: { code: 'client_disconnected' } })
  expect(await run({ a: ['ok'] }, { deadlineMs: 0 })).toMatchObject({ tried: [], outcome: { code: 'deadline_exceeded' } })
})

test('if the last attempt is rejected, the error still lists all attempts', async () => {
  const { outcome } = await run({ a: ['bad_credential'], b: ['rejected'] })
  expect(outcome).toMatchObject({
    code: 'invalid_parameter_value',
    facts: {
      provider: 'b',
      attempts: [
        { provider: 'a', kind: 'bad_credential' },
        { provider: 'b', kind: 'rejected' },
      ],
    },
  })
})

test('a candidate that rejects the reasoning state is retried at once, and never sent the state again', async () => {
  const { tried, withoutState } = await run({ a: ['stale_state', 'server_error', 'ok'], b: ['server_error'] }, { carries: true })
  expect(tried).toEqual(['a', 'a', 'b', 'a'])
  expect(withoutState).toEqual([false, true, false, true])
})

test('if no state was sent, the next candidate is tried; a candidate is retried without state once only', async () => {
  expect((await run({ a: ['stale_state'], b: ['ok'] })).tried).toEqual(['a', 'b'])
  expect((await run({ a: ['stale_state'], b: ['ok'] }, { carries: true })).tried).toEqual(['a', 'a', 'b'])
  expect((await run({ a: ['stale_state'], b: ['ok'] }, { carries: true, budget: 1 })).tried).toEqual(['a'])
})

test('if the retry without state fails too, the error is that of the retry', async () => {
  const outcomeOf = async (then: Way) => (await run({ a: ['stale_state', then] }, { carries: true, budget: 2 })).outcome
  expect(await outcomeOf('rejected')).toMatchObject({ message: expect.stringContaining('rejected the request') })
  expect(await outcomeOf('overloaded')).toMatchObject({ code: 'server_is_overloaded', status: 503 })
  expect(await outcomeOf('stale_state')).toMatchObject({ code: 'invalid_parameter_value' })
})

test('if every attempt fails, the error also names the candidates that were not tried', async () => {
  const excluded = [
    {
      model: 'm',
      provider: 'z',
      provider_model_id: 'z-m',
      code: 'routing_failed' as const,
      reason: 'this gateway has no credential for it',
    },
  ]
  const { outcome } = await run({ a: ['unreadable'] }, { excluded })
  expect(outcome).toMatchObject({ message: expect.stringMatching(/Not tried: z: this gateway has no credential for it\.$/) })
})
