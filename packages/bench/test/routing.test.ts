import type { Router, RouterAttempt } from '@signalbox/router'
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { barChart } from '../src/routing/bar-chart.ts'
import { cheapest, random, roundRobin } from '../src/routing/baselines.ts'
import { beginnings, trafficOfBest } from '../src/routing/better-offer.ts'
import { createEvents } from '../src/routing/events.ts'
import { oracle, oracleWith } from '../src/routing/oracle.ts'
import { ours, policies } from '../src/routing/policies.ts'
import type { Policy } from '../src/routing/policy.ts'
import { randomWorld } from '../src/routing/random-world.ts'
import { makeRequests } from '../src/routing/requests.ts'
import { scarceWorlds } from '../src/routing/scarce-worlds.ts'
import { simulate } from '../src/routing/simulate.ts'
import { createReality } from '../src/routing/true-state.ts'
import type { Fault, World } from '../src/routing/world.ts'
import { cache, calm, worlds } from '../src/routing/worlds.ts'

const short = { seed: 7, minutes: 5, rate: 3 }

describe('a simulated run', () => {
  it.each([oracle, ...policies])('has the same results for the same seed: $name', policy => {
    expect(simulate(calm, policy, short)).toEqual(simulate(calm, policy, short))
  })

  it('has other results for another seed', () => {
    expect(simulate(calm, random, { ...short, seed: 8 }).meanLoss).not.toBe(simulate(calm, random, short).meanLoss)
  })

  it('gives all policies the same random outcomes: an offer called by two of them takes the same time', () => {
    const flawless: World = {
      ...calm,
      sessions: 0,
      offers: calm.offers.map(offer => ({ ...offer, errors: 0, breaks: 0, tail: 0, requestsPerMinute: 1e6 })),
    }
    const [a, b] = [simulate(flawless, random, short), simulate(flawless, roundRobin, short)]
    const same = [...a.firstAsked.keys()].filter(at => a.firstAsked[at] === b.firstAsked[at])
    expect(same.length).toBeGreaterThan(50)
    expect(same.map(at => a.waitedMs[at])).toEqual(same.map(at => b.waitedMs[at]))
  })

  it.each(worlds)('leaves no call running in world "$name", second attempts included', world => {
    for (const policy of [hasty, ours, cheapest]) {
      const { counted, open, ended } = counting(policy)
      const figures = simulate(world, counted, { ...short, hedge: true })
      expect(ended()).toBe(figures.attempts)
      expect(open.size).toBe(0)
      expect(figures.losses.every(loss => Number.isFinite(loss) && loss > 0)).toBe(true)
    }
  })

  it('aborts the call that responds second, and pays its prompt if cancelled calls are billed', () => {
    const quiet: World = { ...calm, sessions: 0, offers: calm.offers.map(offer => ({ ...offer, errors: 0, breaks: 0 })) }
    const [alone, hedged] = [simulate(quiet, hasty, short), simulate(quiet, hasty, { ...short, hedge: true })]
    expect(hedged.attempts).toBeGreaterThan(alone.attempts)
    expect(hedged.usd).toBeGreaterThan(alone.usd)
    expect(hedged.firstContentMs[Math.floor(hedged.requests * 0.9)]).toBeLessThan(
      alone.firstContentMs[Math.floor(alone.requests * 0.9)] ?? 0,
    )
  })
})

describe('the oracle', () => {
  it('has the lowest loss, within noise', () => {
    const run = { seed: 3, minutes: 10, rate: 8 }
    const least = simulate(calm, oracle, run).meanLoss
    for (const policy of policies) expect(simulate(calm, policy, run).meanLoss, policy.name).toBeGreaterThan(least * 0.995)
  })

  // The default run tries one of each kind.
  const foresights = [{ turns: 0 }, { turns: 2 }, { queueing: 1 }, { dearer: 0.0005 }]
  it.each(foresights.filter((_, at) => inject('isLongRun') || at > 0))(
    'would not have a lower loss with other foresight: %o',
    foresight => {
      const trials = [cache, ...worlds.filter(({ name }) => name === 'limits')]
      const minutes = inject('isLongRun') ? 15 : 6
      const lost = (policy: Policy) => trials.reduce((sum, world) => sum + simulate(world, policy, { seed: 4, minutes }).meanLoss, 0)
      expect(lost(oracleWith(foresight))).toBeGreaterThan(lost(oracle) * 0.99)
    },
  )

  it('never hits a limit that it could foresee', () => {
    for (const world of [...worlds, randomWorld(5)]) expect(simulate(world, oracle, short).limited, world.name).toBe(0)
  })
})

describe('the best offer', () => {
  const rates = inject('isLongRun') ? [1, 2, 3, 5, 8] : [1, 3, 8]

  /** Its share of the traffic at 1 request per second, and the least at the higher rates. */
  function shares(beginning: Fault | undefined, secondsAt: (rate: number) => number, seeds = 10): readonly [number, number] {
    const [first = 0, ...others] = rates.map(
      rate => trafficOfBest(ours, { beginning, seconds: [secondsAt(rate)] }, { rate, seeds, firstSeed: 201 })[0]?.share ?? 0,
    )
    return [first, Math.min(...others)]
  }

  it('among new ones has nearly all traffic within a minute, and no less at higher rates', () => {
    const [atOne, least] = shares(undefined, () => 60)
    expect(atOne).toBeGreaterThan(0.95)
    expect(least).toBeGreaterThanOrEqual(atOne)
  })

  it('among new ones has nearly all of the first 180 requests, however soon they come', () => {
    const [atOne, least] = shares(undefined, rate => 180 / rate)
    expect(atOne).toBeGreaterThan(0.95)
    expect(least).toBeGreaterThan(atOne - 0.01)
  })

  // The default run tries one.
  const faults = ['its outage is over', 'its brown-out ×5 is over']
  it.each(faults.filter((_, at) => inject('isLongRun') || at === 0))('has no less of five minutes at higher rates: %s', name => {
    const [atOne, least] = shares(beginnings[name], () => 300, inject('isLongRun') ? 20 : 5)
    expect(atOne).toBeGreaterThan(0.8)
    expect(least).toBeGreaterThan(atOne - 0.02)
  })
})

describe('with scarce slots', () => {
  const seeds = inject('isLongRun') ? [101, 102, 103, 104, 105, 106] : [101]
  it.each(scarceWorlds)('our router loses 13 % more than the oracle at most: $name', world => {
    for (const seed of seeds)
      expect(simulate(world, ours, { seed }).meanLoss / simulate(world, oracle, { seed }).meanLoss, `seed ${seed}`).toBeLessThan(1.13)
  })
})

describe('a simulated offer', () => {
  const asked = { number: 0, atMs: 0, inputTokens: 4_000, outputTokens: 100, stream: true, session: 'a' }
  const flawless = { ...cache, drift: 0, offers: cache.offers.map(offer => ({ ...offer, errors: 0, breaks: 0, cacheHits: 1 })) }
  const reality = () => createReality(flawless, { seed: 1, minutes: 60, faults: [] })

  it('caches a prompt for five minutes after it was last read', () => {
    const { read, warm } = reality()
    read(1, asked, 1_000)
    expect([warm(1, 'a', 300_999), warm(1, 'a', 301_000), warm(2, 'a', 2_000), warm(1, 'b', 2_000)]).toEqual([4_000, 0, 0, 0])
  })

  it('admits a call at the time it announced', () => {
    const { call } = reality()
    const cedar = 2
    for (let number = 0; ; number += 1) {
      const fate = call({ offer: cedar, asked: { ...asked, number }, again: 0, atMs: 0 })
      if (fate.kind !== 'limited') continue
      const { retryAfterMs = 0 } = fate
      expect(retryAfterMs).toBeGreaterThan(0)
      expect(call({ offer: cedar, asked, again: 1, atMs: retryAfterMs - 5 }).kind).toBe('limited')
      expect(call({ offer: cedar, asked, again: 2, atMs: retryAfterMs }).kind).toBe('answer')
      break
    }
  })

  it('follows its fault while that lasts, and recovers after it', () => {
    const { state } = createReality(flawless, {
      seed: 1,
      minutes: 60,
      faults: [{ offer: 0, fromMs: 1_000, toMs: 2_000, slower: 4, hangs: 0.5 }],
    })
    const seen = (atMs: number) => [state(0, atMs).wait, state(0, atMs).hangs]
    expect([seen(999), seen(1_000), seen(1_999), seen(2_000), [state(1, 1_500).wait, state(1, 1_500).hangs]]).toEqual([
      [1, 0],
      [4, 0.5],
      [4, 0.5],
      [1, 0],
      [1, 0],
    ])
  })
})

describe('simulated requests', () => {
  it('are in order of time, with prompts that only grow within a conversation', () => {
    const requests = makeRequests(cache, { seed: 2, minutes: 30, rate: 2 })
    const last = new Map<string, number>()
    let atMs = 0
    for (const request of requests) {
      expect(request.atMs).toBeGreaterThanOrEqual(atMs)
      ;({ atMs } = request)
      if (request.session === undefined) continue
      expect(request.inputTokens).toBeGreaterThan(last.get(request.session) ?? 0)
      last.set(request.session, request.inputTokens)
    }
    expect(last.size).toBeGreaterThan(100)
  })

  it('have one size if the world says so, except those of conversations', () => {
    const size = { inputTokens: 60, outputTokens: 40 }
    for (const { session, inputTokens, outputTokens } of makeRequests({ ...calm, size }, { seed: 2, minutes: 10, rate: 4 })) {
      if (session === undefined) expect({ inputTokens, outputTokens }).toEqual(size)
      else expect(inputTokens).not.toBe(60)
    }
  })

  it('are about as many as configured, and as many in conversations', () => {
    const requests = makeRequests(calm, { seed: 2, minutes: 60, rate: 4 })
    expect(requests.length / (4 * 3_600)).toBeCloseTo(1, 1)
    expect(requests.filter(({ session }) => session !== undefined).length / requests.length).toBeCloseTo(0.4, 1)
  })
})

it('events run in order of time, those of one time in the order in which they were set', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), times => {
      const events = createEvents()
      const seen: (readonly [number, number])[] = []
      for (const [order, atMs] of times.entries()) events.at(atMs, () => seen.push([atMs, order]))
      while (Number.isFinite(events.nextMs())) events.happen()
      expect(seen).toEqual(times.map((atMs, order) => [atMs, order] as const).sort(([a, x], [b, y]) => a - b || x - y))
    }),
  )
})

it('a chart has the longest bar for the highest value, and escapes names', () => {
  const svg = barChart({ title: 'a', series: ['<x>', 'y'], groups: [{ title: 'w', values: [1, 3] }], label: String })
  const [one = 0, three = 0] = [...svg.matchAll(/width="([\d.]+)" height="9" fill="[^"]+"\/><text x="[\d.]+" y="\d+">[13]</g)].map(
    ([, wide]) => Number(wide),
  )
  expect(three / one).toBeCloseTo(3, 1)
  expect(svg).not.toContain('<x>')
})

/** Calls a second offer at once. */
const hasty: Policy = {
  name: 'hasty',
  create: setting => {
    const router = random.create(setting)
    return {
      ...router,
      plan: request => {
        const plan = router.plan(request)
        return {
          ...plan,
          next: () => {
            const choice = plan.next()
            return choice && { ...choice, hedgeAfterMs: 1 }
          },
        }
      },
    }
  },
}

function counting(policy: Policy) {
  const open = new Set<RouterAttempt>()
  let closed = 0
  const end = (attempt: RouterAttempt): void => {
    expect(open.delete(attempt)).toBe(true)
    closed += 1
  }
  const counted: Policy = {
    name: policy.name,
    create: setting => {
      const router = policy.create(setting)
      const watched: Router = {
        ...router,
        startAttempt: choice => {
          const attempt = router.startAttempt(choice)
          open.add(attempt)
          return attempt
        },
        finishAttempt: (attempt, used) => {
          end(attempt)
          router.finishAttempt(attempt, used)
        },
        failAttempt: (attempt, failed) => {
          end(attempt)
          router.failAttempt(attempt, failed)
        },
        abandonAttempt: attempt => {
          end(attempt)
          router.abandonAttempt(attempt)
        },
      }
      return watched
    },
  }
  return { counted, open, ended: () => closed }
}
