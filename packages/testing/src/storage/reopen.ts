import { expect, test } from 'vitest'
import { auditRow, put, stored } from './records-samples.ts'
import { type MakeStorage, MINUTE, reopened, T0 } from './subject.ts'
import { usageRow } from './usage.ts'

const record = put('t', { group: 'g', name: 'n', expiresAt: T0 + MINUTE })
const always = { workspaceId: 'ws_1', from: 0, to: T0 * 2 }
const rpm = { key: 'rpm', amount: 2, limit: 2, windowMs: MINUTE }
const slot = { key: 'key_1', slot: 'a', limit: 1, ttlMs: MINUTE }
const accounts = [
  { account: 'a', floor: 0 },
  { account: 'b', floor: 0, amount: 25 },
]
const hold = { id: 'h', amount: 60, accounts, at: T0, journal: () => 'written before' }

/** Conformance suite for durability. `describeReopen(opener(make))` */
export function describeReopen(open: MakeStorage): void {
  test('acknowledged writes are still there after the storage is reopened', async () => {
    const subject = await open()
    const { storage } = subject
    await Promise.all([
      storage.records.commit({
        puts: [record, put('gone')],
        credits: [{ id: 'came in', account: 'b', amount: 40, at: T0, note: 'Thanks' }],
        audit: [auditRow(1)],
      }),
      storage.counters.take([rpm], T0),
      storage.counters.enter(slot, T0),
      storage.usage.append(usageRow('req_1')),
      storage.ledger.credit({ id: 'c', account: 'a', amount: 100, at: T0 }),
    ])
    await storage.records.touch('thing', [{ id: 't', at: T0 + 1 }])
    const changed = { ...record, version: 1, group: 'other' }
    await storage.records.commit({ puts: [changed], removals: [{ kind: 'thing', workspaceId: 'ws_1', id: 'gone', version: 1 }] })
    await storage.ledger.reserve(hold)
    await storage.ledger.reserve({ ...hold, id: 'settled', accounts: [{ account: 'a', floor: 0, amount: 10 }] })
    await storage.ledger.settle({ id: 'settled', amounts: { a: 15 }, at: T0 })

    const again = await reopened(subject)
    expect(await again.records.findByName('thing', 'n')).toEqual(stored(changed, { usedAt: T0 + 1 }))
    expect(await again.records.list({ kind: 'thing', limit: 9 })).toHaveLength(1)
    expect(await again.audit.chain('ws_1', { after: 0, limit: 9 })).toEqual([auditRow(1)])
    expect(await again.records.commit({ audit: [auditRow(1)] })).toEqual({ on: 'audit', workspaceId: 'ws_1' })
    expect(await again.records.commit({ audit: [auditRow(2)] })).toBeUndefined()
    expect(await again.counters.take([rpm], T0 + 1)).toEqual({ key: 'rpm', retryAfterMs: MINUTE - 1 })
    expect(await again.counters.enter({ ...slot, slot: 'b' }, T0 + 1)).toBe(false)
    expect(await again.usage.find('ws_1', 'req_1')).toEqual(usageRow('req_1'))
    await again.ledger.settle({ id: 'settled', amounts: { a: 15 }, at: T0 })
    await again.ledger.credit({ id: 'c', account: 'a', amount: 100, at: T0 })
    await again.usage.append(usageRow('req_1', { cost: 7 }))
    expect(await again.ledger.balance('a')).toEqual({ balance: 85, held: 60, credited: 100, spent: 15 })
    expect(await again.ledger.balance('b')).toEqual({ balance: 40, held: 25, credited: 40, spent: 0 })
    expect(await again.ledger.entries('b', { limit: 9 })).toMatchObject([{ id: 'came in', note: 'Thanks' }])
    expect(await again.ledger.entries('a', { limit: 9 })).toHaveLength(2)
    expect((await again.usage.totals(always))[0]?.cost).toBe(100)
    expect(await again.ledger.holds({ limit: 9 })).toEqual([{ id: 'h', version: 1, journal: 'written before' }])
  })

  test('close writes pending appends', async () => {
    const subject = await open()
    const { storage } = subject
    const pending = Array.from({ length: 1_500 }, (_, n) => storage.usage.append(usageRow(`req_${n}`)))
    await storage.close()
    await Promise.all(pending)
    const again = await reopened(subject)
    expect((await again.usage.totals(always))[0]?.requests).toBe(1_500)
  })
}
