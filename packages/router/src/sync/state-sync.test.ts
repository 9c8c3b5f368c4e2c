import type { OfferStatistics, Reader } from '@signalbox/storage/routing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { beliefOf, cheap, dear, mindOf, type RouterProcess, routingStore, T0 } from '../../test/together.ts'
import type { RouterOffer } from '../types.ts'
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

describe('what one router sees, the others know', () => {
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

  test('an outage that may have been a while ago says less than one just now', async () => {
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

  test('and that it is over', async () => {
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

  test('that an offer asked to be left alone, and for how long', async () => {
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

  test('who has read a conversation', async () => {
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

  test('how fast an offer is, to one who has never asked it', async () => {
    const { here, there } = two()
    for (let calls = 0; calls < 30; calls += 1) here.answer(cheap, { afterMs: 3_000 })
    await here.tell()
    await there.listen()
    const [mine, theirs] = [seenBy(here, cheap), seenBy(there, cheap)]
    expect(theirs.firstContentMs / mine.firstContentMs).toBeCloseTo(1, 0)
    expect(theirs.generationMs / mine.generationMs).toBeCloseTo(1, 1)
  })

  test('that answers have become slower, as soon as several agree', async () => {
    const { here, there } = await acquainted()
    const before = seenBy(there, cheap).firstContentMs
    for (let calls = 0; calls < 8; calls += 1) here.answer(cheap, { afterMs: 6_000 })
    await here.tell()
    await there.listen()
    expect(seenBy(there, cheap).firstContentMs).toBeGreaterThan(before * 3)
  })

  test('one slow answer elsewhere is no news', async () => {
    const { here, there } = await acquainted()
    const before = seenBy(there, cheap).firstContentMs
    here.answer(cheap, { afterMs: 9_000 })
    await here.tell()
    await there.listen()
    expect(seenBy(there, cheap).firstContentMs).toBeLessThan(before * 1.5)
  })
})

describe('nothing counts twice', () => {
  test('a router learns nothing from what it has told itself', async () => {
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

  test('what was learned from others is not told on', async () => {
    const { here, there } = two()
    acquaint(here)
    await here.tell()
    await there.listen()
    expect(beliefOf(there, cheap).observations).toBe(10)
    expect(await there.tell()).toEqual([])
  })

  test('whoever tells and listens whenever, and however often, each router has heard of each call once', async () => {
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

  test('who joins late gets everything once', async () => {
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

  test('what is heard of an offer that nobody here has met waits until somebody does', async () => {
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

  test('a count that everyone has forgotten begins anew', async () => {
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

  test('a pause that was heard of is not told on', async () => {
    const { here, there, store } = two()
    here.fail(cheap, { kind: 'rate_limited', retryAfterMs: 30_000 })
    await here.tell()
    const { cursor } = await there.listen()
    there.memory.markLimited('cheap')
    await there.tell()
    expect((await store.news({ writer: 'nobody', after: cursor }, there.moment().at)).pauses).toEqual([])
  })
})

describe('what others say is weighed', () => {
  const failureAfter = async (waitMs: number): Promise<number> => {
    const { here, there, time } = two()
    acquaint(there)
    for (let calls = 0; calls < 8; calls += 1) here.fail(cheap)
    await here.tell()
    time.ms += waitMs
    await there.listen()
    return seenBy(there, cheap).failureProbability
  }

  test('the older it is, the less it counts', async () => {
    const [fresh, old, ancient] = [await failureAfter(1_000), await failureAfter(240_000), await failureAfter(590_000)]
    expect(fresh).toBeGreaterThan(old)
    expect(old).toBeGreaterThan(ancient)
  })

  test('what others saw while all was well does not cover what fails here since', async () => {
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

  test('one of many that see it fail tries it again, and not all of them at once', async () => {
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

  test('a crowd of others does not drown what is seen here', async () => {
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

  test('whatever numbers come, beliefs stay numbers', () => {
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

  test('a row of numbers that cannot be teaches nothing', () => {
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

  test('whoever told what cannot be is heard again as soon as it tells what can', () => {
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

  test('a pause without end or number is no longer than any, and does not hide the ones to come', () => {
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

  test('a reader of so many tokens as nobody reads has read nothing', () => {
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

describe('what is read here', () => {
  const read = (router: RouterProcess, key: string) =>
    router.memory.affinity.recordRead(key, { offerId: 'cheap', tokens: 5_000, at: router.moment().now })

  test('is urgent to tell, and a failure without a pause is not', () => {
    const { here } = two()
    read(here, 'c')
    expect(here.urgent()).toBe(1)
    here.fail(cheap)
    expect(here.urgent()).toBe(1)
  })

  test('is told of 2,000 conversations at once, and no more', () => {
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

test('of several readers the last one is remembered as the last, in whatever order they are told', () => {
  const { here, time } = two(400_000)
  const reader = (offer: string, agoMs: number): Reader => ({ offer, tokens: 5_000, at: T0 + time.ms - agoMs })
  here.memory.addCacheHolders('c', [reader('cheap', 1_000), reader('dear', 60_000)], here.moment())
  here.memory.addCacheHolders('d', [reader('dear', 60_000), reader('cheap', 1_000)], here.moment())
  for (const key of ['c', 'd']) expect(here.memory.affinity.holders(key).map(({ offerId }) => offerId)).toEqual(['cheap', 'dear'])
})

test('a shorter pause that is heard of later does not shorten one of an offer that nobody here has met', () => {
  const { here, time } = two(5_000)
  const pause = (offer: string, ms: number) =>
    here.memory.receive({ cursor: '1', statistics: [], pauses: [{ offer, until: T0 + time.ms + ms }] }, here.moment())
  pause('later', 60_000)
  pause('later', 30_000)
  expect(seenBy(here, { ...cheap, id: 'later' }).rateLimitedMs).toBe(60_000)
})
