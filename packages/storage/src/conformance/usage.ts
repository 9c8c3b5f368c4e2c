import { describe, expect, test } from 'vitest'
import type { UsageRow, UsageStore } from '../storage.ts'
import { type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

/** A row with nothing optional. `usageRow('req_1', { at: T0 + 5 })` */
export const usageRow = (id: string, fields: Partial<UsageRow> = {}): UsageRow => ({
  id,
  workspaceId: 'ws_1',
  keyId: 'key_1',
  at: T0,
  modelAsked: 'fast',
  model: 'maker/model',
  provider: 'maker',
  credential: 'platform',
  strategy: 'balanced',
  streamed: false,
  inputTokens: 10,
  outputTokens: 20,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  cost: 100,
  result: 'ok',
  attempts: 1,
  durationMs: 900,
  warnings: [],
  ...fields,
})

const full = usageRow('req_full', {
  credential: 'workspace',
  streamed: true,
  cachedTokens: 3,
  cacheWriteTokens: 4,
  reasoningTokens: 5,
  estimated: true,
  result: 'incomplete',
  code: 'provider_timed_out',
  firstContentMs: 0,
  warnings: ['one', 'two'],
  metadata: { team: 'blue', '': '' },
})
const always = { workspaceId: 'ws_1', from: 0, to: T0 * 2 }
const idsOf = async (usage: UsageStore, query: Parameters<UsageStore['list']>[0]) => (await usage.list(query)).map(({ id }) => id)

/** The suite for usage rows. `describeUsage(opener(make))` */
export function describeUsage(open: MakeStorage): void {
  describe('usage', () => {
    test('a row reads back as it was put in: what was absent stays absent, what was 0 or empty stays so', async () => {
      const { usage } = (await open()).storage
      const rows = [usageRow('req_1'), full, usageRow('req_empty', { metadata: {} })]
      for (const row of rows) await usage.append(row)
      for (const row of rows) expect(await usage.find('ws_1', row.id)).toStrictEqual(row)
      expect(await usage.list({ ...always, limit: 9 })).toStrictEqual([...rows].reverse())
    })

    test('the same id twice is one row, the first, also at once', async () => {
      const { usage } = (await open()).storage
      await Promise.all(Array.from({ length: 10 }, () => usage.append(usageRow('req_1'))))
      await usage.append(usageRow('req_1', { cost: 999, workspaceId: 'ws_2' }))
      expect(await usage.list({ ...always, limit: 9 })).toEqual([usageRow('req_1')])
      expect((await usage.sum(always)).cost).toBe(100)
      expect(await usage.find('ws_2', 'req_1')).toBeUndefined()
    })

    test('a row is found in its own workspace only', async () => {
      const { usage } = (await open()).storage
      await usage.append(usageRow('req_1'))
      expect(await usage.find('ws_2', 'req_1')).toBeUndefined()
      expect(await usage.find('ws_1', 'req_2')).toBeUndefined()
    })

    test('sums add up by how requests ended', async () => {
      const { usage } = (await open()).storage
      const results = ['ok', 'ok', 'incomplete', 'error', 'error', 'error', 'rate_limited', 'abandoned'] as const
      await Promise.all(results.map((result, n) => usage.append(usageRow(`req_${n}`, { result, cost: n }))))
      expect(await usage.sum(always)).toEqual({ requests: 8, errors: 3, rateLimited: 1, inputTokens: 80, outputTokens: 160, cost: 28 })
    })

    test('a sum over nothing is all zeros', async () => {
      const { usage } = (await open()).storage
      const zeros = { requests: 0, errors: 0, rateLimited: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
      expect(await usage.sum(always)).toEqual(zeros)
      await usage.append(usageRow('req_1'))
      expect(await usage.sum({ ...always, keyId: 'key_9' })).toEqual(zeros)
      expect(await usage.sum({ workspaceId: 'ws_9', from: 0, to: T0 * 2 })).toEqual(zeros)
    })

    test('from is included, to is not; a key and a workspace see their own', async () => {
      const { usage } = (await open()).storage
      for (let n = 0; n < 6; n++) await usage.append(usageRow(`req_${n}`, { at: T0 + n, keyId: n % 2 ? 'odd' : 'even' }))
      await usage.append(usageRow('foreign', { workspaceId: 'ws_2', keyId: 'odd', at: T0 + 3 }))
      const query = { workspaceId: 'ws_1', from: T0 + 1, to: T0 + 5 }
      expect(await idsOf(usage, { ...query, limit: 9 })).toEqual(['req_4', 'req_3', 'req_2', 'req_1'])
      expect(await idsOf(usage, { ...query, keyId: 'odd', limit: 9 })).toEqual(['req_3', 'req_1'])
      expect((await usage.sum(query)).requests).toBe(4)
      expect((await usage.sum({ ...query, keyId: 'odd' })).requests).toBe(2)
      expect((await usage.sum({ ...query, to: T0 + 1 })).requests).toBe(0)
    })

    test('the list is newest first, whatever the order of coming, and stops at its limit', async () => {
      const { usage } = (await open()).storage
      for (const n of [3, 1, 4, 2, 0]) await usage.append(usageRow(`req_${n}`, { at: T0 + n }))
      expect(await idsOf(usage, { ...always, limit: 3 })).toEqual(['req_4', 'req_3', 'req_2'])
      expect(await idsOf(usage, { ...always, limit: 0 })).toEqual([])
    })

    test('of rows with the same time, the one that came last is the newest', async () => {
      const { usage } = (await open()).storage
      for (const id of ['b', 'c', 'a']) await usage.append(usageRow(id))
      expect(await idsOf(usage, { ...always, limit: 9 })).toEqual(['a', 'c', 'b'])
    })

    test('fractions and NaN are refused and leave no row', async () => {
      const { usage } = (await open()).storage
      for (const fields of [{ cost: 0.5 }, { inputTokens: Number.NaN }, { durationMs: -1 }, { firstContentMs: 1.5 }, { at: 0.5 }])
        await expect(usage.append(usageRow('req_1', fields))).rejects.toThrow('usage.append')
      expect(await usage.find('ws_1', 'req_1')).toBeUndefined()
    })

    test('odd strings come back as they were, also as the keys of metadata', async () => {
      const { usage } = (await open()).storage
      const metadata = Object.fromEntries(ODD_STRINGS.map(odd => [odd, odd]))
      const odd = (text: string) =>
        usageRow(text, { workspaceId: text, keyId: text, modelAsked: text, code: text, warnings: ODD_STRINGS, metadata })
      for (const text of ODD_STRINGS) await usage.append(odd(text))
      for (const text of ODD_STRINGS) {
        const found = await usage.find(text, text)
        expect(found).toEqual(odd(text))
        expect(Object.entries(found?.metadata ?? {})).toEqual(Object.entries(metadata))
        expect((await usage.sum({ ...always, workspaceId: text, keyId: text })).requests).toBe(1)
      }
    })

    test('a caller who changes a row or an answer changes nothing in the store', async () => {
      const { usage } = (await open()).storage
      const given = { ...full, warnings: [...full.warnings], metadata: { ...full.metadata } }
      await usage.append(given)
      for (const answer of [given, await usage.find('ws_1', full.id), await usage.list({ ...always, limit: 9 }), await usage.sum(always)])
        spoil(answer)
      expect(await usage.find('ws_1', full.id)).toEqual(full)
      expect(await usage.list({ ...always, limit: 9 })).toEqual([full])
    })
  })
}
