import type { AuditQuery, AuditRow, Storage } from '@signalbox/storage'
import { describe, expect, test } from 'vitest'
import { auditRow, put } from './records-samples.ts'
import { type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

const all = { workspaceId: 'ws_1', limit: 100 } as const
const placesOf = async ({ audit }: Storage, query: AuditQuery) => (await audit.list(query)).map(({ place }) => place)
const append = ({ records }: Storage, ...rows: readonly AuditRow[]) => records.commit({ audit: rows })

/** Conformance suite for audit chains. `describeAudit(opener(make))` */
export function describeAudit(open: MakeStorage): void {
  describe('audit', () => {
    test('a row reads back as it was written: absent fields stay absent, empty ones stay empty', async () => {
      const { storage } = await open()
      const rows = [
        auditRow(1),
        auditRow(2, { actorKeyId: 'key_1', actorName: 'CI', requestId: 'req_1', ip: '::1', changes: '{"name":["a","b"]}' }),
        auditRow(3, { actorKeyId: '', actorName: '', requestId: '', ip: '', changes: '', event: '', subjectId: '', at: 0 }),
      ]
      expect(await append(storage, ...rows)).toBeUndefined()
      expect(await storage.audit.chain('ws_1', { after: 0, limit: 9 })).toStrictEqual(rows)
      expect(await storage.audit.list(all)).toStrictEqual([...rows].reverse())
      expect(await storage.audit.last('ws_1')).toStrictEqual(rows[2])
    })

    test('each workspace has its own chain, which another workspace cannot read', async () => {
      const { storage } = await open()
      for (const workspaceId of ['ws_1', 'ws_2']) expect(await append(storage, auditRow(1, { workspaceId }))).toBeUndefined()
      expect(await append(storage, auditRow(2))).toBeUndefined()
      expect(await storage.audit.last('ws_1')).toEqual(auditRow(2))
      expect(await storage.audit.last('ws_2')).toEqual(auditRow(1, { workspaceId: 'ws_2' }))
      expect(await storage.audit.last('ws_3')).toBeUndefined()
      expect(await storage.audit.list({ ...all, workspaceId: 'ws_2' })).toHaveLength(1)
      expect(await storage.audit.list({ ...all, workspaceId: 'ws_3' })).toEqual([])
      expect(await storage.audit.chain('ws_3', { after: 0, limit: 9 })).toEqual([])
    })

    test('of concurrent appends at one place one commits; the others get a conflict and change nothing', async () => {
      const { storage } = await open()
      await append(storage, auditRow(1))
      const write = (n: number) => storage.records.commit({ puts: [put(`t${n}`)], audit: [auditRow(2, { id: `by ${n}` }), auditRow(3)] })
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)))
      const winner = answers.indexOf(undefined)
      expect(answers.filter(answer => answer !== undefined)).toEqual(
        Array.from({ length: 19 }, () => ({ on: 'audit', workspaceId: 'ws_1' })),
      )
      expect((await storage.records.list({ kind: 'thing', limit: 99 })).map(({ id }) => id)).toEqual([`t${winner}`])
      expect((await storage.audit.chain('ws_1', { after: 0, limit: 9 })).map(({ id }) => id)).toEqual([
        'audit_1',
        `by ${winner}`,
        'audit_3',
      ])
    })

    test('concurrent writers that retry after a conflict build one chain without gaps', async () => {
      const { storage } = await open()
      const write = async (n: number): Promise<void> => {
        for (;;) {
          const last = await storage.audit.last('ws_1')
          const row = auditRow((last?.place ?? 0) + 1, { id: `by ${n}`, previousHash: last?.hash ?? '', hash: `${last?.hash ?? ''}${n},` })
          if (!(await append(storage, row))) return
        }
      }
      await Promise.all(Array.from({ length: 15 }, (_, n) => write(n)))
      const chain = await storage.audit.chain('ws_1', { after: 0, limit: 99 })
      expect(chain.map(({ place }) => place)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1))
      expect(new Set(chain.map(({ id }) => id)).size).toBe(15)
      for (const [index, row] of chain.entries()) expect(row.previousHash).toBe(chain[index - 1]?.hash ?? '')
    })

    test('the chain is read in pages, oldest first', async () => {
      const { storage } = await open()
      await append(storage, ...Array.from({ length: 25 }, (_, n) => auditRow(n + 1)))
      const seen: number[] = []
      for (;;) {
        const stretch = await storage.audit.chain('ws_1', { after: seen.at(-1) ?? 0, limit: 4 })
        if (stretch.length === 0) break
        seen.push(...stretch.map(({ place }) => place))
      }
      expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n + 1))
      for (const limit of [0, -1]) expect(await storage.audit.chain('ws_1', { after: 0, limit })).toEqual([])
    })

    test('the list is newest first, filtered by event, actor and time, even if times are out of order', async () => {
      const { storage } = await open()
      await append(
        storage,
        auditRow(1, { event: 'thing.made', actorKeyId: 'key_1', at: T0 + 30 }),
        auditRow(2, { event: 'thing.made', actorKeyId: 'key_2', at: T0 + 10 }),
        auditRow(3, { event: 'thing.gone', at: T0 + 20 }),
        auditRow(4, { event: 'thing.gone', actorKeyId: 'key_1', at: T0 + 20 }),
      )
      expect(await placesOf(storage, all)).toEqual([4, 3, 2, 1])
      expect(await placesOf(storage, { ...all, event: 'thing.made' })).toEqual([2, 1])
      expect(await placesOf(storage, { ...all, actorKeyId: 'key_1' })).toEqual([4, 1])
      expect(await placesOf(storage, { ...all, actorKeyId: 'key_1', event: 'thing.gone' })).toEqual([4])
      expect(await placesOf(storage, { ...all, from: T0 + 20 })).toEqual([4, 3, 1])
      expect(await placesOf(storage, { ...all, to: T0 + 20 })).toEqual([2])
      expect(await placesOf(storage, { ...all, from: T0 + 10, to: T0 + 30, limit: 2 })).toEqual([4, 3])
      for (const nobody of [{ event: 'thing' }, { actorKeyId: '' }, { from: T0 + 31 }, { to: T0 }])
        expect(await placesOf(storage, { ...all, ...nobody })).toEqual([])
    })

    test('pages of the list neither skip nor repeat rows while rows are appended', async () => {
      const { storage } = await open()
      await append(storage, ...Array.from({ length: 25 }, (_, n) => auditRow(n + 1, { event: n % 2 ? 'odd' : 'even' })))
      await append(storage, ...[1, 2, 3].map(place => auditRow(place, { workspaceId: 'ws_2', id: `foreign ${place}` })))
      const seen: AuditRow[] = []
      for (;;) {
        const after = seen.at(-1)?.id
        const page = await storage.audit.list({ ...all, event: 'even', limit: 4, ...(after !== undefined && { after }) })
        if (page.length === 0) break
        seen.push(...page)
        const next = ((await storage.audit.last('ws_1'))?.place ?? 0) + 1
        await append(storage, auditRow(next, { event: 'even' }))
      }
      expect(seen.map(({ place }) => place)).toEqual(Array.from({ length: 13 }, (_, n) => 25 - 2 * n))
      expect(await placesOf(storage, { ...all, event: 'even', after: 'audit_4' })).toEqual([3, 1])
      for (const after of ['unknown', 'foreign 3', '']) expect(await storage.audit.list({ ...all, after })).toEqual([])
      for (const limit of [0, -1]) expect(await storage.audit.list({ ...all, limit })).toEqual([])
    })

    test('unusual strings are stored unchanged', async () => {
      const { storage } = await open()
      for (const odd of ODD_STRINGS) {
        const named = { id: odd, workspaceId: odd, event: odd, actorKeyId: odd, actorName: odd, subjectType: odd, subjectId: odd }
        const row = auditRow(1, { ...named, requestId: odd, ip: odd, changes: odd, hash: odd })
        expect(await append(storage, row)).toBeUndefined()
        expect(await append(storage, auditRow(2, { workspaceId: odd, previousHash: odd }))).toBeUndefined()
        expect(await storage.audit.list({ workspaceId: odd, event: odd, actorKeyId: odd, limit: 9 })).toEqual([row])
      }
    })

    test('mutating an argument or a result does not change the store', async () => {
      const { storage } = await open()
      const given = auditRow(1)
      const appending = append(storage, given)
      spoil(given)
      await appending
      for (const answer of [await storage.audit.last('ws_1'), await storage.audit.list(all)]) spoil(answer)
      spoil(await storage.audit.chain('ws_1', { after: 0, limit: 9 }))
      expect(await storage.audit.last('ws_1')).toEqual(auditRow(1))
      expect(await storage.audit.list(all)).toEqual([auditRow(1)])
      expect(await append(storage, auditRow(2))).toBeUndefined()
    })
  })
}
