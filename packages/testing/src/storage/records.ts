import { promised } from '@signalbox/storage/awaitable'
import type { RecordQuery, RecordStore } from '@signalbox/storage/records'
import { describe, expect, test } from 'vitest'
import { keep, put, stored } from './records-samples.ts'
import { type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

const ofOurs = { kind: 'thing', workspaceId: 'ws_1', limit: 100 } as const
const idsOf = async (records: RecordStore, query: RecordQuery) => (await records.list(query)).map(({ id }) => id)

/** Conformance suite for finding records. `describeRecords(opener(make))` */
export function describeRecords(open: MakeStorage): void {
  const openRecords = async (): Promise<RecordStore> => (await open()).storage.records

  describe('records', () => {
    test('a record reads back as it was written, as version 1: absent fields stay absent, 0 and empty fields stay', async () => {
      const records = await openRecords()
      const plain = put('plain')
      const full = put('full', { group: 'g', name: 'n', createdAt: T0 + 1, expiresAt: T0 + 2, body: '{"a":[1]}' })
      const empty = put('empty', { group: '', name: '', createdAt: 0, expiresAt: 0, body: '' })
      await keep(records, plain, full, empty)
      for (const given of [plain, full, empty]) expect(await records.find('thing', 'ws_1', given.id)).toStrictEqual(stored(given))
      expect(await records.findByName('thing', 'n')).toStrictEqual(stored(full))
      expect(await records.findByName('thing', '')).toStrictEqual(stored(empty))
      expect(await records.list(ofOurs)).toStrictEqual([plain, full, empty].map(given => stored(given)))
    })

    test('a put replaces the whole record, except its last use', async () => {
      const records = await openRecords()
      await keep(records, put('t', { group: 'g', name: 'n', expiresAt: T0 + 9, body: '{"old":1}' }))
      await records.touch('thing', [{ id: 't', at: T0 + 5 }])
      const next = put('t', { version: 1, createdAt: T0 + 1, body: '{"new":1}' })
      await keep(records, next)
      expect(await records.find('thing', 'ws_1', 't')).toStrictEqual(stored(next, { usedAt: T0 + 5 }))
      expect(await records.findByName('thing', 'n')).toBeUndefined()
    })

    test('each kind has its own ids and names', async () => {
      const records = await openRecords()
      const [one, other] = [put('t', { name: 'n' }), put('t', { kind: 'other', name: 'n', workspaceId: 'ws_2' })]
      await keep(records, one, other)
      expect(await records.find('thing', 'ws_1', 't')).toEqual(stored(one))
      expect(await records.findByName('other', 'n')).toEqual(stored(other))
      expect(await records.find('nothing', 'ws_1', 't')).toBeUndefined()
    })

    test('a record of another workspace is found only by its name', async () => {
      const records = await openRecords()
      await keep(records, put('t', { name: 'n' }))
      expect(await records.find('thing', 'ws_2', 't')).toBeUndefined()
      expect(await records.list({ ...ofOurs, workspaceId: 'ws_2' })).toEqual([])
      expect((await records.findByName('thing', 'n'))?.workspaceId).toBe('ws_1')
    })

    test('a record is found by its full name only', async () => {
      const records = await openRecords()
      const name = '9f86d081884c7d659a2feaa0c55ad015'
      await keep(records, put('t', { name }))
      for (const near of [name.slice(0, -1), `${name}0`, name.toUpperCase(), name.replace('9', '8'), '', '%', 't', '__proto__'])
        expect(await records.findByName('thing', near)).toBeUndefined()
    })

    test('a removed record is gone, and its id and name are free', async () => {
      const records = await openRecords()
      await keep(records, put('t', { name: 'n' }), put('u'))
      await records.touch('thing', [{ id: 't', at: T0 }])
      expect(await records.commit({ removals: [{ kind: 'thing', workspaceId: 'ws_1', id: 't', version: 1 }] })).toBeUndefined()
      expect(await records.find('thing', 'ws_1', 't')).toBeUndefined()
      expect(await records.findByName('thing', 'n')).toBeUndefined()
      expect(await idsOf(records, ofOurs)).toEqual(['u'])
      await keep(records, put('t', { name: 'n', workspaceId: 'ws_2' }))
      expect(await records.findByName('thing', 'n')).toStrictEqual(stored(put('t', { name: 'n', workspaceId: 'ws_2' })))
    })

    test('an empty change changes nothing', async () => {
      const records = await openRecords()
      expect(await records.commit({})).toBeUndefined()
      expect(await records.commit({ puts: [], removals: [], credits: [], audit: [] })).toBeUndefined()
      await records.touch('thing', [])
      expect(await records.list({ kind: 'thing', limit: 9 })).toEqual([])
    })
  })

  describe('lists of records', () => {
    test('are in order of creation, whatever their times, also after changes', async () => {
      const records = await openRecords()
      await keep(records, put('c', { createdAt: T0 + 9 }), put('a', { createdAt: T0 + 5 }))
      await keep(records, put('b'))
      await keep(records, put('c', { version: 1, createdAt: T0 + 99 }), put('a', { version: 1, createdAt: 0 }))
      expect(await idsOf(records, ofOurs)).toEqual(['c', 'a', 'b'])
    })

    test('contain one workspace, or all', async () => {
      const records = await openRecords()
      for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) await keep(records, put(id, { workspaceId: index % 2 ? 'ws_2' : 'ws_1' }))
      await keep(records, put('e', { kind: 'other' }))
      expect(await idsOf(records, ofOurs)).toEqual(['a', 'c'])
      expect(await idsOf(records, { kind: 'thing', limit: 9 })).toEqual(['a', 'b', 'c', 'd'])
      expect(await idsOf(records, { kind: 'nothing', limit: 9 })).toEqual([])
    })

    test('can be filtered by group, and a record without a group is in none', async () => {
      const records = await openRecords()
      for (const [id, group] of [
        ['a', 'red'],
        ['b', 'blue'],
        ['c', ''],
        ['d', 'red'],
      ] as const)
        await keep(records, put(id, { group }))
      await keep(records, put('none'), put('foreign', { group: 'red', workspaceId: 'ws_2' }))
      expect(await idsOf(records, { ...ofOurs, groups: ['red'] })).toEqual(['a', 'd'])
      expect(await idsOf(records, { ...ofOurs, groups: ['blue', 'red', 'green'] })).toEqual(['a', 'b', 'd'])
      expect(await idsOf(records, { ...ofOurs, groups: [''] })).toEqual(['c'])
      expect(await idsOf(records, { ...ofOurs, groups: [] })).toEqual([])
      expect(await idsOf(records, { kind: 'thing', groups: ['red'], limit: 9 })).toEqual(['a', 'd', 'foreign'])
    })

    test('have pages that neither skip nor repeat while records change and are removed', async () => {
      const records = await openRecords()
      const ids = Array.from({ length: 25 }, (_, n) => `t${n}`)
      await keep(records, ...ids.flatMap(id => [put(id, { group: 'live' }), put(`foreign ${id}`, { workspaceId: 'ws_2', group: 'live' })]))
      const seen: string[] = []
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await idsOf(records, { ...ofOurs, groups: ['live'], limit: 4, ...(after !== undefined && { after }) })
        if (page.length === 0) break
        seen.push(...page)
        // The record to continue after leaves the group, and another one that was returned is removed.
        await keep(records, put(page.at(-1) ?? '', { version: 1, group: 'over' }))
        await records.commit({ removals: [{ kind: 'thing', workspaceId: 'ws_1', id: page[0] ?? '', version: page.length > 1 ? 1 : 2 }] })
      }
      expect(seen).toEqual(ids)
    })

    test('are empty after an unknown record, or one of another workspace', async () => {
      const records = await openRecords()
      await keep(records, put('a'), put('foreign', { workspaceId: 'ws_2' }), put('b'), put('other', { kind: 'other' }))
      expect(await idsOf(records, { ...ofOurs, after: 'a' })).toEqual(['b'])
      expect(await idsOf(records, { kind: 'thing', after: 'a', limit: 9 })).toEqual(['foreign', 'b'])
      for (const after of ['unknown', 'foreign', 'other', '']) expect(await records.list({ ...ofOurs, after })).toEqual([])
    })

    test('with a limit of 0 or less are empty', async () => {
      const records = await openRecords()
      await keep(records, put('a'))
      for (const limit of [0, -1]) expect(await records.list({ ...ofOurs, limit })).toEqual([])
    })
  })

  describe('last use and expiry of records', () => {
    test('the last use never moves back, does not change the version, and ignores missing records', async () => {
      const records = await openRecords()
      await keep(records, put('t'), put('u'), put('t', { kind: 'other' }))
      const uses = [
        { id: 't', at: T0 + 10 },
        { id: 'gone', at: T0 },
        { id: 't', at: T0 + 5 },
        { id: 'u', at: T0 + 7 },
      ]
      await records.touch('thing', uses)
      await records.touch('thing', [{ id: 't', at: T0 + 9 }])
      await records.touch('nothing', [{ id: 't', at: T0 + 90 }])
      expect(await records.find('thing', 'ws_1', 't')).toStrictEqual(stored(put('t'), { usedAt: T0 + 10 }))
      expect((await records.find('thing', 'ws_1', 'u'))?.usedAt).toBe(T0 + 7)
      expect(await records.find('other', 'ws_1', 't')).toStrictEqual(stored(put('t', { kind: 'other' })))
      await Promise.all([30, 50, 40].map(ms => records.touch('thing', [{ id: 't', at: T0 + ms }])))
      expect((await records.list(ofOurs))[0]).toMatchObject({ version: 1, usedAt: T0 + 50 })
    })

    test('expired records are found until they are removed, up to a limit at a time, and others stay', async () => {
      const records = await openRecords()
      await keep(records, ...Array.from({ length: 10 }, (_, n) => put(`t${n}`, { expiresAt: T0 + n, name: `n${n}` })), put('ever'))
      await keep(records, put('other', { kind: 'other', workspaceId: 'ws_2', expiresAt: T0 }))
      expect(await records.expire(T0 - 1, 100)).toBe(0)
      expect(await records.expire(T0 + 4, 0)).toBe(0)
      expect(await idsOf(records, ofOurs)).toHaveLength(11)
      expect(await records.expire(T0 + 4, 2)).toBe(2)
      expect(await records.expire(T0 + 4, 100)).toBe(4)
      expect(await records.expire(T0 + 4, 100)).toBe(0)
      expect(await idsOf(records, ofOurs)).toEqual(['t5', 't6', 't7', 't8', 't9', 'ever'])
      expect(await records.findByName('thing', 'n4')).toBeUndefined()
      expect(await records.find('other', 'ws_2', 'other')).toBeUndefined()
      await keep(records, put('t0', { name: 'n4' }))
    })

    test('times that are not integers are refused and change nothing', async () => {
      const records = await openRecords()
      await keep(records, put('t', { expiresAt: T0 }))
      for (const at of [Number.NaN, 0.5, Number.POSITIVE_INFINITY]) {
        await expect(
          promised(() =>
            records.touch('thing', [
              { id: 't', at: T0 },
              { id: 't', at },
            ]),
          ),
        ).rejects.toThrow('touch')
        await expect(promised(() => records.expire(at, 9))).rejects.toThrow('expire')
      }
      expect(await records.find('thing', 'ws_1', 't')).toStrictEqual(stored(put('t', { expiresAt: T0 })))
    })
  })

  test('unusual strings are accepted as kinds, workspaces, ids, groups and names', async () => {
    const records = await openRecords()
    const odd = (text: string) => put(text, { kind: text, workspaceId: text, group: text, name: text, body: text })
    for (const text of ODD_STRINGS) await keep(records, odd(text))
    for (const text of ODD_STRINGS) {
      expect(await records.find(text, text, text)).toEqual(stored(odd(text)))
      expect(await records.findByName(text, text)).toEqual(stored(odd(text)))
      expect(await records.list({ kind: text, workspaceId: text, groups: [text], limit: 9 })).toEqual([stored(odd(text))])
      await records.touch(text, [{ id: text, at: T0 }])
      expect((await records.find(text, text, text))?.usedAt).toBe(T0)
    }
  })

  test('mutating an argument or a result changes nothing in the store', async () => {
    const records = await openRecords()
    const given = put('t', { group: 'g', name: 'n' })
    const kept = stored({ ...given })
    const committing = records.commit({ puts: [given] })
    spoil(given)
    await committing
    for (const answer of [await records.find('thing', 'ws_1', 't'), await records.findByName('thing', 'n'), await records.list(ofOurs)])
      spoil(answer)
    expect(await records.find('thing', 'ws_1', 't')).toEqual(kept)
    expect(await records.findByName('thing', 'n')).toEqual(kept)
    expect(await records.list({ ...ofOurs, groups: ['g'] })).toEqual([kept])
  })
}
