import { expect, test } from 'vitest'
import type { RouterOffer } from './offer.ts'
import { createRouter } from './router.ts'
import type { RouterChoice, RouterRequest } from './types.ts'

// What a request does when every offer is full or down.

const usd = (input: number, output: number) => ({ input: input * 1e6, output: output * 1e6 })
const offers: readonly RouterOffer[] = [
  { id: 'cheap', price: usd(0.1, 0.3) },
  { id: 'dear', price: usd(0.6, 2) },
]

/** A router in which each of these offers is known and nothing is learned against any. */
function routerOf(among: readonly RouterOffer[] = offers) {
  const clock = { ms: 0 }
  const router = createRouter({ offers: among, clock: { now: () => clock.ms } })
  const next = (request: Partial<RouterRequest> = {}) => router.plan({ inputTokens: 500, ...request }).next() as RouterChoice
  const answer = (choice: RouterChoice) => {
    const attempt = router.startAttempt(choice)
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  const refuse = (choice: RouterChoice, retryAfterMs?: number) =>
    router.failAttempt(router.startAttempt(choice), { kind: 'rate_limited', ...(retryAfterMs !== undefined && { retryAfterMs }) })
  for (let at = 0; at < 100; at += 1) {
    for (const { id } of among) answer(next({ offers: [id] }))
    clock.ms += 100
  }
  return { router, clock, next, answer, refuse }
}

test('a full offer goes before one that fails at once, though the latter is cheap and its failure takes no time', () => {
  const { router, next, refuse } = routerOf()
  for (let at = 0; at < 6; at += 1) router.failAttempt(router.startAttempt(next({ offers: ['cheap'] })), { kind: 'error' })
  refuse(next({ offers: ['dear'] }), 3_000)
  expect(next()).toMatchObject({ offer: { id: 'dear' }, reason: 'last_resort', waitMs: 3_000 })
})

test('in an order of the caller, an offer that refused is followed by the next one, though that is full as well', () => {
  const { router, next, refuse } = routerOf()
  refuse(next({ offers: ['dear'] }), 2_000)
  const plan = router.plan({ inputTokens: 500, rank: ({ id }) => (id === 'cheap' ? 0 : 1) })
  const first = plan.next() as RouterChoice
  refuse(first, 1_000)
  expect([first.offer.id, plan.next()?.offer.id]).toEqual(['cheap', 'dear'])
})

test('requests queue for successive slots of a full offer, and those that come later wait for longer', () => {
  const { next, refuse } = routerOf(offers.slice(0, 1))
  refuse(next(), 1)
  const waits = Array.from({ length: 20 }, () => next({ deadlineMs: 60_000 }).waitMs)
  expect(waits.every((wait, at) => at === 0 || wait > (waits[at - 1] ?? 0) + 50)).toBe(true)
})

test.each([
  ['balanced', 10_000],
  ['latency', 1_000],
  ['throughput', 20_000],
  ['cost', 30_000],
  ['availability', 30_000],
] as const)('with the preference %s a request queues for %d ms at most, and within half of its deadline', (preference, longestMs) => {
  const waitFor = (retryAfterMs: number, deadlineMs?: number): number => {
    // The price of a typical request, by which preferences are not scaled.
    const { next, refuse } = routerOf([{ id: 'only', price: usd(0.6, 4) }])
    refuse(next(), retryAfterMs)
    return next({ preference, ...(deadlineMs !== undefined && { deadlineMs }) }).waitMs
  }
  expect(waitFor(longestMs - 1)).toBe(longestMs - 1)
  expect(waitFor(longestMs + 1)).toBe(0)
  expect([waitFor(900, 2_000), waitFor(1_001, 2_000)]).toEqual([900, 0])
})

test('all attempts of a request together queue no longer than one may', () => {
  const { router, clock, next, refuse } = routerOf([{ id: 'only', price: usd(0.6, 4) }])
  refuse(next(), 7_000)
  const plan = router.plan({ inputTokens: 500, preference: 'balanced' })
  const waits: number[] = []
  for (let choice = plan.next(); choice; choice = plan.next()) {
    waits.push(choice.waitMs)
    clock.ms += choice.waitMs
    refuse(choice, 7_000)
  }
  expect(waits).toEqual([7_000, 0, 0, 0])
})

test('a 429 of a request that was sent although the offer was full lowers no limit', () => {
  /** Requests that the offer gets in the ten seconds after refusals. */
  const callsAfter = (refusals: number): number => {
    const { clock, next, answer, refuse } = routerOf(offers.slice(0, 1))
    refuse(next(), 1_000)
    for (let at = 0; at < refusals; at += 1) refuse(next({ deadlineMs: 500 }))
    let calls = 0
    for (const end = clock.ms + 11_000; clock.ms < end; clock.ms += 20) {
      const choice = next({ dryRun: true })
      if (choice.estimate.rateLimitedMs > 0 || choice.waitMs > 0) continue
      answer(next())
      calls += 1
    }
    return calls
  }
  expect(callsAfter(0)).toBeGreaterThan(60)
  expect(callsAfter(0)).toBeLessThan(120)
  expect(callsAfter(20)).toBe(callsAfter(0))
})

test('an offer that asks for a pause of days is called again after ten minutes, and also sooner once nothing else is left', () => {
  const { clock, next, refuse } = routerOf()
  refuse(next({ offers: ['cheap'] }), 3 * 86_400_000)
  expect(next().offer.id).toBe('dear')
  expect(next({ offers: ['cheap'] })).toMatchObject({ waitMs: 0, reason: 'last_resort' })
  clock.ms += 599_000
  expect(next().offer.id).toBe('dear')
  clock.ms += 1_001
  expect(next().offer.id).toBe('cheap')
})

test('after a jump of the clock ahead and back, pauses and slots go on from there', () => {
  const { clock, next, refuse } = routerOf(offers.slice(0, 1))
  refuse(next(), 2_000)
  clock.ms += 86_400_000
  expect(next().waitMs).toBe(0)
  clock.ms -= 86_400_000
  refuse(next(), 2_000)
  const { waitMs } = next()
  expect(waitMs).toBeGreaterThanOrEqual(2_000)
  clock.ms += 10_000
  expect(next().waitMs).toBe(0)
})
