import type { AuditRow, ItemStore, UsageRow } from '@signalbox/storage'
import type { StoredItem } from '@signalbox/storage/items'
import { describeStorage } from '@signalbox/testing/storage'
import { expect, test } from 'vitest'
import { memoryAudit } from './audit.ts'
import { setYoungest } from './bounded-map.ts'
import { memoryStorage } from './index.ts'
import { memoryItems } from './items.ts'
import { createRecentIds } from './recent-ids.ts'
import { memoryRouting } from './routing.ts'
import { makeSweeper } from './sweeper.ts'

const AT = 1_750_000_000_000

test('an account keeps its newest entries only, and its balance stays exact', async () => {
  const { ledger } = memoryStorage({ maxEntries: 100 })
  for (let n = 1; n <= 1_000; n++) await ledger.credit({ id: `c${n}`, account: 'a', amount: n, at: AT })
  const entries = await ledger.entries('a', { limit: 10_000 })
  expect(entries).toHaveLength(100)
  expect(entries[0]).toMatchObject({ id: 'c1000', balanceAfter: 500_500 })
  expect((await ledger.balance('a')).balance).toBe(500_500)
  expect(await ledger.entries('a', { limit: 10, before: 'c1' })).toEqual([])
})

test('a journal is not created, because nothing outlives the process', async () => {
  const { ledger } = memoryStorage()
  let made = 0
  const journal = (): string => String(++made)
  await ledger.reserve({ id: 'h', amount: 0, accounts: [], at: AT, journal })
  await ledger.renew([{ id: 'h', journal }])
  expect(await ledger.holds({ limit: 9 })).toEqual([{ id: 'h', version: 2 }])
  expect(made).toBe(0)
})

test('the newest usage rows are kept, and dropped ones may be appended again', async () => {
  const { usage } = memoryStorage({ maxUsageRows: 100 })
  const named = { workspaceId: 'w', keyId: 'k', modelAsked: 'm', model: 'm', provider: 'p', strategy: 's' }
  const counted = {
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    cost: 1,
    byokCost: 0,
    attempts: 1,
  }
  const row: Omit<UsageRow, 'id'> = {
    ...named,
    ...counted,
    at: AT,
    credential: 'platform',
    streamed: false,
    estimated: false,
    result: 'ok',
    durationMs: 1,
    warnings: [],
  }
  for (let n = 0; n < 1_000; n++) await usage.append({ ...row, id: `r${n}` })
  expect(await usage.totals({ workspaceId: 'w', from: 0, to: AT + 1 })).toMatchObject([{ requests: 100 }])
  expect(await usage.find('w', 'r0')).toBeUndefined()
  expect((await usage.list({ workspaceId: 'w', from: 0, to: AT + 1, limit: 1 }))[0]?.id).toBe('r999')
})

test('at least as many ids are remembered as requested, at most twice as many', () => {
  const seen = createRecentIds(100)
  for (let n = 0; n < 1_000; n++) {
    seen.add(`${n}`)
    for (let back = 0; back < Math.min(100, n); back += 9) expect(seen.has(`${n - back}`)).toBe(true)
  }
  expect(seen.has('799')).toBe(false)
})

test('expired entries are removed as the store is used, and others stay', () => {
  const rows = new Map(Array.from({ length: 1_000 }, (_, n) => [`${n}`, n]))
  const sweep = makeSweeper(rows, (endsAt, at) => endsAt <= at)
  for (let calls = 0; calls < 1_000; calls++) sweep(499)
  expect(rows.size).toBe(500)
  for (let calls = 0; calls < 1_000; calls++) sweep(2_000)
  expect(rows.size).toBe(0)
})

test('an invalid bound is refused', () => {
  expect(() => memoryStorage({ maxEntries: 0 })).toThrow('maxEntries')
  expect(() => memoryStorage({ maxUsageRows: Number.NaN })).toThrow('maxUsageRows')
})

describeStorage(
  'memory, with narrow bounds',
  async () => ({
    storage: memoryStorage({ maxEntries: 1_000, maxUsageRows: 1_500, maxIds: 500 }),
  }),
  { only: ['entries', 'lifecycle'] },
)

test('routing state keeps the newest rows, pauses and conversations up to its bounds', async () => {
  const routing = memoryRouting({ maxRows: 100, maxPauses: 100, maxConversations: 100 })
  const counted = { answered: 1, failed: 0, finished: 1, broken: 0, waits: 1, lnWaits: 6, lnWaitsSquared: 36, speeds: 1, lnSpeeds: 4 }
  for (let n = 0; n < 1_000; n++) {
    await routing.publish([{ writer: `w${n}`, offer: 'o', epoch: AT, version: 1, at: AT, ...counted }], AT)
    await routing.pause([{ offer: `o${n}`, until: AT + 1_000 }], AT)
    await routing.remember([{ key: `k${n}`, offer: 'o', tokens: 1, at: AT }], AT)
  }
  const { statistics, pauses } = await routing.news({ writer: 'me' }, AT)
  expect(statistics.length).toBeGreaterThanOrEqual(100)
  expect(statistics.length).toBeLessThanOrEqual(125)
  expect(statistics.at(-1)?.writer).toBe('w999')
  expect(pauses.length).toBeLessThanOrEqual(125)
  expect(pauses.at(-1)?.offer).toBe('o999')
  expect(await routing.readers('k999', AT)).toHaveLength(1)
  expect(await routing.readers('k0', AT)).toEqual([])
})

test('a row that is set repeatedly counts as the newest', () => {
  const rows = new Map<string, number>()
  for (let n = 0; n < 1_000; n++) {
    setYoungest(rows, { key: `${n}`, row: n, max: 8 })
    setYoungest(rows, { key: 'often', row: n, max: 8 })
  }
  expect(rows.get('often')).toBe(999)
  expect(rows.has('999')).toBe(true)
  expect(rows.has('900')).toBe(false)
  expect(rows.size).toBeLessThanOrEqual(10)
})

test('an audit keeps the newest rows, at most a quarter more, and continues its numbering', async () => {
  const audit = memoryAudit(100)
  const row = (place: number): AuditRow => ({
    ...{
      id: `a${place}`,
      workspaceId: 'w',
      place,
      event: 'api_key.created',
      subjectType: 'api_key',
      subjectId: 'k',
      at: AT,
      changes: '{}',
    },
    ...{ previousHash: place > 1 ? `h${place - 1}` : '', hash: `h${place}` },
  })
  for (let place = 1; place <= 125; place += 1) {
    expect(audit.follows(row(place))).toBe(true)
    audit.append([row(place)])
  }
  const places = async () => (await audit.chain('w', { after: 0, limit: 1_000 })).map(({ place }) => place)
  expect([(await places())[0], (await places()).length]).toEqual([1, 125])
  audit.append([row(126)])
  expect([(await places())[0], (await places()).length]).toEqual([27, 100])
  expect([audit.follows(row(126)), audit.follows(row(127)), audit.follows({ ...row(127), previousHash: 'h1' })]).toEqual([
    false,
    true,
    false,
  ])
})

const HOUR = 3_600_000
const itemOf = (id: string, bytes: number, workspaceId = 'w'): StoredItem => ({
  workspaceId,
  id,
  expiresAt: AT + HOUR,
  body: 'x'.repeat(bytes),
})
const valid = { at: AT, latest: AT + 2 * HOUR }
const idsOf = async (items: ItemStore, workspaceId = 'w') =>
  (await items.find(workspaceId, ['a', 'b', 'c', 'd'], valid)).map(({ id }) => id).sort()

test('items fill a workspace and the process to the last byte, and beyond it the oldest of the largest are evicted', async () => {
  const items = memoryItems(10)
  await items.put([itemOf('a', 3), itemOf('b', 3)], 6, valid)
  expect(await idsOf(items)).toEqual(['a', 'b'])
  await items.put([itemOf('c', 1)], 6, valid)
  expect(await idsOf(items)).toEqual(['b', 'c'])
  await items.put([itemOf('a', 6, 'other')], 6, valid)
  expect([await idsOf(items), await idsOf(items, 'other')]).toEqual([['b', 'c'], ['a']])
  await items.put([itemOf('b', 0, 'other'), itemOf('c', 1, 'third')], 6, valid)
  expect([await idsOf(items), await idsOf(items, 'other'), await idsOf(items, 'third')]).toEqual([['b', 'c'], ['b'], ['c']])
})

test('items of a large workspace, whoever owns them there, do not evict those of a smaller one', async () => {
  const items = memoryItems(100)
  const user = JSON.stringify(['large', 'user:small'])
  await items.put([itemOf('a', 10, 'small')], 50, valid)
  await items.put([itemOf('b', 3, user)], 50, valid)
  for (let at = 0; at < 30; at++) await items.put([itemOf('c', 20, JSON.stringify(['large', `user:${at}`]))], 50, valid)
  expect([await idsOf(items, 'small'), await idsOf(items, user)]).toEqual([['a'], ['b']])
})

test('bytes of replaced or expired items are free again', async () => {
  const items = memoryItems(10)
  for (let times = 0; times < 50; times += 1) await items.put([itemOf('a', 4), { ...itemOf('b', 4), expiresAt: AT }], 8, valid)
  await items.put([itemOf('c', 8)], 8, valid)
  expect(await idsOf(items)).toEqual(['c'])
})
