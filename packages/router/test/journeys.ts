import fc from 'fast-check'
import { finiteScore, type Trace } from '../src/decision-log/records.ts'
import type { RouterOffer } from '../src/offer.ts'
import type { Strategy } from '../src/offer-estimate.ts'
import { preferences } from '../src/preferences.ts'
import { createRouter } from '../src/router.ts'
import type { RouterChoice, RouterOptions, RouterPlan, RouterRequest } from '../src/types.ts'

// Worlds drawn at random that lead a router through all that can happen to it: probes, fallbacks, holds, breakers, hedges.

/** A custom strategy that sometimes returns NaN or an infinite number. */
export const odd: Strategy = ({ cost, firstContentMs, unobservedMs }, { id }) => {
  if (id.endsWith('3')) return Number.NaN
  if (id.endsWith('5')) return firstContentMs > 700 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  return Math.floor(unobservedMs) % 3 === 0 ? -cost : cost * firstContentMs
}

const preference = fc.constantFrom<NonNullable<RouterRequest['preference']>>(
  ...(Object.keys(preferences) as (keyof typeof preferences)[]),
  { waiting: 0.003, generation: 0, failure: 0.2 },
  { waiting: 0, generation: 0, failure: 1 },
  odd,
)

const step = fc.record({
  passMs: fc.constantFrom(0, 10, 300, 5_000, 90_000),
  inputTokens: fc.nat(200_000),
  stream: fc.boolean(),
  turnOf: fc.nat(12),
  deadlineMs: fc.constantFrom(undefined, 50, 3_000, 60_000),
  preference: fc.option(preference, { nil: undefined }),
  ranked: fc.constantFrom<'no' | 'yes' | 'oddly'>('no', 'no', 'no', 'yes', 'oddly'),
  hedge: fc.boolean(),
  looksFirst: fc.boolean(),
  endless: fc.boolean(),
  ends: fc.array(
    fc.record({
      afterMs: fc.nat(4_000),
      how: fc.constantFrom('ok', 'error', 'error', 'timeout', 'rate_limited', 'credential', 'refused', 'left', 'broken', 'silent'),
      retryAfterMs: fc.option(fc.nat(20_000), { nil: undefined }),
      outputTokens: fc.option(fc.nat(2_000), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

export const world = (mostOffers = 9) =>
  fc.record({
    seed: fc.integer(),
    preference,
    offers: fc.array(fc.record({ input: fc.nat(20_000_000), output: fc.nat(60_000_000), of: fc.nat(3) }), {
      minLength: 1,
      maxLength: mostOffers,
    }),
    steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  })
type World = ReturnType<typeof world> extends fc.Arbitrary<infer Value> ? Value : never

/** The results of the router's calls. */
export interface Said {
  readonly offer: string
  readonly score: number | null
  readonly reason: RouterChoice['reason']
  readonly waitMs: number
}

export interface Driven {
  readonly said: readonly Said[]
  readonly trace: Trace
  readonly plans: readonly RouterPlan[]
}

export const said = ({ offer, score, reason, waitMs }: RouterChoice): Said => ({
  offer: offer.id,
  score: finiteScore(score),
  reason,
  waitMs,
})

/** Plays a world from its beginning. Records the first choice of each plan, and every choice of `next()`. */
export function drive({ seed, preference, offers, steps }: World, decisionLog?: RouterOptions['decisionLog']): Driven {
  const clock = { nowMs: 1_000.25 }
  const router = createRouter({
    offers: offers.map(({ input, output, of }, at): RouterOffer => ({ id: `o${at}`, provider: `p${of}`, price: { input, output } })),
    preference,
    seed,
    clock: { monotonic: () => clock.nowMs },
    ...(decisionLog && { decisionLog }),
  })
  const heard: Said[] = []
  const plans: RouterPlan[] = []
  for (const each of steps) {
    clock.nowMs += each.passMs
    const plan = router.plan(requestOf(each))
    plans.push(plan)
    if (each.looksFirst) plan.choices()
    for (const end of each.ends) {
      const choice = plan.next()
      if (!choice) break
      heard.push(said(choice))
      const attempt = router.startAttempt(choice)
      clock.nowMs += end.afterMs
      if (end.how === 'silent') continue
      const content = end.how === 'ok' || end.how === 'broken'
      if (content) router.recordFirstContent(attempt)
      if (content) clock.nowMs += end.afterMs / 3
      const used = end.outputTokens === undefined ? {} : { outputTokens: end.outputTokens, cachedTokens: 7 }
      const retry = end.retryAfterMs === undefined ? {} : { retryAfterMs: end.retryAfterMs }
      if (end.how === 'ok') router.finishAttempt(attempt, used)
      else if (end.how === 'left') router.abandonAttempt(attempt)
      else router.failAttempt(attempt, { kind: end.how === 'broken' ? 'error' : end.how, ...retry })
      if (end.how === 'ok' || end.how === 'broken') break
    }
  }
  return { said: heard, trace: router.trace(), plans }
}

function requestOf({ inputTokens, stream, turnOf, deadlineMs, preference: its, ranked, hedge, endless }: Step): RouterRequest {
  return {
    inputTokens,
    stream,
    hedge,
    ...(turnOf > 6 && { cacheKey: `conversation-${turnOf}` }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(its !== undefined && { preference: its }),
    ...(ranked === 'yes' && { rank: ({ id }: RouterOffer) => id.length + id.charCodeAt(1) / 2 }),
    ...(ranked === 'oddly' && { rank: ({ id }: RouterOffer) => (id === 'o1' ? Number.NEGATIVE_INFINITY : id === 'o2' ? Number.NaN : 1) }),
    ...(endless && { timeoutMs: Number.POSITIVE_INFINITY, maxAttempts: 3 }),
  }
}
