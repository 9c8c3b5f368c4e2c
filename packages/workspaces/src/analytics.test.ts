import type { UsageRow } from '@signalbox/storage'
import { expect, test } from 'vitest'
import { codeOf, createFixture } from '../test/fixture.ts'

const day = 86_400_000

const row = (id: string, over: Partial<UsageRow> = {}): UsageRow => ({
  id,
  workspaceId: 'w',
  keyId: 'key_1',
  at: 1_767_225_600_000,
  modelAsked: 'small',
  model: 'maker/small',
  provider: 'p',
  credential: 'platform',
  strategy: 'balanced',
  streamed: true,
  inputTokens: 100,
  outputTokens: 50,
  cachedTokens: 25,
  cacheWriteTokens: 0,
  reasoningTokens: 10,
  estimated: false,
  cost: 1_000,
  byokCost: 0,
  result: 'ok',
  attempts: 1,
  durationMs: 2_000,
  firstContentMs: 1_000,
  warnings: [],
  ...over,
})

async function withRows(...rows: readonly UsageRow[]) {
  const made = await createFixture()
  for (const each of rows) await made.storage.usage.append(each)
  made.now.ms += 1_000
  return { ...made, analytics: made.gateway.workspaces('w').analytics }
}

test('a summary counts requests, tokens, money and time', async () => {
  const { analytics } = await withRows(
    row('a'),
    row('b', { result: 'error', code: 'provider_error', cost: 0, attempts: 3, firstContentMs: 500 }),
    row('c', { credential: 'workspace', cost: 0, byokCost: 700, durationMs: 4_000 }),
    row('d', { workspaceId: 'other' }),
  )
  expect(await analytics.summary()).toMatchObject({
    requests: 3,
    errors: 1,
    fallbacks: 1,
    inputTokens: 300,
    cachedTokens: 75,
    cost: 1_000,
    byokRequests: 1,
    byokCost: 700,
  })
  const { durationMs, firstContentMs, tokensPerSecond } = await analytics.summary()
  for (const [told, true_] of [
    [durationMs.p50, 2_000],
    [durationMs.p99, 4_000],
    [firstContentMs.p50, 1_000],
    [tokensPerSecond.p50, 50 / 3],
  ] as const)
    expect(Math.abs((told ?? 0) / true_ - 1)).toBeLessThan(0.03)
})

test('without requests all counts are 0, and ratios are absent', async () => {
  const { analytics } = await withRows()
  expect(await analytics.summary()).toMatchObject({ requests: 0, cost: 0, durationMs: {}, tokensPerSecond: {} })
  expect(await analytics.trends()).toEqual([])
})

test('a figure that no request has is left out', async () => {
  const { firstContentMs: _, ...silent } = row('a', { result: 'error', outputTokens: 0 })
  const { analytics } = await withRows(silent)
  expect(await analytics.summary()).toMatchObject({ requests: 1, firstContentMs: {}, tokensPerSecond: {} })
})

test('trends are one series for each group, in days or hours of UTC', async () => {
  const { analytics, now } = await withRows(
    row('a'),
    row('b', { at: 1_767_225_600_000 - day, model: 'maker/large' }),
    row('c', { keyId: 'key_2' }),
  )
  const starts = (series: Awaited<ReturnType<typeof analytics.trends>>) =>
    series.map(({ group, points }) => [group, points.map(({ start, requests }) => [start, requests])])
  const today = now.ms - 1_000
  expect(starts(await analytics.trends())).toEqual([
    [
      undefined,
      [
        [today - day, 1],
        [today, 2],
      ],
    ],
  ])
  expect(starts(await analytics.trends({ groupBy: 'model' }))).toEqual([
    ['maker/large', [[today - day, 1]]],
    ['maker/small', [[today, 2]]],
  ])
  expect(starts(await analytics.trends({ groupBy: 'key', from: today, interval: 'hour' }))).toEqual([
    ['key_1', [[today, 1]]],
    ['key_2', [[today, 1]]],
  ])
})

test('the log is filtered by model, provider, key and time, and paged', async () => {
  const { analytics, now } = await withRows(
    row('a'),
    row('b', { provider: 'q', at: 1_767_225_600_001 }),
    row('c', { keyId: 'key_2', at: 1_767_225_600_002 }),
  )
  const found = async (query: Parameters<typeof analytics.requests>[0]) => (await analytics.requests(query)).map(({ id }) => id)
  expect(await found({})).toEqual(['c', 'b', 'a'])
  expect(await found({ provider: 'q' })).toEqual(['b'])
  expect(await found({ apiKeyId: 'key_2' })).toEqual(['c'])
  expect(await found({ model: 'nothing' })).toEqual([])
  expect(await found({ from: now.ms })).toEqual([])
  expect(await found({ limit: 1, after: 'c' })).toEqual(['b'])
  expect(await analytics.count({}, 2)).toBe(2)
  const pages: string[][] = []
  for await (const page of analytics.pages({}, 2)) pages.push(page.map(({ id }) => id))
  expect(pages).toEqual([['c', 'b']])
})

test('trends by user and by tag count each separately, and filters select one', async () => {
  const { analytics } = await withRows(
    row('a', { keyId: 'user:u1', tags: ['plan:pro', 'eu'], cost: 1 }),
    row('b', { keyId: 'user:u2', tags: ['plan:pro'], cost: 10 }),
    row('c', { cost: 100 }),
  )
  const costs = async (query: Parameters<typeof analytics.trends>[0]) =>
    (await analytics.trends(query)).map(({ group, points }) => [group, points.reduce((sum, { cost }) => sum + cost, 0)])
  expect(await costs({ groupBy: 'user' })).toEqual([
    ['u1', 1],
    ['u2', 10],
  ])
  expect(await costs({ groupBy: 'tag' })).toEqual([
    ['eu', 1],
    ['plan:pro', 11],
  ])
  expect(await costs({ groupBy: 'user', tag: 'eu' })).toEqual([['u1', 1]])
  expect(await costs({ groupBy: 'tag', user: 'u1', interval: 'hour' })).toEqual([
    ['eu', 1],
    ['plan:pro', 1],
  ])
  expect((await analytics.summary({ user: 'u2' })).cost).toBe(10)
  expect((await analytics.requests({ tag: 'plan:pro' })).map(({ id }) => id)).toEqual(['b', 'a'])
  expect(await codeOf(analytics.summary({ user: 'u1', apiKeyId: 'key_1' }))).toBe('invalid_parameter_value')
})

test('with many users, trends return those with the highest cost, with exact figures', async () => {
  const users = Array.from({ length: 300 }, (_, n) => n)
  const rows = users.flatMap(n =>
    [0, 1].map(part => row(`${n}:${part}`, { keyId: `user:u${n}`, cost: (n * 7_919) % 300, at: 1_767_225_600_000 - part * day })),
  )
  const { analytics } = await withRows(...rows)
  const series = await analytics.trends({ groupBy: 'user', top: 3 })
  const byCost = users.toSorted((a, b) => ((b * 7_919) % 300) - ((a * 7_919) % 300)).slice(0, 3)
  expect(series.map(({ group, points }) => [group, points.map(({ cost }) => cost)])).toEqual(
    byCost.map(n => [`u${n}`, [(n * 7_919) % 300, (n * 7_919) % 300]]),
  )
  expect(await analytics.trends({ groupBy: 'user' })).toHaveLength(100)
  expect(await codeOf(analytics.trends({ groupBy: 'user', top: 101 }))).toBe('invalid_parameter_value')
})

test('a request of another workspace is not found, and missing evidence is reported as not kept', async () => {
  const { gateway, analytics } = await withRows(row('a'), row('broken', { routing: 'nonsense' }))
  expect((await analytics.request('a')).id).toBe('a')
  expect(await codeOf(gateway.workspaces('other').analytics.request('a'))).toBe('resource_not_found')
  expect(await codeOf(gateway.workspaces('other').analytics.routing('a'))).toBe('resource_not_found')
  expect(await codeOf(analytics.routing('nothing'))).toBe('resource_not_found')
  expect(await codeOf(analytics.routing('a'))).toBe('routing_evidence_not_kept')
  expect(await codeOf(analytics.routing('broken'))).toBe('routing_evidence_not_kept')
})

test.each([
  [{ from: 2, to: 1 }, 'from'],
  [{ from: 0, to: 401 * day }, 'from'],
  [{ from: 0, to: 60 * day, interval: 'hour' as const }, 'interval'],
])('a range of %j is refused, naming the field', async (query, param) => {
  const { analytics } = await withRows()
  await expect(analytics.trends(query)).rejects.toMatchObject({ code: 'invalid_parameter_value', facts: { param } })
})

test('a key reports its own usage of the day, the week and the month', async () => {
  const { gateway, storage } = await createFixture()
  const { apiKeys } = gateway.workspaces('w')
  const { id } = await apiKeys.create({ name: 'k' })
  const at = Date.UTC(2026, 0, 1)
  for (const [name, before] of Object.entries({ today: 0, monday: 3 * day, older: 4 * day }))
    await storage.usage.append(row(name, { keyId: id, at: at - before }))
  expect(await apiKeys.usage(id, { period: 'day' })).toMatchObject({ start: at, end: at + day, requests: 1, cost: 1_000 })
  expect(await apiKeys.usage(id, { period: 'week' })).toMatchObject({ start: Date.UTC(2025, 11, 29), requests: 2 })
  expect(await apiKeys.usage(id)).toMatchObject({ start: at, end: Date.UTC(2026, 1, 1), requests: 1 })
  expect(await codeOf(gateway.workspaces('other').apiKeys.usage(id))).toBe('resource_not_found')
})

test.each(['resp_', 'chatcmpl-', 'msg_'])('a request is also found by the id of its response, as in %s…', async prefix => {
  const { analytics } = await withRows(row('01a20296-4e33-7485-a605-e8f8996b2dfa'))
  expect((await analytics.request(`${prefix}01a202964e337485a605e8f8996b2dfa`)).id).toBe('01a20296-4e33-7485-a605-e8f8996b2dfa')
  expect(await codeOf(analytics.request(`${prefix}01a202964e337485a605e8f8996b2dfb`))).toBe('resource_not_found')
})

test.each([
  ['hour', 1, 1, 21],
  ['day', 30, 3, 3],
] as const)('groups are read for at most so much time at once: by %s, %i days', async (interval, days, everyDays, reads) => {
  const rows = Array.from({ length: 20 }, (_, at) => row(`r${at}`, { at: row('').at - at * everyDays * day, model: `m${at % 3}` }))
  const made = await createFixture()
  for (const each of rows) await made.storage.usage.append(each)
  made.now.ms += 1_000
  const ranges: number[] = []
  const totals: typeof made.storage.usage.totals = query => {
    if (query.interval) ranges.push(query.to - query.from)
    return made.storage.usage.totals(query)
  }
  const { gateway, now } = await createFixture({ ...made, storage: { ...made.storage, usage: { ...made.storage.usage, totals } } })
  const { analytics } = gateway.workspaces('w')
  const from = now.ms - (19 * everyDays + 0.5) * day
  const series = await analytics.trends({ interval, groupBy: 'model', from })
  expect(Math.max(...ranges)).toBeLessThanOrEqual(days * day)
  expect(ranges.length).toBe(reads)
  expect(Object.fromEntries(series.map(({ group, points }) => [group, points.length]))).toEqual({ m0: 7, m1: 7, m2: 6 })
  const [{ points } = { points: [] }] = series
  expect(points.map(({ start }) => start)).toEqual(points.map(({ start }) => start).toSorted((a, b) => a - b))
})
