import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RouterOffer } from './offer.ts'
import type { RunningAttempt } from './offer-state.ts'
import { createRouter } from './router.ts'
import type { AttemptFailure, Router, RouterAttempt, RouterChoice } from './types.ts'

const usd = (input: number, output: number) => ({ input: input * 1e6, output: output * 1e6 })
const offers: readonly RouterOffer[] = [
  { id: 'cheap', price: usd(0.5, 1.6) },
  { id: 'middle', price: usd(0.6, 2) },
  { id: 'dear', price: usd(0.9, 3) },
]

/** How an offer responds: milliseconds to first content, or to a failure of this kind. */
interface Manner {
  readonly ms: number
  readonly fails?: AttemptFailure['kind']
}

/** A simulation in which requests are served one at a time, at a fixed interval. */
function world(router: (clock: { now(): number }) => Router, manner: (offer: string, now: number) => Manner) {
  let now = 0
  const clock = { now: () => now }
  const driven = router(clock)
  const serve = (): readonly string[] => {
    const plan = driven.plan({ inputTokens: 1_000, deadlineMs: 20_000 })
    const asked: string[] = []
    const startedAt = now
    for (let choice = plan.next(); choice; choice = plan.next()) {
      asked.push(choice.offer.id)
      const attempt = driven.startAttempt(choice)
      const { ms, fails } = manner(choice.offer.id, now)
      now += Math.min(ms, choice.timeoutMs)
      if (ms > choice.timeoutMs) driven.failAttempt(attempt, { kind: 'timeout' })
      else if (fails) driven.failAttempt(attempt, { kind: fails })
      else {
        driven.recordFirstContent(attempt)
        now += 10
        driven.finishAttempt(attempt, { outputTokens: 300 })
        break
      }
    }
    now = Math.max(now, startedAt)
    return asked
  }
  return {
    /** The first offer that each request tried, from now until `untilMs`. */
    run(untilMs: number, everyMs: number): readonly string[] {
      const first: string[] = []
      while (now < untilMs) {
        const arrivedAt = now
        first.push(serve()[0] ?? '')
        now = Math.max(now, arrivedAt + everyMs)
      }
      return first
    },
    now: () => now,
  }
}

const share = (asked: readonly string[], id: string): number => asked.filter(each => each === id).length / asked.length
const fast = { ms: 400 }

test('of offers that are otherwise equal the cheapest is chosen, and in a complete tie the first', () => {
  const asked = world(
    clock => createRouter({ offers, clock }),
    () => fast,
  ).run(60_000, 1_000)
  expect(share(asked, 'cheap')).toBeGreaterThan(0.9)
  const same = [
    { id: 'a', price: usd(1, 1) },
    { id: 'b', price: usd(1, 1) },
  ]
  expect(
    createRouter({ offers: same, clock: { now: () => 0 } })
      .plan({ inputTokens: 10 })
      .choices()
      .map(({ offer }) => offer.id),
  ).toEqual(['a', 'b'])
})

test.each([
  ['refuses', { ms: 60, fails: 'error' }],
  ['refuses late', { ms: 6_000, fails: 'error' }],
  ['hangs', { ms: 1e9 }],
  ['is five times as slow', { ms: 2_500 }],
] as const)('a favourite that %s is left within a few requests and has its traffic back within a minute of its recovery', (_, trouble) => {
  for (const everyMs of [1_000, 125]) {
    const from = 300_000
    const to = 900_000
    const life = world(
      clock => createRouter({ offers, clock }),
      (id, now) => (id === 'cheap' && now >= from && now < to ? trouble : fast),
    )
    life.run(from, everyMs)
    const during = life.run(to, everyMs)
    expect({ everyMs, share: share(during, 'cheap') < 0.08 || share(during, 'cheap') }).toEqual({ everyMs, share: true })
    life.run(to + 60_000, everyMs)
    expect(share(life.run(to + 90_000, everyMs), 'cheap')).toBeGreaterThan(0.8)
  }
})

test('an offer that becomes better than the best one is found within ten minutes at one request a second', () => {
  const better = 400_000
  const life = world(
    clock => createRouter({ offers, clock, preference: 'latency' }),
    (id, now) => ({ ms: id === 'dear' && now < better ? 3_000 : id === 'dear' ? 150 : 700 }),
  )
  life.run(better, 1_000)
  life.run(better + 600_000, 1_000)
  expect(share(life.run(better + 660_000, 1_000), 'dear')).toBeGreaterThan(0.9)
})

test('an offer that was never used is tried at once if it could be the best', () => {
  const asked = world(
    clock => createRouter({ offers, clock, preference: 'latency' }),
    id => ({ ms: id === 'dear' ? 100 : 800 }),
  ).run(10_000, 500)
  expect(asked.slice(0, 9)).toContain('dear')
  expect(share(asked.slice(10), 'dear')).toBeGreaterThan(0.7)
})

test('if all offers are bad one is chosen anyway, usually the least bad', () => {
  let count = 0
  const life = world(
    clock => createRouter({ offers, clock }),
    id => {
      if (id === 'middle') count += 1
      return { ms: 200, ...((id !== 'middle' || count % 2 === 0) && { fails: 'error' as const }) }
    },
  )
  life.run(120_000, 500)
  const asked = life.run(300_000, 500)
  expect(asked).not.toContain('')
  expect(share(asked, 'middle')).toBeGreaterThan(0.6)
})

test('a conversation stays with the offer that has read it, though another is slightly cheaper, until its cache expires', () => {
  let now = 0
  const cached = offers.map(offer => ({ ...offer, price: { ...offer.price, cached: offer.price.input / 10 } }))
  const router = createRouter({ offers: cached, clock: { now: () => now } })
  const warmTokens = (): number =>
    Math.max(
      ...router
        .plan({ inputTokens: 12_000, cacheKey: 'talk' })
        .choices()
        .map(({ estimate }) => estimate.cachedTokens),
    )
  const ask = (request: { readonly inputTokens: number; readonly cacheKey?: string; readonly offers?: readonly string[] }): string => {
    const choice = router.plan(request).next() as RouterChoice
    const attempt = router.startAttempt(choice)
    now += 400
    router.recordFirstContent(attempt)
    now += 1_000
    router.finishAttempt(attempt, { outputTokens: 200, cachedTokens: choice.estimate.cachedTokens })
    return choice.offer.id
  }
  for (let at = 0; at < 60; at += 1) ask({ inputTokens: 500 })
  ask({ inputTokens: 8_000, cacheKey: 'talk', offers: ['middle'] })
  expect([9_000, 10_000, 11_000].map(inputTokens => ask({ inputTokens, cacheKey: 'talk' }))).toEqual(['middle', 'middle', 'middle'])
  expect(warmTokens()).toBe(11_000)
  now += 600_000
  expect(warmTokens()).toBe(0)
})

test('a paused offer is not used until its Retry-After has passed', () => {
  let now = 0
  const router = createRouter({ offers, clock: { now: () => now } })
  const [first] = router.plan({ inputTokens: 10 }).choices()
  router.failAttempt(router.startAttempt(first), { kind: 'rate_limited', retryAfterMs: 30_000 })
  now += 29_000
  expect(router.plan({ inputTokens: 10 }).choices()[0].offer.id).not.toBe('cheap')
  now += 20_000
  expect(router.plan({ inputTokens: 10 }).choices()[0].offer.id).toBe('cheap')
})

test('a rate limit reached before any accepted call pauses an offer briefly, without learning a rate', () => {
  let now = 0
  const router = createRouter({ offers, clock: { now: () => now } })
  const first = router.plan({ inputTokens: 900 }).next() as RouterChoice
  router.failAttempt(router.startAttempt(first), { kind: 'rate_limited' })
  expect(router.plan({ inputTokens: 900, dryRun: true }).choices()[0].offer.id).not.toBe(first.offer.id)
  now = 1_000
  expect(router.plan({ inputTokens: 900, dryRun: true }).choices()[0].offer.id).toBe(first.offer.id)
})

test('the caller’s own order outweighs the score, but not a rate limit', () => {
  const router = createRouter({ offers, clock: { now: () => 0 } })
  const rank = ({ id }: RouterOffer): number => (id === 'dear' ? 0 : 1)
  const order = (): readonly string[] =>
    router
      .plan({ inputTokens: 10, rank })
      .choices()
      .map(({ offer }) => offer.id)
  expect(order()).toEqual(['dear', 'cheap', 'middle'])
  const [dear] = router.plan({ inputTokens: 10, rank }).choices()
  router.failAttempt(router.startAttempt(dear), { kind: 'rate_limited', retryAfterMs: 30_000 })
  expect(order()).toEqual(['cheap', 'middle', 'dear'])
})

const happening = fc.record({
  offer: fc.nat(5),
  waits: fc.constantFrom(0, 1, 50, 900, 30_000, -5_000, 1e12),
  end: fc.constantFrom('firstContent', 'finished', 'error', 'timeout', 'rate_limited', 'credential', 'refused', 'left', 'open'),
  inputTokens: fc.constantFrom(0, 1, 1_000, 1e7),
  outputTokens: fc.constantFrom(0, 1, 300, 1e6),
  stream: fc.boolean(),
  cacheKey: fc.constantFrom(undefined, 'a', 'b'),
})

/** Drives a router through arbitrary events, and returns the chosen offers and the calls still open. */
function drive(
  router: Router,
  happenings: readonly (typeof happening extends fc.Arbitrary<infer One> ? One : never)[],
  tick: (by: number) => void,
) {
  const chosen: string[] = []
  const open: RouterAttempt[] = []
  const calls: RouterAttempt[] = []
  for (const { waits, end, inputTokens, outputTokens, stream, cacheKey } of happenings) {
    tick(waits)
    const choice = router.plan({ inputTokens, stream, deadlineMs: 20_000, ...(cacheKey !== undefined && { cacheKey }) }).next()
    chosen.push(choice?.offer.id ?? 'nobody')
    if (!choice) continue
    const attempt = router.startAttempt(choice)
    calls.push(attempt)
    tick(Math.abs(waits) / 7)
    if (end === 'open') open.push(attempt)
    else if (end === 'firstContent') {
      router.recordFirstContent(attempt)
      open.push(attempt)
    } else if (end === 'finished') router.finishAttempt(attempt, { outputTokens, cachedTokens: outputTokens })
    else if (end === 'left') router.abandonAttempt(attempt)
    else router.failAttempt(attempt, { kind: end, retryAfterMs: Math.abs(waits) })
  }
  return { chosen, open, calls }
}

const manyOffers = (count: number): readonly RouterOffer[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `offer-${at}`,
    provider: `p${at % 7}`,
    price: { input: (at % 5) * 100_000, output: (at % 3) * 900_000 },
  }))

test('under any events, including clock jumps and strategies that return no number, an offer is chosen with finite estimates', () => {
  const odd = (score: number) => () => score
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 60 }),
      fc.constantFrom(1, 2, 10, 200),
      fc.constantFrom(
        'balanced' as const,
        'latency' as const,
        odd(Number.NaN),
        odd(Number.POSITIVE_INFINITY),
        odd(Number.NEGATIVE_INFINITY),
      ),
      (happenings, count, preference) => {
        let now = 1e6
        const router = createRouter({ offers: manyOffers(count), clock: { now: () => now }, preference })
        const { chosen: choice } = drive(router, happenings, by => (now += by))
        expect(choice).not.toContain('nobody')
        const choices = router.plan({ inputTokens: 100 }).choices()
        expect(new Set(choices.map(({ offer }) => offer.id)).size).toBe(count)
        for (const { estimate, timeoutMs, waitMs } of choices) {
          for (const value of [...Object.values(estimate), timeoutMs, waitMs]) expect(Number.isFinite(value)).toBe(true)
          expect(timeoutMs).toBeGreaterThan(0)
        }
      },
    ),
  )
})

test('a finished call is never counted as running, however it ended, and ending it twice changes nothing', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), happenings => {
      let now = 0
      const router = createRouter({ offers: manyOffers(6), clock: { now: () => now } })
      const { open, calls } = drive(router, happenings, by => (now += by))
      for (const attempt of open) router.abandonAttempt(attempt)
      for (const attempt of calls) {
        router.finishAttempt(attempt)
        router.failAttempt(attempt, { kind: 'error' })
        router.abandonAttempt(attempt)
      }
      for (const { tracked } of calls as unknown as readonly RunningAttempt[]) {
        expect(tracked.state.runningAttempts).toBe(0)
        expect(tracked.state.silentAttempts.size).toBe(0)
      }
    }),
  )
})

test('two routers with the same seed and the same events choose the same', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80 }), fc.integer(), (happenings, seed) => {
      const [a, b] = [0, 1].map(() => {
        let now = 0
        const router = createRouter({ offers: manyOffers(6), clock: { now: () => now }, seed })
        return drive(router, happenings, by => (now += by)).chosen
      })
      expect(a).toEqual(b)
    }),
  )
})

test('a router without offers, or with two of the same id, throws an error that says so', () => {
  expect(() => createRouter({ offers: [] })).toThrow('`offers` is empty')
  expect(() => createRouter({ offers: [offers[0], offers[0]] as RouterOffer[] })).toThrow('the same `id`')
  expect(() => createRouter({ offers }).plan({ inputTokens: 1, offers: ['nobody'] })).toThrow(
    'There is no offer "nobody"; there are cheap, middle, dear.',
  )
})

test('invalid input is refused by name, or ignored', () => {
  const router = createRouter({ offers, clock: { now: () => 0 } })
  expect(() => createRouter({ offers, preference: 'balancd' as 'balanced' })).toThrow('Did you mean "balanced"?')
  expect(() => router.plan({ inputTokens: 1, preference: { waiting: -1, generation: 0, failure: 0 } })).toThrow(
    'The `waiting` of a preference is -1',
  )
  expect(() => router.plan({ inputTokens: Number.NaN })).toThrow('The `inputTokens` of a request is NaN')
  expect(() => createRouter({ offers: [{ id: 'free', price: { input: -1, output: 0 } }] })).toThrow(
    'The `price.input` of the offer "free" is -1',
  )
  const [choice] = router.plan({ inputTokens: 10 }).choices()
  const attempt = router.startAttempt(choice)
  expect(() => router.failAttempt(attempt, { kind: 'eror' as 'error' })).toThrow('Did you mean "error"?')
  router.finishAttempt(attempt, { outputTokens: Number.NaN, cachedTokens: -5 })
  router.updateHeadroom('cheap', { share: 0, resetsInMs: Number.NaN })
  for (const { score, timeoutMs } of router.plan({ inputTokens: 10 }).choices())
    expect([score, timeoutMs].every(Number.isFinite)).toBe(true)
})
