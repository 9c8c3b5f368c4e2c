import type { OfferStatistics, Reader } from '@signalbox/storage/routing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { beliefOf, cheap, dear, mindOf, type RouterProcess, routingStore, T0 } from '../../test/together.ts'
import type { RouterOffer } from '../offer.ts'
import { makeOutcomeCounts, outcomeNames } from './outcome-counts.ts'

function two(startMs = 0) {
  const time = { ms: startMs }
  const store = routingStore()
  return { time, store, here: mindOf('here', time, { store }), there: mindOf('there', time, { store }) }
}

/** Lets a router learn that both offers are alike. */
const acquaint = ({ answer }: RouterProcess): void => {
  for (let calls = 0; calls < 10; calls += 1) for (const offer of [cheap, dear]) answer(offer)
}

/** Both routers know both offers, from their own calls and from each other. */
async function acquainted() {
  const both = two()
  const minds = [both.here, both.there]
  for (const router of minds) acquaint(router)
  for (const router of minds) await router.tell()
  for (const router of minds) await router.listen()
  return both
}

const seenBy = ({ router }: RouterProcess, offer: RouterOffer) =>
  router.plan({ inputTokens: 2_000, outputTokens: 100 }, [router.trackOffer(offer)]).choices()[0].estimate

describe('what one router observes, the others learn', () => {
  test('an outage', async () => {
    const { here, there } = await acquainted()
    expect(there.first().offer.id).toBe('cheap')
    for (let calls = 0; calls < 8; calls += 1) here.fail(cheap)
    expect(there.first().offer.id).toBe('cheap')
    await here.tell()
    await there.listen()
    expect(there.first().offer.id).toBe('dear')
    expect(seenBy(there, cheap).failureProbability).toBeGreaterThan(0.9)
  })

  test('an older outage counts less than one just now', async () => {
    const failingAfter = async (epoch: number): Promise<number> => {
      const { there, time, store } = two()
      acquaint(there)
      time.ms += 600_000
      const at = T0 + time.ms
      const counts = { answered: 0, failed: 3, finished: 0, broken: 0, waits: 0, lnWaits: 0, lnWaitsSquared: 0, speeds: 0, lnSpeeds: 0 }
      await store.publish([{ writer: 'here', offer: 'cheap', epoch, version: 1, at, ...counts }], at)
      await there.listen()
      return seenBy(there, cheap).failureProbability
    }
    const [sudden, spread] = [await failingAfter(T0 + 620_000), await failingAfter(T0)]
    expect(spread).toBeGreaterThan(0.02)
    expect(sudden).toBeGreaterThan(spread * 1.2)
  })

  test('the end of an outage', async () => {
    const { here, there, time } = await acquainted()
    for (let calls = 0; calls < 8; calls += 1) here.fail(cheap)
    await here.tell()
    await there.listen()
    time.ms += 60_000
    for (let calls = 0; calls < 20; calls += 1) here.answer(cheap)
    await here.tell()
    await there.listen()
    expect(there.first()).toMatchObject({ offer: { id: 'cheap' }, reason: 'best' })
  })

  test('a pause and its duration', async () => {
    const { here, there, time } = two(5_000)
    for (const router of [here, there]) acquaint(router)
    here.fail(cheap, { kind: 'rate_limited', retryAfterMs: 30_000 })
    expect(here.urgent()).toBe(1)
    await here.tell()
    time.ms += 10_000
    await there.listen()
    expect(there.first().offer.id).toBe('dear')
    time.ms += 20_001
    expect(there.first().offer.id).toBe('cheap')
  })

  test('which offer has read a conversation', async () => {
    const { here, there, time, store } = two()
    for (const router of [here, there]) acquaint(router)
    here.answer(dear, { cacheKey: 'hash', inputTokens: 18_000 })
    await here.tell()
    expect(here.memory.isConversationUnknown('hash', here.moment().now)).toBe(false)
    expect(there.memory.isConversationUnknown('hash', there.moment().now)).toBe(true)
    there.memory.addCacheHolders('hash', await store.readers('hash', T0 + time.ms), there.moment())
    expect(there.memory.isConversationUnknown('hash', there.moment().now)).toBe(false)
    expect(there.first('hash')).toMatchObject({ offer: { id: 'dear' }, estimate: { cachedTokens: 18_000 } })
    expect(there.first('another').offer.id).toBe('cheap')
  })

  test('when a conversation was read, even by a clock that is ahead', async () => {
    const warmTokens = (readAgoMs: number, laterMs: number): number => {
      const time = { ms: 400_000 }
      const router = mindOf('me', time, { store: routingStore() })
      router.memory.addCacheHolders('c', [{ offer: 'cheap', tokens: 5_000, at: T0 + time.ms - readAgoMs }], router.moment())
      time.ms += laterMs
      return router.router.plan({ inputTokens: 6_000, cacheKey: 'c' }, router.among).choices()[0].estimate.cachedTokens
    }
    expect([warmTokens(200_000, 99_000), warmTokens(200_000, 101_000)]).toEqual([5_000, 0])
    expect([warmTokens(-200_000, 299_000), warmTokens(-200_000, 301_000)]).toEqual([5_000, 0])
  })

  test('the speed of an offer that was never used here', async () => {
    const { here, there } = two()
    for (let calls = 0; calls < 30; calls += 1) here.answer(cheap, { afterMs: 3_000 })
    await here.tell()
    await there.listen()
    const [mine, theirs] = [seenBy(here, cheap), seenBy(there, cheap)]
    expect(theirs.firstContentMs / mine.firstContentMs).toBeCloseTo(1, 0)
    expect(theirs.generationMs / mine.generationMs).toBeCloseTo(1, 1)
  })

  test('a slowdown, once several answers agree', async () => {
    const { here, there } = await acquainted()
    const before = seenBy(there, cheap).firstContentMs
    for (let calls = 0; calls < 8; calls += 1) here.answer(cheap, { afterMs: 6_000 })
    await here.tell()
    await there.listen()
    expect(seenBy(there, cheap).firstContentMs).toBeGreaterThan(before * 3)
  })

  test('but not a single slow answer', async () => {
    const { here, there } = await acquainted()
    const before = seenBy(there, cheap).firstContentMs
    here.answer(cheap, { afterMs: 9_000 })
    await here.tell()
    await there.listen()
    expect(seenBy(there, cheap).firstContentMs).toBeLessThan(before * 1.5)
  })
})

describe('nothing counts twice', () => {
  test('a router learns nothing from its own publications', async () => {
    const { here, store } = two()
    acquaint(here)
    here.fail(cheap)
    await here.tell()
    const before = structuredClone({ ...beliefOf(here, cheap), silent: [] })
    const all = await store.news({ writer: 'nobody' }, here.moment().at)
    expect(all.statistics).toHaveLength(2)
    here.memory.receive(all, here.moment())
    expect({ ...beliefOf(here, cheap), silent: [] }).toEqual(before)
    expect(await here.tell()).toEqual([])
  })

  test('received observations are not published again', async () => {
    const { here, there } = two()
    acquaint(here)
    await here.tell()
    await there.listen()
    expect(beliefOf(there, cheap).observations).toBe(10)
    expect(await there.tell()).toEqual([])
  })

  test('in any order and number of publications, each router counts each call once', async () => {
    const act = fc.record({
      mind: fc.constantFrom(0, 1, 2),
      verb: fc.constantFrom('answer', 'fail', 'tell', 'listen', 'listen to all', 'wait'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async acts => {
        const time = { ms: 0 }
        const store = routingStore()
        const minds = ['a', 'b', 'c'].map(name => mindOf(name, time, { store }))
        let calls = 0
        for (const { mind: at, verb } of acts) {
          const router = minds[at] as RouterProcess
          if (verb === 'answer') router.answer(cheap)
          if (verb === 'fail') router.fail(cheap)
          if (verb === 'answer' || verb === 'fail') calls += 1
          if (verb === 'tell') await router.tell()
          if (verb === 'listen') await router.listen()
          if (verb === 'listen to all') router.memory.receive(await store.news({ writer: 'nobody' }, router.moment().at), router.moment())
          if (verb === 'wait') time.ms += 20_000
        }
        for (const router of minds) await router.tell()
        for (const router of minds) await router.listen()
        expect(minds.map(router => beliefOf(router, cheap).observations)).toEqual([calls, calls, calls])
      }),
      { numRuns: 25 },
    )
  })

  test('a router that joins late receives everything once', async () => {
    const { here, there, time, store } = two()
    for (const router of [here, there]) acquaint(router)
    for (const router of [here, there]) await router.tell()
    here.answer(cheap)
    await here.tell()
    const late = mindOf('late', time, { store })
    await late.listen()
    expect(beliefOf(late, cheap).observations).toBe(21)
    late.memory.receive(await store.news({ writer: 'late' }, late.moment().at), late.moment())
    expect(beliefOf(late, cheap).observations).toBe(21)
  })

  test('observations of an offer that is unknown here wait until it is tracked', async () => {
    const { here, time, store } = two()
    acquaint(here)
    for (let calls = 0; calls < 8; calls += 1) here.fail(cheap)
    here.fail(dear, { kind: 'rate_limited', retryAfterMs: 60_000 })
    await here.tell()
    const empty = mindOf('empty', time, { store, offers: [] })
    await empty.listen()
    await empty.listen()
    expect(beliefOf(empty, cheap).observations).toBe(18)
    expect(seenBy(empty, cheap).failureProbability).toBeGreaterThan(0.2)
    expect(seenBy(empty, dear).rateLimitedMs).toBeCloseTo(60_000, -3)
  })

  test.each([
    [1_000_000, 10],
    [1_300_000, 0],
  ])('observations of an offer that is tracked %d ms later count %d times: they are kept for twenty minutes', async (after, kept) => {
    const { here, time, store } = two()
    for (let calls = 0; calls < 10; calls += 1) here.answer(cheap)
    await here.tell()
    const empty = mindOf('empty', time, { store, offers: [] })
    await empty.listen()
    time.ms += after
    empty.memory.receive({ cursor: '', statistics: [], pauses: [] }, empty.moment())
    expect(beliefOf(empty, cheap).observations).toBe(kept)
  })

  test('counters that were forgotten everywhere start again', async () => {
    const { here, there, time } = two()
    acquaint(here)
    await here.tell()
    await there.listen()
    time.ms += 3_600_000
    here.answer(cheap)
    const [row] = await here.tell()
    expect(row).toMatchObject({ offer: 'cheap', answered: 1, finished: 1, waits: 1 })
    await there.listen()
    expect(beliefOf(there, cheap).observations).toBe(11)
  })

  test('a received pause is not published again', async () => {
    const { here, there, store } = two()
    here.fail(cheap, { kind: 'rate_limited', retryAfterMs: 30_000 })
    await here.tell()
    const { cursor } = await there.listen()
    there.memory.markLimited('cheap')
    await there.tell()
    expect((await store.news({ writer: 'nobody', after: cursor }, there.moment().at)).pauses).toEqual([])
  })
})

describe('remote observations are weighted', () => {
  const failureAfter = async (waitMs: number): Promise<number> => {
    const { here, there, time } = two()
    acquaint(there)
    for (let calls = 0; calls < 8; calls += 1) here.fail(cheap)
    await here.tell()
    time.ms += waitMs
    await there.listen()
    return seenBy(there, cheap).failureProbability
  }

  test('older ones count less', async () => {
    const [fresh, old, ancient] = [await failureAfter(1_000), await failureAfter(240_000), await failureAfter(590_000)]
    expect(fresh).toBeGreaterThan(old)
    expect(old).toBeGreaterThan(ancient)
  })

  test('earlier remote successes do not hide later local failures', async () => {
    const { here, there, time } = await acquainted()
    for (let calls = 0; calls < 20; calls += 1) there.answer(cheap)
    await there.tell()
    time.ms += 15_000
    for (let calls = 0; calls < 4; calls += 1) here.fail(cheap)
    const before = seenBy(here, cheap).failureProbability
    await here.listen()
    expect(before).toBeGreaterThan(0.9)
    expect(seenBy(here, cheap).failureProbability).toBeGreaterThan(0.6)
  })

  test('one of many processes explores a failing offer, not all of them at once', async () => {
    const time = { ms: 0 }
    const store = routingStore()
    const crowd = Array.from({ length: 20 }, (_, n) => mindOf(`crowd-${n}`, time, { store }))
    for (const router of crowd) acquaint(router)
    for (const router of crowd) await router.tell()
    for (const router of crowd) await router.listen()
    for (let calls = 0; calls < 4; calls += 1) for (const router of crowd.slice(0, 10)) router.fail(cheap)
    for (const router of crowd) await router.tell()
    for (const router of crowd) await router.listen()
    const triedWithin = (milliseconds: number): number =>
      crowd.filter(router => beliefOf(router, cheap).exploreAt < router.moment().now + milliseconds).length
    expect(triedWithin(15_000)).toBe(0)
    expect(triedWithin(75_000)).toBeGreaterThanOrEqual(1)
    expect(triedWithin(75_000)).toBeLessThanOrEqual(12)
  })

  test('many processes do not drown out local observations', async () => {
    const time = { ms: 0 }
    const store = routingStore()
    const crowd = Array.from({ length: 12 }, (_, n) => mindOf(`crowd-${n}`, time, { store }))
    const alone = mindOf('alone', time, { store })
    acquaint(alone)
    for (const router of crowd) for (let calls = 0; calls < 30; calls += 1) router.answer(cheap)
    for (const router of crowd) await router.tell()
    await alone.listen()
    for (let calls = 0; calls < 5; calls += 1) alone.fail(cheap)
    expect(alone.first().offer.id).toBe('dear')
  })

  test('the learned state stays finite, whatever numbers arrive', () => {
    const count = fc.constantFrom(0, 1, 5, 1e9)
    const sum = fc.constantFrom(0, 0.5, 1e3, 1e12)
    const row = fc.record({
      writer: fc.constantFrom('x', 'y'),
      offer: fc.constantFrom('cheap', 'dear', 'unknown'),
      epoch: fc.constantFrom(0, T0, T0 * 2),
      version: fc.integer({ min: 0, max: 3 }),
      at: fc.constantFrom(0, T0, T0 * 2),
      answered: count,
      failed: count,
      finished: count,
      broken: count,
      waits: count,
      lnWaits: sum,
      lnWaitsSquared: sum,
      speeds: count,
      lnSpeeds: sum,
    })
    fc.assert(
      fc.property(fc.array(row), rows => {
        const router = mindOf('me', { ms: 1_000 }, { store: routingStore() })
        router.memory.receive({ cursor: '1', statistics: rows, pauses: [{ offer: 'cheap', until: T0 * 2 }] }, router.moment())
        for (const { estimate } of router.router.plan({ inputTokens: 100 }, router.among).choices())
          for (const value of Object.values(estimate)) expect(value).not.toBeNaN()
        expect(router.first().offer.id).toBe('dear')
      }),
      { numRuns: 40 },
    )
  })

  const rowOf = (told: object): OfferStatistics => ({
    writer: 'x',
    offer: 'cheap',
    epoch: T0,
    version: 1,
    at: T0 + 500,
    ...makeOutcomeCounts(),
    answered: 3,
    waits: 3,
    lnWaits: 18,
    lnWaitsSquared: 108,
    ...told,
  })
  const sightAfter = (told: object | undefined) => {
    const router = mindOf('me', { ms: 1_000 }, { store: routingStore() })
    router.answer(cheap)
    if (told) router.memory.receive({ cursor: '1', statistics: [rowOf(told)], pauses: [] }, router.moment())
    return seenBy(router, cheap)
  }

  test('a row of invalid numbers is ignored', () => {
    const untouched = sightAfter(undefined)
    expect(sightAfter({})).not.toEqual(untouched)
    const fields = ['epoch', 'version', 'at', ...outcomeNames]
    const impossible = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 1e300, '7', null, undefined)
    fc.assert(
      fc.property(fc.constantFrom(...fields), impossible, (field, value) => {
        expect(sightAfter({ [field]: value })).toEqual(untouched)
      }),
    )
  })

  test('a process that published invalid rows is used again with its next valid one', () => {
    const router = mindOf('me', { ms: 1_000 }, { store: routingStore() })
    for (const told of [
      { version: 1e300 },
      { epoch: Number.POSITIVE_INFINITY },
      { failed: 1e300 },
      { failed: 40, answered: 0, version: 2 },
    ])
      router.memory.receive({ cursor: '1', statistics: [rowOf(told)], pauses: [] }, router.moment())
    expect(seenBy(router, cheap).failureProbability).toBeGreaterThan(0.5)
  })

  test('an infinite or invalid pause is limited, and does not hide later ones', () => {
    const time = { ms: 1_000 }
    const router = mindOf('me', time, { store: routingStore() })
    const pause = (until: number) =>
      router.memory.receive({ cursor: '1', statistics: [], pauses: [{ offer: 'cheap', until }] }, router.moment())
    for (const until of [Number.NaN, Number.POSITIVE_INFINITY, -1]) pause(until)
    expect(seenBy(router, cheap).rateLimitedMs).toBe(0)
    pause(1e15)
    time.ms += 600_000
    expect(seenBy(router, cheap).rateLimitedMs).toBe(0)
    pause(T0 + time.ms + 30_000)
    expect(seenBy(router, cheap).rateLimitedMs).toBeGreaterThan(20_000)
  })

  test('a note with an impossible number of tokens is ignored', () => {
    const router = mindOf('me', { ms: 1_000 }, { store: routingStore() })
    const read = (more: object): Reader => ({ offer: 'cheap', tokens: 5_000, at: T0, ...more })
    for (const more of [{ tokens: Number.NaN }, { tokens: 1e300 }, { tokens: -1 }, { at: Number.NaN }, { at: Number.POSITIVE_INFINITY }])
      router.memory.addCacheHolders('c', [read(more)], router.moment())
    const { estimate } = router.router.plan({ inputTokens: 6_000, cacheKey: 'c' }, router.among).choices()[0]
    expect(estimate.cachedTokens).toBe(0)
    router.memory.addCacheHolders('c', [read({})], router.moment())
    expect(router.router.plan({ inputTokens: 6_000, cacheKey: 'c' }, router.among).choices()[0].estimate.cachedTokens).toBe(5_000)
  })
})

describe('a conversation that is read here', () => {
  const read = (router: RouterProcess, key: string) =>
    router.memory.affinity.recordRead(key, { offerId: 'cheap', tokens: 5_000, at: router.moment().now })

  test('is published urgently, and a failure without a pause is not', () => {
    const { here } = two()
    read(here, 'c')
    expect(here.urgent()).toBe(1)
    here.fail(cheap)
    expect(here.urgent()).toBe(1)
  })

  test('is kept for publication for at most 2,000 conversations', () => {
    const { here } = two()
    for (let at = 0; at < 2_005; at += 1) read(here, `c-${at}`)
    expect(here.memory.newCacheNotes(here.moment())).toHaveLength(2_000)
  })

  test('may have been read elsewhere after half a minute', () => {
    const { here, time } = two()
    read(here, 'c')
    time.ms += 30_000
    expect(here.memory.isConversationUnknown('c', here.moment().now)).toBe(false)
    time.ms += 1
    expect(here.memory.isConversationUnknown('c', here.moment().now)).toBe(true)
  })
})

test('of several readers the latest is remembered as such, in whatever order they are received', () => {
  const { here, time } = two(400_000)
  const reader = (offer: string, agoMs: number): Reader => ({ offer, tokens: 5_000, at: T0 + time.ms - agoMs })
  here.memory.addCacheHolders('c', [reader('cheap', 1_000), reader('dear', 60_000)], here.moment())
  here.memory.addCacheHolders('d', [reader('dear', 60_000), reader('cheap', 1_000)], here.moment())
  for (const key of ['c', 'd']) expect(here.memory.affinity.holders(key).map(({ offerId }) => offerId)).toEqual(['cheap', 'dear'])
})

test('a shorter pause received later does not shorten the pause of an offer that is unknown here', () => {
  const { here, time } = two(5_000)
  const pause = (offer: string, ms: number) =>
    here.memory.receive({ cursor: '1', statistics: [], pauses: [{ offer, until: T0 + time.ms + ms }] }, here.moment())
  pause('later', 60_000)
  pause('later', 30_000)
  expect(seenBy(here, { ...cheap, id: 'later' }).rateLimitedMs).toBe(60_000)
})
