import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { drive, odd, said, world } from '../../test/journeys.ts'
import type { RouterOffer } from '../offer.ts'
import { preferences } from '../preferences.ts'
import { createRouter } from '../router.ts'
import type { RouterChoice } from '../types.ts'
import type { Trace } from './records.ts'
import { type ReplayedDecision, replay } from './replay.ts'
import { decodeTrace, encodeTrace } from './trace.ts'

const offer = (id: string, price: number): RouterOffer => ({ id, price: { input: price, output: 3 * price } })

const told = ({ offer, score, reason }: ReplayedDecision) => ({ offer: offer.id, score, reason })

test('in any world every decision is repeated exactly, including explorations, fallbacks, rate limits and strategies that return no number', () => {
  const reasons = new Set<string>()
  fc.assert(
    fc.property(world(), each => {
      const { said: heard, trace } = drive(each, {})
      const replayed = replay(trace)
      expect(replayed.decisions.map(told)).toEqual(heard.map(({ offer, score, reason }) => ({ offer, score, reason })))
      expect(replayed.decisions.every(({ same }) => same)).toBe(true)
      expect(replayed.decisions.map(({ outcome }) => outcome)).toEqual(trace.decisions.map(({ outcome }) => outcome))
      for (const { reason } of heard) reasons.add(reason)
    }),
    { numRuns: inject('isLongRun') ? 300 : 100 },
  )
  expect([...reasons]).toEqual(expect.arrayContaining(['best', 'fallback', 'last_resort']))
})

test('so is a decision to explore an offer', () => {
  let now = 0
  const offers = ['known', 'strange'].map((id, at) => ({ id, price: { input: 500_000 + at, output: 1_600_000 } }))
  const router = createRouter({ offers, clock: { now: () => now }, preference: 'latency', decisionLog: {} })
  for (let served = 0; served < 6; served += 1) {
    const choice = router.plan({ inputTokens: 500 }).next()
    if (!choice) continue
    const attempt = router.startAttempt(choice)
    now += 300
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 100 })
  }
  const { decisions } = replay(router.trace())
  expect(decisions.map(({ reason }) => reason)).toContain('exploration')
  expect(decisions.every(({ same }) => same)).toBe(true)
})

test('so is a decision to explore an offer while many cheaper ones are rate limited', () => {
  let now = 0
  const full = Array.from({ length: 30 }, (_, at) => offer(`full${at}`, 1_000))
  const offers = [...full, offer('leader', 2_000), offer('strange', 2_000)]
  const router = createRouter({ offers, clock: { now: () => now }, preference: 'latency', decisionLog: {} })
  const served = (id: string, times: number, afterMs: number) => {
    for (let at = 0; at < times; at += 1) {
      const choice = router.plan({ inputTokens: 5_000, offers: [id] }).next()
      if (!choice) throw new Error('A plan has a first choice.')
      const attempt = router.startAttempt(choice)
      now += afterMs
      router.recordFirstContent(attempt)
      router.finishAttempt(attempt, { outputTokens: 100 })
    }
  }
  for (const { id } of full) served(id, 8, 20)
  served('leader', 4, 3_000)
  served('strange', 2, 3_400)
  for (const { id } of full) {
    const choice = router.plan({ inputTokens: 5_000, offers: [id] }).next()
    if (choice) router.failAttempt(router.startAttempt(choice), { kind: 'rate_limited', retryAfterMs: 2_500 })
  }
  const choice = router.plan({ inputTokens: 5_000 }).next()
  expect([choice?.offer.id, choice?.reason]).toEqual(['strange', 'exploration'])
  const { decisions } = replay(router.trace())
  expect(decisions.at(-1)).toMatchObject({ offer: { id: 'strange' }, reason: 'exploration', score: choice?.score, same: true })
})

test('so are decisions with more offers than a record keeps, and records read from JSON', () => {
  fc.assert(
    fc.property(world(60), each => {
      const { said: heard, trace } = drive(each, {})
      for (const its of [trace, decodeTrace(encodeTrace(trace)), JSON.parse(JSON.stringify(trace)) as Trace]) {
        expect(replay(its).decisions.map(told)).toEqual(heard.map(({ offer, score, reason }) => ({ offer, score, reason })))
      }
    }),
    { numRuns: inject('isLongRun') ? 60 : 20 },
  )
})

test('the original strategy gives the recorded result, by name, by prices and as a function', () => {
  fc.assert(
    fc.property(world(), fc.constantFrom<'latency' | 'cost' | 'odd' | 'weights'>('latency', 'cost', 'odd', 'weights'), (each, name) => {
      const strategy = name === 'odd' ? odd : name === 'weights' ? { waiting: 0.003, generation: 0, failure: 0.2 } : name
      const steps = each.steps.map(step => ({ ...step, preference: undefined }))
      const { said: heard, trace } = drive({ ...each, steps, preference: strategy }, {})
      expect(replay(trace, strategy).decisions.map(told)).toEqual(heard.map(({ offer, score, reason }) => ({ offer, score, reason })))
    }),
  )
})

/** A router that has learned that `slow` is cheap and slow, and `fast` expensive and fast. */
function learned(preference: 'cost' | 'latency', price = 1_000_000) {
  const clock = { nowMs: 0 }
  const offers = [offer('slow', price), offer('fast', 3 * price)]
  const router = createRouter({ offers, preference, clock: { now: () => clock.nowMs }, decisionLog: {} })
  const ask = (inputTokens = 1_000): RouterChoice => {
    const choice = router.plan({ inputTokens }).next() as RouterChoice
    const attempt = router.startAttempt(choice)
    clock.nowMs += choice.offer.id === 'slow' ? 3_000 : 300
    router.recordFirstContent(attempt)
    clock.nowMs += 2_000
    router.finishAttempt(attempt, { outputTokens: 200 })
    return choice
  }
  for (let at = 0; at < 60; at += 1) ask()
  return { router, ask }
}

test('another preference shows its choice, with the expected cost and wait', () => {
  const { router, ask } = learned('cost')
  const choice = ask()
  const trace = router.trace()
  const last = { ...trace, decisions: trace.decisions.slice(-1) }
  const { decisions, sums } = replay(last, 'latency')
  const [seen] = decisions
  expect(choice.offer.id).toBe('slow')
  expect(seen?.offer.id).toBe('fast')
  expect(seen?.same).toBe(false)
  expect(seen?.outcome).toBeUndefined()
  expect(seen?.recorded.offer.id).toBe('slow')
  expect(seen?.recorded.expected.firstContentMs).toBe(choice.estimate.firstContentMs)
  expect(sums.replayed.cost).toBeGreaterThan(2 * sums.recorded.cost)
  expect(sums.replayed.firstContentMs).toBeLessThan(sums.recorded.firstContentMs / 4)
  expect(sums).toMatchObject({ requests: 1, same: 0, seen: { ended: 0, answered: 0, heard: 0, firstContentMs: 0 } })
})

test('if the choice is the same, the actual outcome is reported and summed', () => {
  const { router } = learned('latency')
  const { sums, decisions } = replay(router.trace())
  expect(sums.same).toBe(sums.requests)
  expect(sums.recorded).toEqual(sums.replayed)
  expect(sums.recorded.failure).toBeGreaterThan(0)
  expect(sums.seen).toMatchObject({ ended: 60, answered: 60, heard: 60 })
  expect(sums.seen.firstContentMs).toBe(decisions.reduce((sum, { offer }) => sum + (offer.id === 'slow' ? 3_000 : 300), 0))
})

test('sums include only first choices, because later ones depend on their outcome', () => {
  const router = createRouter({ offers: [offer('a', 1_000_000), offer('b', 2_000_000)], clock: { now: () => 0 }, decisionLog: {} })
  const plan = router.plan({ inputTokens: 1_000 })
  const first = plan.next() as RouterChoice
  router.failAttempt(router.startAttempt(first), { kind: 'error' })
  plan.next()
  const { sums, decisions } = replay(router.trace())
  expect(decisions).toHaveLength(2)
  expect(sums.requests).toBe(1)
  expect(sums.recorded.cost).toBe(decisions[0]?.expected.cost)
})

test.each([1_000_000, 200_000_000, 5_000])('another preference is scaled for models of this price: %d', price => {
  const { router } = learned('cost', price)
  const trace = router.trace()
  const other = learned('latency', price).router.trace()
  const { decisions } = replay(trace, 'latency')
  const [first] = decisions
  const prices = other.decisions[0]?.prices
  expect(replay(trace, prices).decisions).toEqual(decisions)
  expect(prices?.failure).toBe((trace.decisions[0]?.scale ?? 0) * preferences.latency.failure)
  expect(first).toBeDefined()
})

test('a custom strategy gets the recorded estimates and offers', () => {
  const { router } = learned('cost')
  const seen = new Set<string>()
  const { decisions } = replay(router.trace(), ({ firstContentMs }, { id, price }) => {
    seen.add(`${id} ${price.input}`)
    return firstContentMs
  })
  expect(seen).toEqual(new Set(['slow 1000000', 'fast 3000000']))
  expect(decisions.at(-1)?.offer.id).toBe('fast')
})

test('the caller’s order stays in force with any strategy', () => {
  const router = createRouter({ offers: [offer('a', 1), offer('b', 9_000_000)], clock: { now: () => 0 }, decisionLog: {} })
  const choice = router.plan({ inputTokens: 1_000, rank: ({ id }) => (id === 'b' ? 0 : 1) }).next() as RouterChoice
  expect(said(choice).offer).toBe('b')
  expect(replay(router.trace(), 'cost').decisions[0]?.offer.id).toBe('b')
})

test('an unknown preference is refused with the list of known ones', () => {
  expect(() => replay({ version: 2, seed: 1, dropped: 0, decisions: [] }, 'cheap' as 'cost')).toThrow(
    'replay: there is no preference "cheap"; there are balanced, cost, latency, throughput, availability.',
  )
})
