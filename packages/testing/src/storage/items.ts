import { promised } from '@signalbox/storage/awaitable'
import type { ItemStore, ItemTimes, StoredItem } from '@signalbox/storage/items'
import { describe, expect, test } from 'vitest'
import { HOUR, type MakeStorage, MINUTE, ODD_STRINGS, partOf, reopened, spoil, T0 } from './subject.ts'

const item = (id: string, fields: Partial<StoredItem> = {}): StoredItem => ({
  ...{ workspaceId: 'ws_1', id, expiresAt: T0 + HOUR, body: `sealed ${id}` },
  ...fields,
})
const from = (at: number): ItemTimes => ({ at, latest: at + HOUR + MINUTE })
const large = 1_000_000

/** Conformance suite for stored items. `describeItems(opener(make))` */
export function describeItems(open: MakeStorage): void {
  const given = async (): Promise<ItemStore> => partOf((await open()).storage, 'items')
  const idsIn = async (items: ItemStore, ids: readonly string[], { at = T0, workspaceId = 'ws_1' } = {}) =>
    (await items.find(workspaceId, ids, from(at))).map(({ id }) => id).sort()

  describe('items', () => {
    test('are found by id in their own workspace', async () => {
      const items = await given()
      await items.put([item('a'), item('b'), item('a', { workspaceId: 'ws_2', body: 'theirs' })], large, from(T0))
      expect(await items.find('ws_1', ['a', 'a', 'c'], from(T0))).toEqual([item('a')])
      expect(await items.find('ws_2', ['a', 'b'], from(T0))).toEqual([item('a', { workspaceId: 'ws_2', body: 'theirs' })])
      expect(await idsIn(items, [])).toEqual([])
    })

    test('expire at their time, unless they are renewed', async () => {
      const items = await given()
      await items.put([item('a'), item('b')], large, from(T0))
      expect(await idsIn(items, ['a', 'b'], { at: T0 + HOUR - 1 })).toEqual(['a', 'b'])
      await items.renew('ws_1', ['a', 'unknown'], { until: T0 + HOUR + MINUTE, at: T0 })
      await items.renew('ws_2', ['b'], { until: T0 + HOUR + MINUTE, at: T0 })
      expect(await items.find('ws_1', ['a', 'b'], from(T0 + HOUR))).toEqual([item('a', { expiresAt: T0 + HOUR + MINUTE })])
      expect(await idsIn(items, ['a'], { at: T0 + HOUR + MINUTE })).toEqual([])
    })

    test('are not found after the clock was set back by more than the allowed clock difference', async () => {
      const items = await given()
      await items.put([item('a')], large, from(T0))
      expect(await idsIn(items, ['a'], { at: T0 - MINUTE })).toEqual(['a'])
      expect(await idsIn(items, ['a'], { at: T0 - MINUTE - 1 })).toEqual([])
      await items.put([item('b', { expiresAt: T0 - HOUR })], large, from(T0 - 2 * HOUR))
      expect(await idsIn(items, ['a', 'b'], { at: T0 - 2 * HOUR })).toEqual(['b'])
    })

    test('with the same id are not found, and the id is free again once they have expired', async () => {
      const items = await given()
      await items.put([item('a')], large, from(T0))
      await items.put([item('a', { body: 'another' })], large, from(T0))
      expect(await idsIn(items, ['a'])).toEqual([])
      await items.put([item('a', { expiresAt: T0 + 3 * HOUR, body: 'later' })], large, from(T0 + 2 * HOUR))
      expect(await items.find('ws_1', ['a'], from(T0 + 2 * HOUR))).toMatchObject([{ body: 'later' }])
    })

    test('are bounded in bytes per workspace: those that expire first are evicted first', async () => {
      const items = await given()
      const bytes = (id: string, fields: Partial<StoredItem> = {}) => item(id, { body: 'x'.repeat(400), ...fields })
      await items.put([bytes('a', { workspaceId: 'ws_2' })], 1_000, from(T0))
      await items.put([bytes('a'), bytes('b')], 1_000, from(T0))
      await items.renew('ws_1', ['a'], { until: T0 + HOUR + 1, at: T0 })
      await items.put([bytes('c', { expiresAt: T0 + HOUR + 2 })], 1_000, from(T0))
      expect(await idsIn(items, ['a', 'b', 'c'])).toEqual(['a', 'c'])
      await items.put([bytes('huge', { body: 'x'.repeat(1_001), expiresAt: T0 + HOUR + 3 })], 1_000, from(T0))
      expect(await idsIn(items, ['a', 'b', 'c', 'huge'])).toEqual([])
      expect(await idsIn(items, ['a'], { workspaceId: 'ws_2' })).toEqual(['a'])
      await items.put([bytes('d'), bytes('e')], 1_000, from(T0))
      expect(await idsIn(items, ['d', 'e'])).toEqual(['d', 'e'])
    })

    test('may have unusual ids, workspaces and bodies', async () => {
      const items = await given()
      const odd = ODD_STRINGS.filter(text => text !== '')
      const rows = odd.map(text => item(text, { workspaceId: text, body: text }))
      await items.put(rows, large, from(T0))
      for (const row of rows) expect(await items.find(row.workspaceId, odd, from(T0))).toEqual([row])
    })

    test('with invalid times or bounds make the whole call fail', async () => {
      const items = await given()
      const bad: readonly (() => unknown)[] = [
        () => items.put([item('a'), item('b', { expiresAt: Number.NaN })], large, from(T0)),
        () => items.put([item('a')], -1, from(T0)),
        () => items.put([item('a')], large, { at: 0.5, latest: T0 }),
        () => items.renew('ws_1', ['a'], { until: Number.POSITIVE_INFINITY, at: T0 }),
      ]
      for (const call of bad) await expect(promised(async () => call())).rejects.toThrow(/^items\./)
      expect(await idsIn(items, ['a', 'b'])).toEqual([])
    })

    test('are not changed by mutating a row or a result', async () => {
      const items = await given()
      const mine = item('a')
      const put = promised(() => items.put([mine], large, from(T0)))
      spoil(mine)
      await put
      spoil(await items.find('ws_1', ['a'], from(T0)))
      expect(await items.find('ws_1', ['a'], from(T0))).toEqual([item('a')])
    })
  })
}

/** Conformance suite for stored items that outlive the process. `describeReopenedItems(opener(make))` */
export function describeReopenedItems(open: MakeStorage): void {
  test('items are still there after the process restarts', async () => {
    const subject = await open()
    await partOf(subject.storage, 'items').put([item('a')], large, from(T0))
    const again = partOf(await reopened(subject), 'items')
    expect(await again.find('ws_1', ['a'], from(T0))).toEqual([item('a')])
  })
}
