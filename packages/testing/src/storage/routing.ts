import { promised } from '@signalbox/storage/awaitable'
import {
  maxReaders,
  mergeReaders,
  mergeStatistics,
  type OfferStatistics,
  type Reader,
  type RoutingNews,
  type RoutingStore,
  routingRetentionMs,
} from '@signalbox/storage/routing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type MakeStorage, MINUTE, ODD_STRINGS, partOf, type RunCount, spoil, T0 } from './subject.ts'

/** A row whose counts are derived from its version, so that equal versions have equal content. `statisticsRow({ version: 2 })` */
export function statisticsRow(fields: Partial<OfferStatistics> = {}): OfferStatistics {
  const { version = 1, epoch = T0 - MINUTE } = fields
  const seen = version * 10
  return {
    writer: 'writer-1',
    offer: 'offer-1',
    epoch,
    version,
    at: T0 + version,
    answered: seen,
    failed: version,
    finished: seen,
    broken: 0,
    waits: seen,
    lnWaits: seen * 6.25,
    lnWaitsSquared: seen * 40.5,
    speeds: seen,
    lnSpeeds: seen * 4.1,
    ...fields,
  }
}

const me = { writer: 'me' }
const rowsOf = ({ statistics }: RoutingNews) => mergeStatistics(statistics, [])

/** Rows of a few writers and offers in a few versions, combined randomly. */
export const statisticsRows: fc.Arbitrary<readonly OfferStatistics[]> = fc.array(
  fc
    .record({
      writer: fc.constantFrom('one', 'two', 'three'),
      offer: fc.constantFrom('a', 'b', 'c'),
      epoch: fc.constantFrom(T0, T0 + 1),
      version: fc.integer({ min: 0, max: 5 }),
    })
    .map(statisticsRow),
  { maxLength: 12 },
)

export const readers: fc.Arbitrary<readonly Reader[]> = fc.array(
  fc.record({
    offer: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    tokens: fc.integer({ min: 0, max: 3 }),
    at: fc.integer({ min: T0, max: T0 + 5 }),
  }),
  { maxLength: 12 },
)

/** Conformance suite for shared routing state. `describeRouting(opener(make), runs => runs)` */
export function describeRouting(open: MakeStorage, runs: RunCount): void {
  const given = async (): Promise<RoutingStore> => partOf((await open()).storage, 'routing')

  describe('routing state', () => {
    describeStatistics(given, runs)
    describePauses(given)
    describeReaders(given, runs)
  })
}

type Given = () => Promise<RoutingStore>

function describeStatistics(given: Given, runs: RunCount): void {
  test('a writer reads what others published, never its own rows', async () => {
    const routing = await given()
    await routing.publish([statisticsRow(), statisticsRow({ offer: 'offer-2' })], T0)
    await routing.publish([statisticsRow({ writer: 'me' })], T0)
    expect(rowsOf(await routing.news(me, T0))).toEqual([statisticsRow(), statisticsRow({ offer: 'offer-2' })])
    expect(rowsOf(await routing.news({ writer: 'writer-1' }, T0))).toEqual([statisticsRow({ writer: 'me' })])
  })

  test('a cursor returns only changes since it, or nothing', async () => {
    const routing = await given()
    await routing.publish([statisticsRow(), statisticsRow({ offer: 'offer-2' })], T0)
    const first = await routing.news(me, T0)
    expect((await routing.news({ ...me, after: first.cursor }, T0)).statistics).toEqual([])
    await routing.publish([statisticsRow({ version: 2 })], T0 + 1)
    const second = await routing.news({ ...me, after: first.cursor }, T0 + 1)
    expect(second.statistics).toEqual([statisticsRow({ version: 2 })])
    expect((await routing.news({ ...me, after: second.cursor }, T0 + 1)).statistics).toEqual([])
  })

  test('a new reader, or a foreign cursor, gets everything that is stored', async () => {
    const routing = await given()
    for (const version of [1, 2, 3]) await routing.publish([statisticsRow({ version })], T0 + version)
    for (const after of [undefined, 'from elsewhere', '999999999'])
      expect((await routing.news({ ...me, ...(after !== undefined && { after }) }, T0 + 3)).statistics).toEqual([
        statisticsRow({ version: 3 }),
      ])
  })

  test('an older version changes nothing; a later epoch wins whatever its version', async () => {
    const routing = await given()
    await routing.publish([statisticsRow({ version: 5 })], T0)
    const { cursor } = await routing.news(me, T0)
    await routing.publish([statisticsRow({ version: 4 }), statisticsRow({ version: 5 })], T0)
    expect((await routing.news({ ...me, after: cursor }, T0)).statistics).toEqual([])
    const anew = statisticsRow({ version: 1, epoch: T0 })
    await routing.publish([anew], T0)
    await routing.publish([statisticsRow({ version: 9 })], T0)
    expect((await routing.news(me, T0)).statistics).toEqual([anew])
  })

  test('publishing in any order stores the same as a merge of all rows', async () => {
    const routing = await given()
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(statisticsRows, { maxLength: 6 }), async tellings => {
        // One store for all runs: each run has its own writers.
        const prefix = `${++run}:`
        const mine = tellings.map(rows => rows.map(row => ({ ...row, writer: prefix + row.writer })))
        for (const rows of mine) await routing.publish(rows, T0)
        const { statistics } = await routing.news(me, T0)
        const told = mergeStatistics(
          statistics.filter(({ writer }) => writer.startsWith(prefix)),
          [],
        )
        expect(told).toEqual(mergeStatistics(mine.flat(), []))
      }),
      { numRuns: runs(100) },
    )
  })

  test('rows that are not published again expire', async () => {
    const routing = await given()
    await routing.publish([statisticsRow({ at: T0 }), statisticsRow({ offer: 'offer-2', at: T0 + MINUTE })], T0 + MINUTE)
    const later = T0 + routingRetentionMs.statistics
    expect((await routing.news(me, later - 1)).statistics).toHaveLength(2)
    expect((await routing.news(me, later)).statistics.map(({ offer }) => offer)).toEqual(['offer-2'])
  })

  test('fractions, NaN and negative numbers make the whole call fail', async () => {
    const routing = await given()
    for (const fields of [{ answered: 0.5 }, { lnWaits: Number.NaN }, { lnSpeeds: -1 }, { broken: -1 }, { at: Number.POSITIVE_INFINITY }])
      await expect(promised(() => routing.publish([statisticsRow(), statisticsRow({ offer: 'bad', ...fields })], T0))).rejects.toThrow(
        'routing.publish',
      )
    expect((await routing.news(me, T0)).statistics).toEqual([])
  })

  test('unusual strings are stored unchanged, and no two pairs collide', async () => {
    const routing = await given()
    const rows = ODD_STRINGS.flatMap(writer => ODD_STRINGS.map(offer => statisticsRow({ writer, offer })))
    await routing.publish(rows, T0)
    expect(rowsOf(await routing.news(me, T0))).toEqual(mergeStatistics(rows, []))
  })

  test('mutating a row or a result changes nothing in the store', async () => {
    const routing = await given()
    const mine = statisticsRow()
    await routing.publish([mine], T0)
    spoil(mine)
    spoil(await routing.news(me, T0))
    expect((await routing.news(me, T0)).statistics).toEqual([statisticsRow()])
  })
}

function describePauses(given: Given): void {
  test('the longest pause of an offer applies to all readers until it ends', async () => {
    const routing = await given()
    for (const until of [T0 + 5_000, T0 + 9_000, T0 + 7_000]) await routing.pause([{ offer: 'a', until }], T0)
    await routing.pause([{ offer: 'b', until: T0 + 1_000 }], T0)
    expect((await routing.news(me, T0 + 1_000)).pauses).toEqual([{ offer: 'a', until: T0 + 9_000 }])
    expect((await routing.news(me, T0 + 9_000)).pauses).toEqual([])
  })

  test('a pause is returned once, and again if it is extended', async () => {
    const routing = await given()
    await routing.pause([{ offer: 'a', until: T0 + 5_000 }], T0)
    const { cursor } = await routing.news(me, T0)
    await routing.pause([{ offer: 'a', until: T0 + 4_000 }], T0)
    expect((await routing.news({ ...me, after: cursor }, T0)).pauses).toEqual([])
    await routing.pause([{ offer: 'a', until: T0 + 6_000 }], T0)
    expect((await routing.news({ ...me, after: cursor }, T0)).pauses).toEqual([{ offer: 'a', until: T0 + 6_000 }])
  })

  test('a pause without a finite end is refused', async () => {
    const routing = await given()
    for (const until of [Number.POSITIVE_INFINITY, Number.NaN, 0.5])
      await expect(promised(() => routing.pause([{ offer: 'a', until }], T0))).rejects.toThrow('routing.pause')
    expect((await routing.news(me, T0)).pauses).toEqual([])
  })
}

function describeReaders(given: Given, runs: RunCount): void {
  const note = (offer: string, at: number) => ({ key: 'hash-1', offer, tokens: 1_000, at })

  test('readers of a conversation are found by its key only, the latest first', async () => {
    const routing = await given()
    await routing.remember([note('a', T0), { ...note('b', T0 + 1), tokens: 0 }], T0 + 1)
    await routing.remember([{ ...note('c', T0), key: 'hash-2' }], T0 + 1)
    expect(await routing.readers('hash-1', T0 + 1)).toEqual([
      { offer: 'b', tokens: 0, at: T0 + 1 },
      { offer: 'a', tokens: 1_000, at: T0 },
    ])
    expect(await routing.readers('hash-3', T0 + 1)).toEqual([])
  })

  test('readers noted in any order are stored as a merge of all of them', async () => {
    const routing = await given()
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(readers, { maxLength: 5 }), async tellings => {
        const key = `hash of ${++run}`
        for (const told of tellings)
          await routing.remember(
            told.map(reader => ({ key, ...reader })),
            T0,
          )
        const known = await routing.readers(key, T0)
        expect(known).toEqual(mergeReaders(tellings.flat(), []))
        expect(known.length).toBeLessThanOrEqual(maxReaders)
      }),
      { numRuns: runs(100) },
    )
  })

  test('old readers of a conversation are forgotten', async () => {
    const routing = await given()
    await routing.remember([note('a', T0), note('b', T0 + MINUTE)], T0 + MINUTE)
    expect((await routing.readers('hash-1', T0 + routingRetentionMs.readers)).map(({ offer }) => offer)).toEqual(['b'])
    expect(await routing.readers('hash-1', T0 + MINUTE + routingRetentionMs.readers)).toEqual([])
  })

  test('unusual strings are accepted as keys and names, and an invalid note is refused', async () => {
    const routing = await given()
    await routing.remember(
      ODD_STRINGS.map(odd => ({ ...note(odd, T0), key: odd })),
      T0,
    )
    for (const odd of ODD_STRINGS) expect(await routing.readers(odd, T0)).toEqual([{ offer: odd, tokens: 1_000, at: T0 }])
    for (const fields of [{ tokens: -1 }, { tokens: 0.5 }, { at: Number.NaN }])
      await expect(promised(() => routing.remember([note('good', T0), { ...note('bad', T0), ...fields }], T0))).rejects.toThrow(
        'routing.remember',
      )
    expect(await routing.readers('hash-1', T0)).toEqual([])
  })

  test('mutating a note or a result changes nothing in the store', async () => {
    const routing = await given()
    const mine = note('a', T0)
    await routing.remember([mine], T0)
    spoil(mine)
    spoil(await routing.readers('hash-1', T0))
    expect(await routing.readers('hash-1', T0)).toEqual([{ offer: 'a', tokens: 1_000, at: T0 }])
  })
}
