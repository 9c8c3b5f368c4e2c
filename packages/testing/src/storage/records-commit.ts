import type { Storage } from '@signalbox/storage'
import { allSettled } from '@signalbox/storage/awaitable'
import { maxSum } from '@signalbox/storage/faults'
import type { Change, Conflict } from '@signalbox/storage/records'
import { describe, expect, test } from 'vitest'
import { auditRow, keep, put, stale, stored } from './records-samples.ts'
import { type MakeStorage, T0 } from './subject.ts'

const credit = (id: string, amount = 100) => ({ id, account: 'a', amount, at: T0 })
const removal = (id: string, version = 1) => ({ kind: 'thing', workspaceId: 'ws_1', id, version })

/** Everything that a commit can change. */
const everything = async ({ records, audit, ledger }: Storage) => ({
  things: await records.list({ kind: 'thing', limit: 1_000 }),
  others: await records.list({ kind: 'other', limit: 1_000 }),
  named: await Promise.all(['n', 'mine', 'free'].map(name => records.findByName('thing', name))),
  chain: await audit.chain('ws_1', { after: 0, limit: 1_000 }),
  balance: await ledger.balance('a'),
  entries: await ledger.entries('a', { limit: 1_000 }),
})

/** Sets up two records, one of them changed once, an audit row and a credit. */
async function prepare(storage: Storage): Promise<void> {
  await keep(storage.records, put('t', { name: 'n', group: 'g' }), put('u', { name: 'mine' }))
  await keep(storage.records, put('u', { name: 'mine', version: 1 }))
  await storage.records.commit({ credits: [credit('first')], audit: [auditRow(1)] })
}

/** Valid changes, to check whether they are rolled back. */
const fine: Required<Change> = {
  puts: [put('new', { name: 'free' }), put('u', { version: 2, body: '{"changed":true}' })],
  removals: [removal('t')],
  credits: [credit('second')],
  audit: [auditRow(2)],
}

type Case = readonly [what: string, change: Partial<Change>, conflict: Conflict]
const CONFLICTS: readonly Case[] = [
  ['a new record whose id is taken', { puts: [...fine.puts, put('t')], removals: [] }, stale('t')],
  ['a new record whose id is taken elsewhere', { puts: [put('t', { workspaceId: 'ws_2' })], removals: [] }, stale('t')],
  ['a put of an old version', { puts: [fine.puts[0] ?? put('new'), put('u', { version: 1 })] }, stale('u')],
  ['a put of a version to come', { puts: [put('u', { version: 3 })] }, stale('u')],
  ['a put of what is not there', { puts: [put('x', { version: 1 })] }, stale('x')],
  ['a put of what is in another workspace', { puts: [put('u', { version: 2, workspaceId: 'ws_2' })] }, stale('u')],
  ['a removal of an old version', { removals: [removal('t'), removal('u')], puts: [put('new')] }, stale('u')],
  ['a removal of what is not there', { removals: [removal('x')] }, stale('x')],
  ['a removal of what is in another workspace', { removals: [{ ...removal('t'), workspaceId: 'ws_2' }] }, stale('t')],
  [
    'a removal of what is of another kind',
    { removals: [{ ...removal('t'), kind: 'other' }] },
    { ...stale('t'), kind: 'other' } as Conflict,
  ],
  ['a new name that is taken', { puts: [...fine.puts, put('v', { name: 'n' })], removals: [] }, { on: 'name', kind: 'thing', name: 'n' }],
  [
    'a name that is taken in another workspace',
    { puts: [put('v', { name: 'n', workspaceId: 'ws_2' })], removals: [] },
    { on: 'name', kind: 'thing', name: 'n' },
  ],
  ['a changed name that is taken', { puts: [put('u', { version: 2, name: 'n' })], removals: [] }, { on: 'name', kind: 'thing', name: 'n' }],
  ['two with one name', { puts: [put('v', { name: 'free' }), put('w', { name: 'free' })] }, { on: 'name', kind: 'thing', name: 'free' }],
  ['a credit that is there', { credits: [credit('second'), credit('first')] }, { on: 'credit', account: 'a', id: 'first' }],
  [
    'an adjustment that is there',
    { credits: [{ ...credit('first', -5), kind: 'adjustment' }] },
    { on: 'credit', account: 'a', id: 'first' },
  ],
  ['one credit twice', { credits: [credit('second'), credit('second')] }, { on: 'credit', account: 'a', id: 'second' }],
  ['a credit that its account has no room for', { credits: [credit('most', maxSum)] }, { on: 'sum', account: 'a', id: 'most' }],
  [
    'two credits that its account has no room for together',
    { credits: [credit('second', maxSum - 100), credit('third', 1)] },
    { on: 'sum', account: 'a', id: 'third' },
  ],
  ['an audit row in a place that is taken', { audit: [auditRow(1), auditRow(2)] }, { on: 'audit', workspaceId: 'ws_1' }],
  ['an audit row that leaves a place out', { audit: [auditRow(3, { previousHash: 'hash 1' })] }, { on: 'audit', workspaceId: 'ws_1' }],
  ['an audit row that goes back a place', { audit: [auditRow(1, { previousHash: 'hash 1' })] }, { on: 'audit', workspaceId: 'ws_1' }],
  ['an audit row with another hash before it', { audit: [auditRow(2, { previousHash: 'x' })] }, { on: 'audit', workspaceId: 'ws_1' }],
  [
    'a first audit row that follows something',
    { audit: [auditRow(1, { workspaceId: 'ws_2', previousHash: 'x' })] },
    { on: 'audit', workspaceId: 'ws_2' },
  ],
]

type Fault = readonly [what: string, change: Change]
const FAULTS: readonly Fault[] = [
  ...[-1, 0.5, Number.NaN].map(version => [`version ${version}`, { puts: [put('x', { version })] }] as const),
  ['a removal of version 0', { removals: [removal('x', 0)] }],
  ['one record twice', { puts: [put('x'), put('x', { version: 1 })] }],
  ['one record put and removed', { puts: [put('t', { version: 1 })], removals: [removal('t')] }],
  ...[Number.NaN, 0.5].flatMap(at => [
    [`createdAt ${at}`, { puts: [put('x', { createdAt: at })] }] as const,
    [`expiresAt ${at}`, { puts: [put('x', { expiresAt: at })] }] as const,
    [`an audit row at ${at}`, { audit: [auditRow(2, { at })] }] as const,
  ]),
  ['a credit of nothing', { credits: [credit('second', 0)] }],
  ['a credit below 0', { credits: [credit('second', -1)] }],
  ['audit place 0', { audit: [auditRow(0)] }],
  ['audit rows with a gap', { audit: [auditRow(2), auditRow(4)] }],
  ['audit rows of two workspaces', { audit: [auditRow(2), auditRow(3, { workspaceId: 'ws_2' })] }],
  ['audit rows that do not follow each other', { audit: [auditRow(2), auditRow(3, { previousHash: 'x' })] }],
]

/** Conformance suite for atomic commits. `describeCommit(opener(make))` */
export function describeCommit(open: MakeStorage): void {
  describe('a change', () => {
    test('is applied completely: records, credit and audit', async () => {
      const { storage } = await open()
      await prepare(storage)
      expect(await storage.records.commit(fine)).toBeUndefined()
      const { things, chain, balance, entries } = await everything(storage)
      expect(things).toEqual([stored(put('u', { version: 2, body: '{"changed":true}' })), stored(put('new', { name: 'free' }))])
      expect(chain).toEqual([auditRow(1), auditRow(2)])
      expect(balance).toEqual({ balance: 200, held: 0, credited: 200, spent: 0 })
      expect(entries.map(({ id }) => id)).toEqual(['second', 'first'])
    })

    test.each(CONFLICTS)('with %s returns the conflict and changes nothing', async (_, change, conflict) => {
      const { storage } = await open()
      await prepare(storage)
      const before = await everything(storage)
      // A concurrent commit, which must not be affected.
      const [answer] = await Promise.all([
        storage.records.commit({ ...fine, ...change }),
        storage.records.commit({ puts: [put('beside', { kind: 'beside' })] }),
        storage.ledger.credit({ ...credit('beside'), account: 'beside' }),
      ])
      expect(answer).toEqual(conflict)
      expect(await everything(storage)).toEqual(before)
      expect(await storage.records.find('beside', 'ws_1', 'beside')).toBeDefined()
      expect((await storage.ledger.balance('beside')).balance).toBe(100)
      expect(await storage.records.commit(fine)).toBeUndefined()
    })

    test.each(FAULTS)('with %s is refused', async (_, change) => {
      const { storage } = await open()
      await prepare(storage)
      const before = await everything(storage)
      const outcome = await allSettled<unknown>([() => storage.records.commit({ ...fine, ...change }), () => storage.ping()])
      expect(outcome.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
      expect(await everything(storage)).toEqual(before)
    })

    test('may move a name from one record to another, or swap names in one commit', async () => {
      const { records } = (await open()).storage
      await keep(records, put('a', { name: 'one' }), put('b', { name: 'two' }))
      await keep(records, put('a', { version: 1, name: 'two' }), put('b', { version: 1, name: 'one' }))
      expect((await records.findByName('thing', 'one'))?.id).toBe('b')
      expect((await records.findByName('thing', 'two'))?.id).toBe('a')
      await keep(records, put('c', { name: 'one' }), put('b', { version: 2 }))
      expect(await records.commit({ puts: [put('d', { name: 'two' })], removals: [removal('a', 2)] })).toBeUndefined()
      expect((await records.findByName('thing', 'one'))?.id).toBe('c')
      expect((await records.findByName('thing', 'two'))?.id).toBe('d')
    })

    test('may keep the record’s own name', async () => {
      const { records } = (await open()).storage
      await keep(records, put('a', { name: 'one' }))
      await keep(records, put('a', { version: 1, name: 'one', body: '[]' }))
      expect((await records.findByName('thing', 'one'))?.version).toBe(2)
      expect(await records.commit({ puts: [put('b', { name: 'one' }), put('a', { version: 2, name: 'one' })] })).toEqual({
        on: 'name',
        kind: 'thing',
        name: 'one',
      })
    })
  })

  describe('of many changes at once', () => {
    test('exactly one of many on the same version succeeds', async () => {
      const { records } = (await open()).storage
      await keep(records, put('t'))
      const tries = Array.from({ length: 50 }, (_, n) =>
        records.commit({ puts: [put('t', { version: 1, body: `${n}` }), put(`made by ${n}`)] }),
      )
      const answers = await Promise.all(tries)
      const winner = answers.indexOf(undefined)
      expect(answers.filter(answer => answer !== undefined)).toEqual(Array.from({ length: 49 }, () => stale('t')))
      const left = await records.list({ kind: 'thing', limit: 100 })
      expect(left).toEqual([stored(put('t', { version: 1, body: `${winner}` })), stored(put(`made by ${winner}`))])
    })

    test('exactly one of many for the same new id or name succeeds', async () => {
      const { records } = (await open()).storage
      const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => records.commit({ puts: [put('t', { body: `${n}` })] })))
      expect(ids.filter(answer => answer === undefined)).toHaveLength(1)
      const names = await Promise.all(
        Array.from({ length: 20 }, (_, n) => records.commit({ puts: [put(`t${n}`, { name: 'n', workspaceId: `ws_${n}` })] })),
      )
      expect(names.filter(answer => answer === undefined)).toHaveLength(1)
      expect(await records.list({ kind: 'thing', limit: 100 })).toHaveLength(2)
    })

    test('none is lost if each retries after a conflict', async () => {
      const { records } = (await open()).storage
      await keep(records, put('t', { body: '0' }))
      const addOne = async (): Promise<void> => {
        for (;;) {
          const { version = 0, body = '' } = (await records.find('thing', 'ws_1', 't')) ?? {}
          if (!(await records.commit({ puts: [put('t', { version, body: `${Number(body) + 1}` })] }))) return
        }
      }
      await Promise.all(Array.from({ length: 20 }, addOne))
      expect(await records.find('thing', 'ws_1', 't')).toMatchObject({ version: 21, body: '20' })
    })
  })

  describe('credit in a change', () => {
    test('is booked once, whether by a change or directly', async () => {
      const { records, ledger } = (await open()).storage
      const given = { ...credit('gift'), note: 'Welcome' }
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => records.commit({ puts: [put(`t${n}`)], credits: [given] })))
      expect(answers.filter(answer => answer === undefined)).toHaveLength(1)
      await ledger.credit({ ...given, amount: 7 })
      await ledger.credit(credit('alone'))
      expect(await records.commit({ credits: [credit('alone')] })).toEqual({ on: 'credit', account: 'a', id: 'alone' })
      expect(await records.commit({ credits: [{ ...credit('alone'), account: 'b' }] })).toBeUndefined()
      expect(await ledger.balance('a')).toEqual({ balance: 200, held: 0, credited: 200, spent: 0 })
      expect((await ledger.balance('b')).balance).toBe(100)
      expect(await ledger.entries('a', { limit: 1, id: 'gift' })).toEqual([
        { id: 'gift', account: 'a', kind: 'credit', amount: 100, balanceAfter: 100, at: T0, note: 'Welcome' },
      ])
      expect(await records.list({ kind: 'thing', limit: 100 })).toHaveLength(1)
    })

    test('can be spent at once, and reversed by an adjustment', async () => {
      const { records, ledger } = (await open()).storage
      await records.commit({ credits: [credit('gift')] })
      expect(await ledger.reserve({ id: 'h', amount: 100, accounts: [{ account: 'a', floor: 0 }], at: T0 })).toBeUndefined()
      await records.commit({ credits: [{ ...credit('mistake', -130), kind: 'adjustment', note: 'Meant for another' }] })
      expect(await ledger.balance('a')).toEqual({ balance: -30, held: 100, credited: -30, spent: 0 })
    })
  })
}
