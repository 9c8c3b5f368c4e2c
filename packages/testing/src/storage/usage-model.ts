import type { TotalsQuery, UsageRow, UsageTotal } from '@signalbox/storage'
import { binOf, type Histogram } from '@signalbox/storage/histogram'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY, HOUR, type MakeStorage, type RunCount, T0 } from './subject.ts'
import { usageRow } from './usage.ts'

// A simple and slow model of usage, which computes every result from all rows.

const MIDNIGHT = Math.floor(T0 / DAY) * DAY
const groupsOf: Readonly<Record<NonNullable<TotalsQuery['groupBy']>, (row: UsageRow, query: TotalsQuery) => readonly string[]>> = {
  key: row => [row.keyId],
  model: row => [row.model],
  provider: row => [row.provider],
  tag: ({ tags = [] }, { tag }) => tags.filter(each => each === (tag ?? each)),
}

const isMeant = (row: UsageRow, query: TotalsQuery): boolean =>
  row.at >= query.from &&
  row.at < query.to &&
  [undefined, row.keyId].includes(query.keyId) &&
  [undefined, row.model].includes(query.model) &&
  [undefined, row.provider].includes(query.provider) &&
  [undefined, ...(row.tags ?? [])].includes(query.tag)

function totalsOf(rows: readonly UsageRow[], query: TotalsQuery): readonly UsageTotal[] {
  const length = { hour: HOUR, day: DAY }[query.interval ?? 'day']
  const placesOf = (row: UsageRow) => {
    const start = query.interval && { start: row.at - (row.at % length) }
    return query.groupBy ? groupsOf[query.groupBy](row, query).map(group => ({ ...start, group })) : [{ ...start }]
  }
  const placed = rows
    .filter(row => isMeant(row, query))
    .flatMap(row => placesOf(row).map(place => ({ row, place, name: JSON.stringify(place) })))
  const places = new Map(placed.map(({ name, place }) => [name, place as { readonly start?: number; readonly group?: string }]))
  return [...places]
    .sort(([, a], [, b]) => (a.start ?? 0) - (b.start ?? 0) || ((a.group ?? '') < (b.group ?? '') ? -1 : 1))
    .map(([name, place]) => ({ ...place, ...totalOf(placed.filter(each => each.name === name).map(({ row }) => row)) }))
}

function totalOf(rows: readonly UsageRow[]): UsageTotal {
  const sum = (pick: (row: UsageRow) => number): number => rows.reduce((total, row) => total + pick(row), 0)
  const count = (holds: (row: UsageRow) => boolean): number => rows.filter(holds).length
  const answered = rows.filter(({ result }) => result === 'ok' || result === 'incomplete')
  return {
    requests: rows.length,
    errors: count(row => row.result === 'error'),
    rateLimited: count(row => row.result === 'rate_limited'),
    abandoned: count(row => row.result === 'abandoned'),
    interrupted: count(row => row.result === 'interrupted'),
    fallbacks: count(row => row.attempts > 1),
    inputTokens: sum(row => row.inputTokens),
    outputTokens: sum(row => row.outputTokens),
    cachedTokens: sum(row => row.cachedTokens),
    cacheWriteTokens: sum(row => row.cacheWriteTokens),
    reasoningTokens: sum(row => row.reasoningTokens),
    cost: sum(row => row.cost),
    byokRequests: count(row => row.credential === 'workspace'),
    byokCost: sum(row => row.byokCost),
    durations: binsOf(answered.map(row => row.durationMs)),
    firstContents: binsOf(rows.flatMap(row => row.firstContentMs ?? [])),
    speeds: binsOf(
      answered.flatMap(({ durationMs, firstContentMs, outputTokens }) =>
        firstContentMs !== undefined && durationMs > firstContentMs && outputTokens > 0
          ? [(outputTokens * 1_000) / (durationMs - firstContentMs)]
          : [],
      ),
    ),
  }
}

function binsOf(values: readonly number[]): Histogram {
  const bins = values.map(binOf)
  return [...new Set(bins)].sort((a, b) => a - b).map(bin => [bin, bins.filter(other => other === bin).length])
}

/** Half of the times are near the edges of hours and days. */
const time = fc
  .oneof(
    fc.tuple(fc.integer({ min: 0, max: 80 }), fc.integer({ min: -1, max: 1 })).map(([hour, ms]) => hour * HOUR + ms),
    fc.integer({ min: 0, max: 80 * HOUR }),
    fc.constantFrom(0, DAY, 2 * DAY, 3 * DAY),
  )
  .map(ms => MIDNIGHT + ms)
const keyId = fc.constantFrom('k1', 'k2', 'k3')
const model = fc.constantFrom('m1', 'm2')
const provider = fc.constantFrom('', 'p1', 'p2')
const tag = fc.constantFrom('t1', 't2', 't3')
const amount = fc.integer({ min: 0, max: 1_000_000 })
const fields = fc.record({
  at: time,
  keyId,
  model,
  provider,
  credential: fc.constantFrom('platform' as const, 'workspace' as const),
  result: fc.constantFrom(
    'ok' as const,
    'ok' as const,
    'incomplete' as const,
    'error' as const,
    'rate_limited' as const,
    'abandoned' as const,
    'interrupted' as const,
  ),
  inputTokens: amount,
  outputTokens: amount,
  cachedTokens: amount,
  cacheWriteTokens: amount,
  reasoningTokens: amount,
  cost: amount,
  byokCost: amount,
  attempts: fc.integer({ min: 0, max: 3 }),
  durationMs: fc.integer({ min: 0, max: 90_000 }),
})
const row = fc
  .tuple(fields, fc.option(fc.integer({ min: 0, max: 60_000 })), fc.option(fc.uniqueArray(tag)))
  .map(([made, firstContentMs, tags]) => ({ ...made, ...(firstContentMs !== null && { firstContentMs }), ...(tags && { tags }) }))
const period = fc.record(
  {
    from: fc.oneof(time, fc.constant(0)),
    to: fc.oneof(time, fc.constant(T0 * 2)),
    interval: fc.constantFrom('hour' as const, 'day' as const),
    groupBy: fc.constantFrom('key' as const, 'model' as const, 'provider' as const, 'tag' as const),
  },
  { requiredKeys: ['from', 'to'] },
)
const filter = fc.oneof(
  { arbitrary: fc.constant({}), weight: 2 },
  fc.record({ keyId }),
  fc.record({ model }),
  fc.record({ provider }),
  fc.record({ tag }),
  fc.record({ keyId, model, provider, tag }, { requiredKeys: [] }),
)
const query = fc.record({ period, filter, limit: fc.integer({ min: 0, max: 9 }), after: fc.nat() })
/** Forgetting rows older than all existing ones changes nothing, but a store may clean up then. */
const step = fc.record({ rows: fc.array(row, { maxLength: 30 }), forgets: fc.boolean(), queries: fc.array(query, { maxLength: 6 }) })

/** Random rows and queries, compared with the model. `describeUsageModel(opener(make), runs => runs)` */
export function describeUsageModel(open: MakeStorage, runs: RunCount): void {
  test('totals and lists agree with the model for any rows in any order', async () => {
    const { usage } = (await open()).storage
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async steps => {
        // One store for all runs: each run has its own workspace.
        const workspaceId = `ws_${++run}`
        const rows: UsageRow[] = []
        for (const next of steps) {
          const made = next.rows.map((fields, n) => usageRow(`${workspaceId}:${rows.length + n}`, { ...fields, workspaceId }))
          rows.push(...made)
          await Promise.all([...made, ...made.slice(0, 3)].map(one => usage.append(one)))
          if (next.forgets) expect(await usage.forget({ workspaceId, before: MIDNIGHT - HOUR, limit: 100 })).toBe(0)
          const newest = rows.toReversed().sort((a, b) => b.at - a.at)
          for (const { period, filter, limit, ...place } of next.queries) {
            const asked = { workspaceId, ...period, ...filter }
            expect(await usage.totals(asked)).toEqual(totalsOf(rows, asked))
            const { interval: _interval, groupBy: _groupBy, ...wanted } = asked
            const after = newest[place.after % (rows.length + 1)]
            const rest = newest.slice(after ? newest.indexOf(after) + 1 : 0).filter(one => isMeant(one, asked))
            expect(await usage.list({ ...wanted, limit, ...(after && { after: after.id }) })).toEqual(rest.slice(0, limit))
            const many = rows.filter(one => isMeant(one, asked)).length
            expect(await usage.count({ ...wanted, limit })).toBe(Math.min(limit, many))
          }
        }
      }),
      // A failure is shown before the test ends, however long it takes to make it smaller.
      { numRuns: runs(100), interruptAfterTimeLimit: 120_000 },
    )
  })
}
