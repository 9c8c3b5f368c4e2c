import { expect, test } from 'vitest'
import { mindOf, routingStore } from '../test/together.ts'
import type { RouterOffer } from './offer.ts'
import type { RunningAttempt } from './offer-state.ts'
import { createRouter } from './router.ts'
import type { AttemptFailure, RouterChoice } from './types.ts'

const usd = (input: number, output: number) => ({ input: input * 1e6, output: output * 1e6 })
const offers: readonly RouterOffer[] = [
  { id: 'cheap', price: usd(0.5, 1.6) },
  { id: 'middle', price: usd(0.6, 2) },
  { id: 'dear', price: usd(0.9, 3) },
]

test('a rate-limited request keeps its last two attempts for available offers', () => {
  let now = 0
  const cached = offers.map(offer => ({ ...offer, price: { ...offer.price, cached: 0, cacheWrite: offer.price.input } }))
  const router = createRouter({ offers: cached, clock: { now: () => now } })
  const answer = (request: { readonly inputTokens: number; readonly cacheKey?: string; readonly offers?: readonly string[] }) => {
    const attempt = router.startAttempt(router.plan(request).next() as RouterChoice)
    now += 300
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100, cachedTokens: request.cacheKey ? request.inputTokens : 0 })
  }
  for (let at = 0; at < 20; at += 1) for (const { id } of offers) answer({ inputTokens: 500, offers: [id] })
  answer({ inputTokens: 60_000, cacheKey: 'talk', offers: ['cheap'] })
  const plan = router.plan({ inputTokens: 60_000, cacheKey: 'talk', deadlineMs: 60_000 })
  const asked: string[] = []
  for (let choice = plan.next(); choice; choice = plan.next()) {
    asked.push(choice.offer.id)
    now += choice.waitMs
    router.failAttempt(router.startAttempt(choice), { kind: 'rate_limited', retryAfterMs: 1_000 })
  }
  expect(asked.slice(0, 2)).toEqual(['cheap', 'cheap'])
  expect(asked.slice(2)).toEqual(['middle', 'dear'])
})

test('an offer unobserved for minutes is tried once, and again after 25 seconds at the earliest', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 2), clock: { now: () => now }, preference: 'latency' })
  const answer = (choice: RouterChoice, ms: number) => {
    const attempt = router.startAttempt(choice)
    now += ms
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  const ask = () => router.plan({ inputTokens: 500 }).next() as RouterChoice
  for (let at = 0; at < 40; at += 1)
    for (const { id } of offers.slice(0, 2))
      answer(router.plan({ inputTokens: 500, offers: [id] }).next() as RouterChoice, id === 'cheap' ? 400 : 420)
  const untilTried = (): number => {
    for (let at = 1; at <= 5_000; at += 1) {
      const choice = ask()
      if (choice.reason === 'exploration') {
        router.abandonAttempt(router.startAttempt(choice))
        return at
      }
      answer(choice, 100)
    }
    return Number.POSITIVE_INFINITY
  }
  expect(untilTried()).toBeGreaterThan(3_900)
  const again = untilTried()
  expect(again).toBeGreaterThanOrEqual(250)
  expect(again).toBeLessThan(260)
})

test.each(['error', 'timeout'] as const)('after its %s all offers of a provider rank last; after a rate limit they do not', kind => {
  const shared = offers.map((offer, at) => ({ ...offer, provider: at < 2 ? 'one' : 'two' }))
  const next = (failed: AttemptFailure): string | undefined => {
    const router = createRouter({ offers: shared, clock: { now: () => 0 } })
    const plan = router.plan({ inputTokens: 500, offers: ['cheap', 'middle', 'dear'] })
    router.failAttempt(router.startAttempt(plan.next() as RouterChoice), failed)
    return plan.next()?.offer.id
  }
  expect(next({ kind })).toBe('dear')
  expect(next({ kind: 'rate_limited', retryAfterMs: 60_000 })).toBe('middle')
})

test('without another offer an attempt gets two minutes for a stream, five for a non-streamed response, or the limit of the request', () => {
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => 0 } })
  const timeout = (request: object) => (router.plan({ inputTokens: 500, ...request }).next() as RouterChoice).timeoutMs
  expect([timeout({}), timeout({ stream: false }), timeout({ timeoutMs: 9_000 }), timeout({ deadlineMs: 7_000 })]).toEqual([
    120_000, 300_000, 9_000, 7_000,
  ])
})

test('the last attempt of a request is not shortened for an offer that could only be retried', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 2), clock: { now: () => now } })
  const only = (id: string) => router.startAttempt(router.plan({ inputTokens: 500, offers: [id] }).next() as RouterChoice)
  for (let at = 0; at < 60; at += 1) {
    const attempt = only(at % 2 ? 'cheap' : 'middle')
    now += 300
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  for (let at = 0; at < 3; at += 1) router.failAttempt(only('middle'), { kind: 'timeout' })
  const secondTimeout = (maxAttempts: number) => {
    const plan = router.plan({ inputTokens: 500, maxAttempts, rank: ({ id }) => (id === 'cheap' ? 0 : 1) })
    router.failAttempt(router.startAttempt(plan.next() as RouterChoice), { kind: 'error' })
    const second = plan.next() as RouterChoice
    router.abandonAttempt(router.startAttempt(second))
    return [second.offer.id, second.timeoutMs]
  }
  expect(secondTimeout(2)).toEqual(['middle', 120_000])
  const [id, timeoutMs] = secondTimeout(3)
  expect([id, Number(timeoutMs) < 60_000]).toEqual(['middle', true])
})

/** Two offers with twenty responses each, one in ten of them slow. */
function twoKnown() {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 2), clock: { now: () => now }, preference: 'latency' })
  for (let at = 0; at < 80; at += 1) {
    const attempt = router.startAttempt(router.plan({ inputTokens: 500, offers: [at % 2 ? 'cheap' : 'middle'] }).next() as RouterChoice)
    now += at % 20 > 17 ? 6_000 : 300
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  return { router, pass: (ms: number) => (now += ms) }
}

test('a second call is planned for a stream that allows it, while another offer and attempt are left', () => {
  const { router } = twoKnown()
  const hedgeAfterMs = (request: object) => (router.plan({ inputTokens: 500, hedge: true, ...request }).next() as RouterChoice).hedgeAfterMs
  expect(hedgeAfterMs({})).toBeGreaterThan(300)
  expect(hedgeAfterMs({})).toBeLessThan(3_000)
  for (const without of [
    { hedge: false },
    { hedge: undefined },
    { stream: false },
    { offers: ['cheap'] },
    { maxAttempts: 1 },
    { preference: () => 1 },
  ])
    expect(hedgeAfterMs(without)).toBeUndefined()
})

test('a few in a hundred requests get a second call: each uses the allowance of twenty-five requests', () => {
  const { router, pass } = twoKnown()
  let hedged = 0
  for (let at = 0; at < 400; at += 1) {
    const plan = router.plan({ inputTokens: 500, hedge: true })
    const first = plan.next() as RouterChoice
    const attempt = router.startAttempt(first)
    if (first.hedgeAfterMs !== undefined) {
      hedged += 1
      const second = router.startAttempt(plan.next() as RouterChoice)
      router.abandonAttempt(second)
    }
    pass(300)
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  expect(hedged).toBeGreaterThanOrEqual(16)
  expect(hedged).toBeLessThanOrEqual(18)
})

test('after a 429 an offer gets nine tenths of the rate that it accepted before', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
  const call = (end: 'answer' | 'limit') => {
    const attempt = router.startAttempt(router.plan({ inputTokens: 500 }).next() as RouterChoice)
    if (end === 'limit') return router.failAttempt(attempt, { kind: 'rate_limited', retryAfterMs: 1 })
    router.recordFirstContent(attempt)
    return router.finishAttempt(attempt, { outputTokens: 100 })
  }
  for (let at = 0; at < 600; at += 1) {
    call('answer')
    now += 100
  }
  call('limit')
  let calls = 0
  for (const end = now + 10_000; now < end; now += 20)
    if (
      (router.plan({ inputTokens: 500, dryRun: true }).choices()[0].estimate.rateLimitedMs ?? 0) <= 0 &&
      router.plan({ inputTokens: 500 }).choices()[0].waitMs === 0
    ) {
      call('answer')
      calls += 1
    }
  expect(calls).toBeGreaterThan(75)
  expect(calls).toBeLessThan(110)
})

test('first content counts once for a stream, and never for a non-streamed response or a finished call', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
  const answersAfter = (request: object, contents: number): number => {
    const attempt = router.startAttempt(router.plan({ inputTokens: 500, ...request }).next() as RouterChoice)
    const { state } = (attempt as unknown as RunningAttempt).tracked
    const before = state.outcomes.waits
    now += 300
    for (let at = 0; at < contents; at += 1) router.recordFirstContent(attempt)
    router.finishAttempt(attempt)
    router.recordFirstContent(attempt)
    return state.outcomes.waits - before
  }
  expect([answersAfter({}, 1), answersAfter({}, 2), answersAfter({}, 0), answersAfter({ stream: false }, 1)]).toEqual([1, 1, 1, 0])
})

test('the speed of a non-streamed response is estimated from its time without the usual wait', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
  const call = (stream: boolean, generationMs: number) => {
    const attempt = router.startAttempt(router.plan({ inputTokens: 0, stream }).next() as RouterChoice)
    now += 1_000
    router.recordFirstContent(attempt)
    now += generationMs
    router.finishAttempt(attempt, { outputTokens: 400 })
    return (attempt as unknown as RunningAttempt).tracked.state.speed
  }
  for (let at = 0; at < 60; at += 1) call(true, 4_000)
  const before = call(true, 4_000).value
  expect(before).toBeCloseTo(Math.log(100), 2)
  for (let at = 0; at < 200; at += 1) call(false, 4_000)
  expect(Math.exp(call(false, 4_000).value)).toBeGreaterThan(95)
  expect(Math.exp(call(false, 4_000).value)).toBeLessThan(112)
})

test('an error after first content is a broken response, one before it a failed attempt', () => {
  const sightAfter = (contents: boolean) => {
    const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => 0 } })
    for (let at = 0; at < 3; at += 1) {
      const attempt = router.startAttempt(router.plan({ inputTokens: 500 }).next() as RouterChoice)
      if (contents) router.recordFirstContent(attempt)
      router.failAttempt(attempt, { kind: 'error' })
    }
    const { failureProbability, breakProbability } = router.plan({ inputTokens: 500 }).choices()[0].estimate
    return { failure: failureProbability > 0.3, breaking: breakProbability > 0.3 }
  }
  expect(sightAfter(true)).toEqual({ failure: false, breaking: true })
  expect(sightAfter(false)).toEqual({ failure: true, breaking: false })
})

test('an abandoned response is no failure of its offer, unless it was silent for longer than nearly all others', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 2), clock: { now: () => now } })
  const start = () => router.startAttempt(router.plan({ inputTokens: 500, offers: ['cheap'] }).next() as RouterChoice)
  const risk = () => (router.plan({ inputTokens: 500, offers: ['cheap'] }).next() as RouterChoice).estimate.failureProbability
  for (let at = 0; at < 40; at += 1) {
    const attempt = start()
    now += 1_000
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  const usual = risk()
  const leave = (afterMs: number, begun: boolean) => {
    const attempt = start()
    if (begun) router.recordFirstContent(attempt)
    now += afterMs
    router.abandonAttempt(attempt)
    return risk()
  }
  const breaks = () => (router.plan({ inputTokens: 500, offers: ['cheap'] }).next() as RouterChoice).estimate.breakProbability
  expect(leave(1_300, false)).toBeLessThan(usual * 1.5)
  const usualBreaks = breaks()
  expect(leave(60_000, true)).toBeLessThan(usual * 1.5)
  expect(breaks()).toBeLessThan(usualBreaks * 1.5)
  expect(leave(60_000, false)).toBeGreaterThan(usual * 3)
})

test('an abandoned silent call shows that answers may take as long', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
  const start = () => router.startAttempt(router.plan({ inputTokens: 500 }).next() as RouterChoice)
  for (let at = 0; at < 40; at += 1) {
    const attempt = start()
    now += 1_000 + (at % 7) * 60
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  const answersNoted = () => {
    const attempt = start()
    const { latency } = (attempt as unknown as RunningAttempt).tracked.state
    const before = latency.bins.reduce((sum, each) => sum + each, 0)
    now += 1_400
    router.abandonAttempt(attempt)
    return latency.bins.reduce((sum, each) => sum + each, 0) - before
  }
  expect(answersNoted()).toBeGreaterThan(0.5)
})

test('no offer is explored if the caller gave an order', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 2), clock: { now: () => now }, preference: 'latency' })
  const answer = (choice: RouterChoice, ms: number) => {
    const attempt = router.startAttempt(choice)
    now += ms
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  for (let at = 0; at < 40; at += 1)
    for (const { id } of offers.slice(0, 2))
      answer(router.plan({ inputTokens: 500, offers: [id] }).next() as RouterChoice, id === 'cheap' ? 400 : 420)
  for (let at = 0; at < 5_000; at += 1) {
    const choice = router.plan({ inputTokens: 500, rank: () => 0 }).next() as RouterChoice
    expect(choice.reason).not.toBe('exploration')
    answer(choice, 100)
  }
})

test('the duration of failures and the actual cache hits are learned for each offer', () => {
  let now = 0
  const cached = offers.slice(0, 1).map(offer => ({ ...offer, price: { ...offer.price, cached: 0 } }))
  const router = createRouter({ offers: cached, clock: { now: () => now } })
  const start = () => router.startAttempt(router.plan({ inputTokens: 5_000, cacheKey: 'talk' }).next() as RouterChoice)
  const stateOf = () => {
    const attempt = start()
    router.abandonAttempt(attempt)
    return (attempt as unknown as RunningAttempt).tracked.state
  }
  const answer = (used: { readonly outputTokens: number; readonly cachedTokens?: number }) => {
    const attempt = start()
    now += 300
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, used)
  }
  answer({ outputTokens: 100 })
  const before = stateOf().cacheHitShare.value
  answer({ outputTokens: 100 })
  expect(stateOf().cacheHitShare.value).toBe(before)
  answer({ outputTokens: 100, cachedTokens: 0 })
  expect(stateOf().cacheHitShare.value).toBeLessThan(before)
  const usual = stateOf().failedAttemptMs.value
  const failing = start()
  now += 9_000
  router.failAttempt(failing, { kind: 'error' })
  expect(stateOf().failedAttemptMs.value).toBeGreaterThan(usual + 1_000)
})

/** Estimates of an offer after it responded as a whole. */
const afterWhole = (outputTokens: number, milliseconds: number) => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
  const attempt = router.startAttempt(router.plan({ inputTokens: 100, stream: false }).next() as RouterChoice)
  now += milliseconds
  router.finishAttempt(attempt, { outputTokens })
  return (router.plan({ inputTokens: 100, outputTokens: 1_000 }).next() as RouterChoice).estimate
}

test('a whole response of fewer than twelve tokens teaches no output speed', () => {
  const unknown = afterWhole(0, 10_000).generationMs
  expect(afterWhole(11, 10_000).generationMs).toBe(unknown)
  expect(afterWhole(12, 10_000).generationMs).toBeGreaterThan(unknown)
})

test('how long a failed attempt takes is learned from all failures but time-outs of whole responses', () => {
  const afterFailure = (kind: 'error' | 'timeout', stream: boolean) => {
    let now = 0
    const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
    const attempt = router.startAttempt(router.plan({ inputTokens: 100, stream }).next() as RouterChoice)
    now += 50_000
    router.failAttempt(attempt, { kind })
    return router.plan({ inputTokens: 100 }).next()?.estimate.failedAttemptMs ?? 0
  }
  const unknown =
    createRouter({ offers: offers.slice(0, 1) })
      .plan({ inputTokens: 100 })
      .next()?.estimate.failedAttemptMs ?? 0
  expect(afterFailure('timeout', false)).toBe(unknown)
  for (const learned of [afterFailure('timeout', true), afterFailure('error', true), afterFailure('error', false)])
    expect(learned).toBeGreaterThan(unknown)
})

test('a plan without offers is refused', () => {
  const { router } = mindOf('one', { ms: 0 }, { store: routingStore() })
  expect(() => router.plan({ inputTokens: 1 }, [])).toThrow('A plan needs at least one offer to choose from.')
})

test('an offer that fails and asks for a pause is not available until then', () => {
  let now = 0
  const router = createRouter({ offers: offers.slice(0, 1), clock: { now: () => now } })
  const failed = (retryAfterMs?: number) => {
    const attempt = router.startAttempt(router.plan({ inputTokens: 100 }).next() as RouterChoice)
    router.failAttempt(attempt, { kind: 'error', ...(retryAfterMs !== undefined && { retryAfterMs }) })
    return router.plan({ inputTokens: 100 }).choices()[0]?.estimate.rateLimitedMs
  }
  expect(failed()).toBe(0)
  expect(failed(30_000)).toBe(30_000)
  now += 30_000
  expect(router.plan({ inputTokens: 100 }).choices()[0]?.estimate.rateLimitedMs).toBe(0)
})
