import type { TotalsQuery, UsageTotal } from '@signalbox/storage'
import { quantileOf } from '@signalbox/storage/histogram'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, type MakeStorage, MINUTE, T0 } from './subject.ts'
import { usageRow } from './usage.ts'

const always = { workspaceId: 'ws_1', from: 0, to: T0 * 2 }
/** Midnight UTC. */
const MIDNIGHT = Math.floor(T0 / DAY) * DAY

/** Conformance suite for usage totals. `describeTotals(opener(make))` */
export function describeTotals(open: MakeStorage): void {
  describe('totals of usage', () => {
    test('a total sums the usage and counts requests by result', async () => {
      const { usage } = (await open()).storage
      const results = ['ok', 'ok', 'incomplete', 'error', 'error', 'error', 'rate_limited', 'abandoned', 'interrupted'] as const
      const used = { cachedTokens: 1, cacheWriteTokens: 2, reasoningTokens: 3 }
      await Promise.all(results.map((result, n) => usage.append(usageRow(`req_${n}`, { ...used, result, cost: n, attempts: 1 + (n % 2) }))))
      await usage.append(usageRow('own', { credential: 'workspace', cost: 0, byokCost: 9 }))
      expect(await usage.totals(always)).toMatchObject([
        {
          ...{
            requests: 10,
            errors: 3,
            rateLimited: 1,
            abandoned: 1,
            interrupted: 1,
            fallbacks: 4,
            cost: 36,
            byokRequests: 1,
            byokCost: 9,
          },
          ...{ inputTokens: 100, outputTokens: 200, cachedTokens: 9, cacheWriteTokens: 18, reasoningTokens: 27 },
        },
      ])
    })

    test('there is no total without rows', async () => {
      const { usage } = (await open()).storage
      expect(await usage.totals(always)).toEqual([])
      await usage.append(usageRow('req_1'))
      for (const other of [{ keyId: 'key_9' }, { model: 'key_1' }, { provider: '' }, { workspaceId: 'ws_9' }, { from: T0 + 1 }, { to: 0 }])
        for (const groupBy of [undefined, 'key', 'model'] as const)
          expect(await usage.totals({ ...always, ...other, ...(groupBy && { groupBy }) })).toEqual([])
    })

    test('intervals start at UTC hours and days, are in order, and are left out if they have no rows', async () => {
      const { usage } = (await open()).storage
      const ats = [2 * DAY + 1, HOUR, 2 * HOUR - 1, DAY - 1, 0].map(ms => MIDNIGHT + ms)
      for (const [n, at] of ats.entries()) await usage.append(usageRow(`req_${n}`, { at }))
      const told = async (interval: 'hour' | 'day', from = 0) =>
        (await usage.totals({ ...always, from, interval })).map(({ start = 0, requests }) => [(start - MIDNIGHT) / HOUR, requests])
      expect(await told('day')).toEqual([
        [0, 4],
        [48, 1],
      ])
      expect(await told('hour')).toEqual([
        [0, 1],
        [1, 2],
        [23, 1],
        [48, 1],
      ])
      // The first interval is partial but starts where the whole one would.
      expect(await told('day', MIDNIGHT + HOUR + 1)).toEqual([
        [0, 2],
        [48, 1],
      ])
    })

    test('groups are in order of name within each interval', async () => {
      const { usage } = (await open()).storage
      const kinds = [
        { keyId: 'k2', model: 'b', provider: '', at: T0 },
        { keyId: 'k1', model: 'B', provider: 'p', at: T0 + MINUTE },
        { keyId: 'k2', model: 'a', provider: 'p', at: T0 + 2 * DAY },
      ]
      for (const [n, kind] of kinds.entries()) await usage.append(usageRow(`req_${n}`, kind))
      const told = async (groupBy: 'key' | 'model' | 'provider', interval?: 'day') =>
        (await usage.totals({ ...always, groupBy, ...(interval && { interval }) })).map(({ group, requests }) => [group, requests])
      expect(await told('key')).toEqual([
        ['k1', 1],
        ['k2', 2],
      ])
      expect(await told('provider')).toEqual([
        ['', 1],
        ['p', 2],
      ])
      expect(await told('model', 'day')).toEqual([
        ['B', 1],
        ['b', 1],
        ['a', 1],
      ])
    })

    test('a row counts in the group of each of its tags, and once in a filter by tag', async () => {
      const { usage } = (await open()).storage
      const tagged = [['a', 'b'], ['b'], undefined, ['c', 'a']]
      for (const [n, tags] of tagged.entries()) await usage.append(usageRow(`req_${n}`, { cost: 10 ** n, ...(tags && { tags }) }))
      const groupsIn = async (query: Partial<TotalsQuery>) =>
        (await usage.totals({ ...always, groupBy: 'tag', ...query })).map(({ group, cost }) => [group, cost])
      expect(await groupsIn({})).toEqual([
        ['a', 1_001],
        ['b', 11],
        ['c', 1_000],
      ])
      expect(await groupsIn({ tag: 'b' })).toEqual([['b', 11]])
      expect(await groupsIn({ top: 2 })).toEqual([
        ['a', 1_001],
        ['c', 1_000],
      ])
      expect(await groupsIn({ groupPrefix: 'b' })).toEqual([['b', 11]])
      expect(await usage.totals({ ...always, tag: 'a' })).toMatchObject([{ requests: 2, cost: 1_001 }])
      expect((await usage.list({ ...always, tag: 'a', limit: 9 })).map(({ id }) => id)).toEqual(['req_3', 'req_0'])
      expect(await usage.count({ ...always, tag: 'a', limit: 9 })).toBe(2)
      expect(await usage.count({ ...always, tag: "a' OR 1", limit: 9 })).toBe(0)
    })

    test('durations and speeds cover successful requests only, first-content times all that have one', async () => {
      const { usage } = (await open()).storage
      const rows = [
        { durationMs: 3_000, firstContentMs: 1_000, outputTokens: 80 },
        { durationMs: 500, result: 'incomplete' as const },
        { durationMs: 500, firstContentMs: 500 },
        { durationMs: 7, firstContentMs: 2, result: 'abandoned' as const },
        { durationMs: 9_000, result: 'error' as const },
      ]
      for (const [n, fields] of rows.entries()) await usage.append(usageRow(`req_${n}`, fields))
      const [total] = await usage.totals(always)
      const told = (name: 'durations' | 'firstContents' | 'speeds') => spread(total, name)
      expect(told('durations')).toEqual({ count: 3, least: near(500), most: near(3_000) })
      expect(told('firstContents')).toEqual({ count: 3, least: near(2), most: near(1_000) })
      expect(told('speeds')).toEqual({ count: 1, least: near(40), most: near(40) })
    })
  })
}

const spread = (total: UsageTotal | undefined, name: 'durations' | 'firstContents' | 'speeds') => {
  const bins = total?.[name] ?? []
  return { count: bins.reduce((sum, [, count]) => sum + count, 0), least: quantileOf(bins, 0), most: quantileOf(bins, 1) }
}

const near = (value: number): unknown => expect.toSatisfy((told: number) => Math.abs(told - value) <= value * 0.025)
