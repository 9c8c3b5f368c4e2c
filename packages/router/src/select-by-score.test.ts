import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeEstimate } from '../test/make-estimate.ts'
import type { RouterOffer } from './offer.ts'
import type { Strategy } from './offer-estimate.ts'
import { type EstimatedOffers, rankByScore, runnerUp, scoreOf, selectBest, withRank } from './select-by-score.ts'

const strategy: Strategy = ({ cost }) => cost

interface Candidate {
  readonly cost: number
  readonly heldMs?: number
  readonly restingMs?: number
  readonly failing?: number
  readonly shunned?: boolean
}

const viewOf = (candidates: readonly Candidate[], exploration?: EstimatedOffers['exploration']): EstimatedOffers => ({
  offers: candidates.map((_, at): RouterOffer => ({ id: `offer-${at}`, price: { input: 0, output: 0 } })),
  estimates: candidates.map(({ cost, heldMs: rateLimitedMs = 0, restingMs: circuitOpenMs = 0, failing: failureProbability = 0 }) =>
    makeEstimate({ cost, rateLimitedMs, circuitOpenMs, failureProbability }),
  ),
  deprioritized: candidates.map(({ shunned = false }) => shunned),
  exploration,
})

const candidate = fc.record({
  cost: fc.constantFrom(0, 1, 2, Number.NaN, Number.POSITIVE_INFINITY),
  heldMs: fc.constantFrom(0, 0, 0, 5),
  restingMs: fc.constantFrom(0, 0, 0, 5),
  failing: fc.constantFrom(0, 0.5, 0.9),
  shunned: fc.boolean(),
})

/** The sort keys of an order, most significant first: availability, provider not failed, score, position. */
const keyOf = ({ cost, heldMs = 0, restingMs = 0, failing = 0, shunned = false }: Candidate, at: number): readonly number[] => [
  restingMs > 0 && failing > 0.5 ? 2 : heldMs > 0 || restingMs > 0 ? 1 : 0,
  shunned ? 1 : 0,
  Number.isNaN(cost) ? Number.POSITIVE_INFINITY : cost,
  at,
]

function compareKeys(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, place) => value !== other[place])
  return at < 0 ? 0 : (one[at] as number) < (other[at] as number) ? -1 : 1
}

test('available offers go before full ones, and those before offers that are down; then those go first whose provider did not fail, by score', () => {
  fc.assert(
    fc.property(fc.array(candidate, { minLength: 1, maxLength: 8 }), candidates => {
      const keys = candidates.map(keyOf)
      const expected = [...keys.keys()].sort((a, b) => compareKeys(keys[a] ?? [], keys[b] ?? []))
      const view = viewOf(candidates)
      expect(rankByScore(view, strategy).map(({ at }) => at)).toEqual(expected)
      expect(selectBest(view, strategy).at).toBe(expected[0])
    }),
  )
})

test('the runner-up is the best score among the other available offers', () => {
  fc.assert(
    fc.property(fc.array(candidate, { minLength: 1, maxLength: 8 }), fc.nat(7), (candidates, but) => {
      const keys = candidates.map((each, at) => [...keyOf(each, at).slice(2)])
      const open = [...keys.keys()].filter(at => at !== but && candidates[at]?.heldMs === 0)
      const [best] = open.sort((a, b) => compareKeys(keys[a] ?? [], keys[b] ?? []))
      expect(runnerUp(viewOf(candidates), but, strategy)).toBe(best)
    }),
  )
})

test('an exploration is chosen if its optimistic score is better than the best by more than a fiftieth', () => {
  const tries = (could: number, best = 1) => {
    const view = viewOf([{ cost: best }, { cost: 9 }], { at: 1, estimate: makeEstimate({ cost: could }) })
    return selectBest(view, strategy)
  }
  expect(tries(0.97)).toEqual({ at: 1, score: 0.97, exploring: true })
  expect(tries(0.98)).toEqual({ at: 0, score: 1, exploring: false })
  expect(tries(-1.01, -1).exploring).toBe(false)
  expect(tries(-1.03, -1).exploring).toBe(true)
})

test('an exploration of the offer that is chosen anyway does not count as one', () => {
  const view = viewOf([{ cost: 1 }, { cost: 9 }], { at: 0, estimate: makeEstimate({ cost: 0 }) })
  expect(selectBest(view, strategy)).toEqual({ at: 0, score: 1, exploring: false })
})

test('a strategy that returns no number ranks an offer last', () => {
  const [offer] = viewOf([{ cost: 1 }]).offers as [RouterOffer]
  for (const odd of [Number.NaN, '1', undefined]) expect(scoreOf(() => odd as number, makeEstimate(), offer)).toBe(Number.POSITIVE_INFINITY)
  expect(scoreOf(() => -3, makeEstimate(), offer)).toBe(-3)
})

test('the caller’s rank outweighs every score, and the score decides among equal ranks', () => {
  const losses = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY))
  fc.assert(
    fc.property(fc.tuple(losses, losses), ([first, second]) => {
      const { offers } = viewOf([{ cost: 0 }, { cost: 0 }])
      const own: Strategy = (_, { id }) => (id === 'offer-0' ? first : second)
      const by = withRank(own, ({ id }) => (id === 'offer-0' ? 1 : 0))
      expect(by(makeEstimate(), offers[1] as RouterOffer)).toBeLessThan(by(makeEstimate(), offers[0] as RouterOffer))
    }),
  )
  const [offer] = viewOf([{ cost: 0 }]).offers as [RouterOffer]
  expect(
    withRank(
      () => 3,
      () => 2,
    )(makeEstimate(), offer),
  ).toBe(2e6 + 3)
  expect(
    withRank(
      () => 5e5,
      () => 0,
    )(makeEstimate(), offer),
  ).toBe(4e5)
  expect(
    withRank(
      () => -5e5,
      () => 0,
    )(makeEstimate(), offer),
  ).toBe(-4e5)
})
