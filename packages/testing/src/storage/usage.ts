import type { UsageRow, UsageStore } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import { describe, expect, test } from 'vitest'
import { DAY, type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

/** A row without optional fields. `usageRow('req_1', { at: T0 + 5 })` */
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
  byokCost: 0,
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
  byokCost: 6,
  result: 'incomplete',
  code: 'provider_timed_out',
  firstContentMs: 0,
  warnings: ['one', 'two'],
  metadata: { team: 'blue', '': '' },
  routing: '{"asked":["maker"]}',
  tags: ['plan:pro', 'ünïcode "quoted"'],
})
const always = { workspaceId: 'ws_1', from: 0, to: T0 * 2 }
const idsOf = async (usage: UsageStore, query: Parameters<UsageStore['list']>[0]) => (await usage.list(query)).map(({ id }) => id)

/** Conformance suite for usage rows. `describeUsage(opener(make))` */
export function describeUsage(open: MakeStorage): void {
  describe('usage', () => {
    test('a row reads back as it was written: absent fields stay absent, 0 and empty fields stay', async () => {
      const { usage } = (await open()).storage
      const rows = [usageRow('req_1'), full, usageRow('req_empty', { metadata: {}, routing: '', tags: [] })]
      for (const row of rows) await usage.append(row)
      for (const row of rows) expect(await usage.find('ws_1', row.id)).toStrictEqual(row)
      expect(await usage.list({ ...always, limit: 9 })).toStrictEqual([...rows].reverse())
    })

    test('the same id twice is one row, the first, also concurrently', async () => {
      const { usage } = (await open()).storage
      await Promise.all(Array.from({ length: 10 }, () => usage.append(usageRow('req_1'))))
      await usage.append(usageRow('req_1', { cost: 999, workspaceId: 'ws_2' }))
      expect(await usage.list({ ...always, limit: 9 })).toEqual([usageRow('req_1')])
      expect(await usage.totals(always)).toMatchObject([{ requests: 1, cost: 100 }])
      expect(await usage.find('ws_2', 'req_1')).toBeUndefined()
    })

    test('a row is found in its own workspace only', async () => {
      const { usage } = (await open()).storage
      await usage.append(usageRow('req_1'))
      expect(await usage.find('ws_2', 'req_1')).toBeUndefined()
      expect(await usage.find('ws_1', 'req_2')).toBeUndefined()
    })

    test('from is inclusive, to is exclusive; filters by key and workspace apply', async () => {
      const { usage } = (await open()).storage
      for (let n = 0; n < 6; n++) await usage.append(usageRow(`req_${n}`, { at: T0 + n, keyId: n % 2 ? 'odd' : 'even' }))
      await usage.append(usageRow('foreign', { workspaceId: 'ws_2', keyId: 'odd', at: T0 + 3 }))
      const query = { workspaceId: 'ws_1', from: T0 + 1, to: T0 + 5 }
      expect(await idsOf(usage, { ...query, limit: 9 })).toEqual(['req_4', 'req_3', 'req_2', 'req_1'])
      expect(await idsOf(usage, { ...query, keyId: 'odd', limit: 9 })).toEqual(['req_3', 'req_1'])
      expect(await usage.totals(query)).toMatchObject([{ requests: 4 }])
      expect(await usage.totals({ ...query, keyId: 'odd' })).toMatchObject([{ requests: 2 }])
      expect(await usage.totals({ ...query, to: T0 + 1 })).toEqual([])
    })

    test('the list is newest first, whatever the order of appending, and ends at its limit', async () => {
      const { usage } = (await open()).storage
      for (const n of [3, 1, 4, 2, 0]) await usage.append(usageRow(`req_${n}`, { at: T0 + n }))
      expect(await idsOf(usage, { ...always, limit: 3 })).toEqual(['req_4', 'req_3', 'req_2'])
      expect(await idsOf(usage, { ...always, limit: 0 })).toEqual([])
    })

    test('of rows with the same time, the one appended last is first in the list', async () => {
      const { usage } = (await open()).storage
      for (const id of ['b', 'c', 'a']) await usage.append(usageRow(id))
      expect(await idsOf(usage, { ...always, limit: 9 })).toEqual(['a', 'c', 'b'])
    })

    test('the list continues after a row, also within one time and if the filter excludes that row', async () => {
      const { usage } = (await open()).storage
      const ids = Array.from({ length: 9 }, (_, n) => `req_${n}`)
      for (const [n, id] of ids.entries()) await usage.append(usageRow(id, { at: T0 + (n < 6 ? 0 : n), model: n % 2 ? 'odd' : 'even' }))
      const newest = ids.toReversed()
      for (const [n, after] of newest.entries()) expect(await idsOf(usage, { ...always, limit: 9, after })).toEqual(newest.slice(n + 1))
      expect(await idsOf(usage, { ...always, limit: 2, after: 'req_7' })).toEqual(['req_6', 'req_5'])
      expect(await idsOf(usage, { ...always, model: 'odd', limit: 2, after: 'req_4' })).toEqual(['req_3', 'req_1'])
      expect(await idsOf(usage, { ...always, from: T0 + 7, limit: 9, after: 'req_8' })).toEqual(['req_7'])
    })

    test('the list is empty after an unknown row, or one of another workspace', async () => {
      const { usage } = (await open()).storage
      await usage.append(usageRow('req_1'))
      await usage.append(usageRow('foreign', { workspaceId: 'ws_2', at: T0 + 1 }))
      for (const after of ['gone', 'foreign']) expect(await idsOf(usage, { ...always, limit: 9, after })).toEqual([])
    })

    test('rows of one workspace are forgotten oldest first, at most limit at a time', async () => {
      const { usage } = (await open()).storage
      for (const n of [3, 1, 4, 0, 2]) await usage.append(usageRow(`req_${n}`, { at: T0 + n }))
      await usage.append(usageRow('foreign', { workspaceId: 'ws_2', at: T0 }))
      const input = { workspaceId: 'ws_1', before: T0 + 4 }
      expect(await usage.forget({ ...input, limit: 0 })).toBe(0)
      expect(await usage.forget({ ...input, limit: 3 })).toBe(3)
      expect(await idsOf(usage, { ...always, limit: 9 })).toEqual(['req_4', 'req_3'])
      expect(await usage.find('ws_1', 'req_0')).toBeUndefined()
      expect(await usage.forget({ ...input, limit: 3 })).toBe(1)
      expect(await usage.forget({ ...input, limit: 3 })).toBe(0)
      expect(await idsOf(usage, { ...always, limit: 9 })).toEqual(['req_4'])
      expect(await usage.find('ws_2', 'foreign')).toBeDefined()
    })

    test('rows appended after all others were forgotten count as usual', async () => {
      const { usage } = (await open()).storage
      for (let round = 0; round < 4; round++) {
        const at = T0 + round * DAY
        for (let n = 0; n < 3; n++) await usage.append(usageRow(`req_${round}_${n}`, { at }))
        expect(await usage.totals({ ...always, from: at })).toMatchObject([{ requests: 3 }])
        expect(await usage.list({ ...always, keyId: 'key_1', limit: 9 })).toHaveLength(3)
        expect(await usage.forget({ workspaceId: 'ws_1', before: T0 * 2, limit: 9 })).toBe(3)
        expect(await usage.list({ ...always, limit: 9 })).toEqual([])
      }
    })

    test('fractions and NaN are refused and store no row', async () => {
      const { usage } = (await open()).storage
      for (const fields of [
        { cost: 0.5 },
        { byokCost: -1 },
        { inputTokens: Number.NaN },
        { durationMs: -1 },
        { firstContentMs: 1.5 },
        { at: 0.5 },
      ])
        await expect(promised(() => usage.append(usageRow('req_1', fields)))).rejects.toThrow('usage.append')
      expect(await usage.find('ws_1', 'req_1')).toBeUndefined()
    })

    test('unusual strings are stored unchanged, also as metadata keys', async () => {
      const { usage } = (await open()).storage
      const metadata = Object.fromEntries(ODD_STRINGS.map(odd => [odd, odd]))
      const named = (text: string) => ({ workspaceId: text, keyId: text, modelAsked: text, model: text, provider: text })
      const odd = (text: string) => usageRow(text, { ...named(text), code: text, warnings: ODD_STRINGS, metadata, routing: text })
      for (const text of ODD_STRINGS) await usage.append(odd(text))
      for (const text of ODD_STRINGS) {
        const found = await usage.find(text, text)
        expect(found).toEqual(odd(text))
        expect(Object.entries(found?.metadata ?? {})).toEqual(Object.entries(metadata))
        for (const filter of [{ keyId: text }, { model: text }, { provider: text }, { keyId: text, model: text }]) {
          expect(await usage.totals({ ...always, workspaceId: text, ...filter })).toMatchObject([{ requests: 1 }])
          expect(await usage.list({ ...always, workspaceId: text, ...filter, limit: 9 })).toEqual([odd(text)])
        }
        expect(await usage.totals({ ...always, workspaceId: text, groupBy: 'key' })).toMatchObject([{ group: text, requests: 1 }])
      }
    })

    test('mutating a row or a result changes nothing in the store', async () => {
      const { usage } = (await open()).storage
      const given = { ...full, warnings: [...full.warnings], metadata: { ...full.metadata }, tags: [...(full.tags ?? [])] }
      await usage.append(given)
      const total = await usage.totals(always)
      const answers = [given, await usage.find('ws_1', full.id), await usage.list({ ...always, limit: 9 }), await usage.totals(always)]
      for (const answer of answers) spoil(answer)
      expect(await usage.find('ws_1', full.id)).toEqual(full)
      expect(await usage.list({ ...always, limit: 9 })).toEqual([full])
      expect(await usage.totals(always)).toEqual(total)
    })
  })
}
