import type { InferenceRequest, Price } from '@signalbox/dialects/protocol'
import { createDynamicRouter, type DynamicRouter, preferences } from '@signalbox/router'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { candidateRanks } from '../../routing/candidate-ranks.ts'
import { type Candidate, makeCandidate, type Plan } from '../../routing/plan.ts'
import type { ResolvedStrategy } from '../../routing/strategies.ts'
import { createCandidateTracker } from '../../routing/tracked-offers.ts'
import { select } from './select-offers.ts'

// Whatever a strategy returns, whatever the clock does, and however many offers there are: an offer is chosen, and all are in the end.

const candidateOf = (at: number, price: Price, more: Partial<Candidate['offer']> = {}): Candidate => {
  const offer = { provider: `p${at}`, model: 'theirs', api: 'chat', price, ...more }
  return makeCandidate({
    model: { id: 'model', offers: [offer] },
    offer,
    provider: { id: `p${at}`, dialects: [], endpoint: () => '', authorize: () => {} },
    credential: { id: `c${at}`, owner: 'platform', secret: '' },
  })
}

const planOf = (candidates: readonly Candidate[], ruling: ResolvedStrategy, ranks?: readonly number[]): Plan => {
  const [first, ...rest] = candidates
  if (!first) throw new Error('A plan has a candidate.')
  return { candidates: [first, ...rest], excluded: [], strategy: 'any', ruling, ...(ranks && { ranks }) }
}

const request = (more: Partial<InferenceRequest['prompt']> = {}, routing: Partial<InferenceRequest['routing']> = {}): InferenceRequest => ({
  prompt: { input: [], ...more },
  routing: { models: ['model'], allow_fallbacks: true, ...routing },
  delivery: 'stream',
})

const selecting = { inputTokens: 100, cacheKey: undefined, leftMs: 60_000, ceilingMs: 30_000, attempts: 1_000 }
const anything = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e308))
/** A strategy whose scores are arbitrary. */
const cycling = (values: readonly number[]): ResolvedStrategy => {
  let calls = 0
  return () => {
    calls += 1
    return values[calls % values.length] ?? 0
  }
}
const rulings: fc.Arbitrary<ResolvedStrategy> = fc.oneof(
  fc.constantFrom<ResolvedStrategy>('order', ...(Object.keys(preferences) as readonly (keyof typeof preferences)[])),
  fc.array(anything, { minLength: 1, maxLength: 20 }).map(cycling),
)
const prices = fc.record({ input: fc.constantFrom(0, 1, 500_000, 1e12), output: fc.constantFrom(0, 1, 1_600_000, 1e12) })

const outcomes = ['answer', 'error', 'timeout', 'rate_limited', 'credential', 'refused', 'left'] as const

function applyOutcome(router: DynamicRouter, choice: Parameters<DynamicRouter['startAttempt']>[0], what: (typeof outcomes)[number]): void {
  const attempt = router.startAttempt(choice)
  if (what === 'left') router.abandonAttempt(attempt)
  else if (what !== 'answer') router.failAttempt(attempt, { kind: what })
  else {
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 20, cachedTokens: 0 })
  }
}

describe('a selection', () => {
  test('chooses every candidate once before any twice, whatever strategies return and clocks do', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(1, 2, 200), fc.integer({ min: 1, max: 12 })),
        fc.array(prices, { minLength: 1, maxLength: 4 }),
        fc.array(
          fc.record({
            ruling: rulings,
            jumpMs: fc.integer({ min: -1e9, max: 1e9 }),
            what: fc.constantFrom(...outcomes),
            ranked: fc.boolean(),
          }),
          {
            minLength: 1,
            maxLength: 12,
          },
        ),
        (offers, priced, rounds) => {
          let now = 0
          const router = createDynamicRouter({ monotonic: () => now, preference: 'balanced', seed: 1 })
          const trackCandidate = createCandidateTracker(router)
          const candidates = Array.from({ length: offers }, (_, at) => candidateOf(at, priced[at % priced.length] as Price))
          for (const { ruling, jumpMs, what, ranked } of rounds) {
            const plan = planOf(candidates, ruling, ranked ? candidates.map((_, at) => at % 3) : undefined)
            const selection = select({ router, trackCandidate }, { ...selecting, leftMs: 1e15, plan, request: request() })
            const dry = select({ router, trackCandidate }, { ...selecting, plan, request: request(), dryRun: true }).all()
            expect(new Set(dry.map(({ candidate }) => candidate)).size).toBe(offers)
            const selected = new Set<Candidate>()
            for (let turn = 0; turn < offers; turn += 1) {
              const chosen = selection.next()
              if (!chosen) break
              selected.add(chosen.candidate)
              expect(chosen.choice.waitMs).toBeGreaterThanOrEqual(0)
              expect(chosen.choice.timeoutMs).toBeGreaterThan(0)
              if (turn === 0) applyOutcome(router, chosen.choice, what)
            }
            // A rate limited offer is chosen again before a failing one.
            expect(selected.size).toBeGreaterThanOrEqual(what === 'rate_limited' ? 1 : offers)
            now += jumpMs
          }
        },
      ),
      { numRuns: inject('isLongRun') ? 50 : 20 },
    )
  })
})

describe('ranks', () => {
  const three = [0, 1, 2].map(at => candidateOf(at, { input: 1, output: 1 }))
  const [a, b, c] = three as [Candidate, Candidate, Candidate]
  const nothing = { distance: () => 0, keepsOrder: false }

  test('are undefined if only the strategy orders the candidates', () => {
    expect(candidateRanks(three, nothing)).toBeUndefined()
    expect(candidateRanks([a], { ...nothing, keepsOrder: true })).toBeUndefined()
    expect(candidateRanks(three, { ...nothing, distance: () => 7 })).toBeUndefined()
  })

  test('put the client’s order first, then preferences, then the latest maker of reasoning state, then the given order', () => {
    expect(candidateRanks(three, { ...nothing, order: ['p2'] })).toEqual([1, 1, 0])
    expect(candidateRanks(three, { ...nothing, distance: each => (each === b ? 3 : 5) })).toEqual([1, 0, 1])
    expect(candidateRanks(three, { ...nothing, lastMade: each => (each === c ? 4 : each === b ? 9 : undefined) })).toEqual([2, 0, 1])
    expect(candidateRanks(three, { ...nothing, keepsOrder: true })).toEqual([0, 1, 2])
    const all = { order: ['p2'], distance: (each: Candidate) => (each === a ? 1 : 0), lastMade: () => undefined, keepsOrder: true }
    expect(candidateRanks(three, all)).toEqual([2, 1, 0])
  })
})

describe('a candidate', () => {
  const tiered: Price = {
    input: 1_000_000,
    output: 2_000_000,
    tiers: [{ over: 50, input: 4_000_000, output: 8_000_000 }],
    priority: { input: 9_000_000, output: 9_000_000 },
  }
  const thinker = candidateOf(0, tiered, { abilities: ['reasoning'], quirks: { priorityTier: 'priority' } })
  const other = candidateOf(1, tiered)
  const router = createDynamicRouter({ monotonic: () => 0, preference: 'balanced', seed: 1 })
  const trackCandidate = createCandidateTracker(router)
  const chosen = (candidates: readonly Candidate[], inference: InferenceRequest, inputTokens = 10) =>
    select(
      { router, trackCandidate },
      {
        ...selecting,
        inputTokens,
        plan: planOf(
          candidates,
          'order',
          candidates.map((_, at) => at),
        ),
        request: inference,
        dryRun: true,
      },
    ).all()

  test('is scored by the price tier of this request, and shares its learned state with all prompt lengths', () => {
    const [short] = chosen([thinker], request())
    const [long] = chosen([thinker], request(), 60)
    expect([short?.choice.offer.price.input, long?.choice.offer.price.input]).toEqual([1_000_000, 4_000_000])
    expect(long?.contender.state).toBe(short?.contender.state)
    expect(short?.choice.offer.id).toBe('p0/theirs@platform')
  })

  test('is a separate offer on a priority tier, when reasoning, and with a BYOK credential', () => {
    const [usual] = chosen([thinker], request())
    const [dear] = chosen([thinker], request({}, { tier: 'priority' }))
    const [thinking] = chosen([thinker], request({ reasoning: { effort: 'high' } }))
    const { model, offer, provider } = thinker
    const own = makeCandidate({ model, offer, provider, credential: { id: 'cred_1', owner: 'workspace', secret: '' } })
    const [theirs] = chosen([own], request())
    expect([dear, thinking, theirs].map(each => each?.choice.offer.id)).toEqual([
      'p0/theirs@platform+priority',
      'p0/theirs@platform+thinking',
      'p0/theirs@own:cred_1',
    ])
    expect(dear?.choice.offer.price.input).toBe(9_000_000)
    expect(new Set([usual, dear, thinking, theirs].map(each => each?.contender.state)).size).toBe(4)
  })

  test('is the same object for the router with every request of its kind', () => {
    const [one] = chosen([thinker, other], request({ reasoning: { effort: 'low' } }))
    const [two] = chosen([thinker, other], request({ reasoning: { effort: 'high' } }))
    expect(two?.contender).toBe(one?.contender)
  })

  test('that may reason has the full timeout before its latency is known', () => {
    const timeouts = (inference: InferenceRequest, candidates = [thinker, other]) =>
      chosen(candidates, inference).map(({ choice }) => choice.timeoutMs)
    const [silent, plain] = [timeouts(request()), timeouts(request({ reasoning: { effort: 'none' } }))]
    expect(silent[0]).toBe(selecting.ceilingMs)
    expect(plain[0]).toBeLessThan(selecting.ceilingMs)
    expect(timeouts(request({}, { allow_fallbacks: false }), [other, { ...other }])[0]).toBe(selecting.ceilingMs)
  })
})
