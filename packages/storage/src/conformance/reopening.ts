import { expect, test } from 'vitest'
import type { StoredKey, StoredWorkspace } from '../storage.ts'
import { type MakeStorage, MINUTE, T0 } from './subject.ts'
import { usageRow } from './usage.ts'

const workspace: StoredWorkspace = { id: 'ws_1', name: 'Ours', billing: 'prepaid', createdAt: T0 }
const key: StoredKey = { id: 'key_1', workspaceId: 'ws_1', name: '', prefix: '', hash: 'hash', scopes: ['a'], createdAt: T0 }
const rpm = { key: 'rpm', amount: 2, limit: 2, windowMs: MINUTE }
const slot = { key: 'key_1', slot: 'a', limit: 1, ttlMs: MINUTE }
const hold = { id: 'h', amount: 60, accounts: [{ account: 'a', floor: 0 }], at: T0, expiresAt: T0 + MINUTE }

/** The suite for what outlives the process. `describeReopening(opener(make))` */
export function describeReopening(open: MakeStorage): void {
  test('what was acknowledged is there after opening again', async context => {
    const { storage, reopen } = await open()
    if (!reopen) return context.skip('nothing outlives the process')
    await Promise.all([
      storage.workspaces.insert(workspace),
      storage.keys.insert(key),
      storage.counters.take([rpm], T0),
      storage.counters.enter(slot, T0),
      storage.usage.append(usageRow('req_1')),
      storage.ledger.credit({ id: 'c', account: 'a', amount: 100, at: T0 }),
    ])
    await storage.keys.touch('key_1', T0 + 1)
    await storage.keys.revoke({ workspaceId: 'ws_1', id: 'key_1', at: T0 + 2 })
    await storage.ledger.reserve(hold)
    await storage.ledger.reserve({ ...hold, id: 'settled', amount: 10 })
    await storage.ledger.settle({ id: 'settled', amounts: { a: 15 }, at: T0 })

    const again = await reopen()
    expect(await again.workspaces.list()).toEqual([workspace])
    expect(await again.keys.findByHash('hash')).toEqual({ ...key, lastUsedAt: T0 + 1, revokedAt: T0 + 2 })
    expect(await again.counters.take([rpm], T0 + 1)).toEqual({ key: 'rpm', retryAfterMs: MINUTE - 1 })
    expect(await again.counters.enter({ ...slot, slot: 'b' }, T0 + 1)).toBe(false)
    expect(await again.usage.find('ws_1', 'req_1')).toEqual(usageRow('req_1'))
    await again.ledger.settle({ id: 'settled', amounts: { a: 15 }, at: T0 })
    await again.ledger.credit({ id: 'c', account: 'a', amount: 100, at: T0 })
    await again.usage.append(usageRow('req_1', { cost: 7 }))
    expect(await again.ledger.balance('a', T0)).toEqual({ balance: 85, held: 60, credited: 100, spent: 15 })
    expect(await again.ledger.entries('a', { limit: 9 })).toHaveLength(2)
    expect((await again.usage.sum({ workspaceId: 'ws_1', from: 0, to: T0 * 2 })).cost).toBe(100)
    expect((await again.ledger.balance('a', T0 + MINUTE)).held).toBe(0)
  })

  test('close writes what is still on its way', async context => {
    const { storage, reopen } = await open()
    if (!reopen) return context.skip('nothing outlives the process')
    const pending = Array.from({ length: 1_500 }, (_, n) => storage.usage.append(usageRow(`req_${n}`)))
    await storage.close()
    await Promise.all(pending)
    const again = await reopen()
    expect((await again.usage.sum({ workspaceId: 'ws_1', from: 0, to: T0 * 2 })).requests).toBe(1_500)
  })
}
