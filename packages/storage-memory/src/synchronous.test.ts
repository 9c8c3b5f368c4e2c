import { isPromise } from '@signalbox/storage/awaitable'
import { asyncStorage } from '@signalbox/testing/storage'
import { expect, test } from 'vitest'
import { memoryStorage } from './index.ts'

const stretch = { from: 0, to: 9 }

test('every call returns synchronously', () => {
  const { records, audit, counters, ledger, usage, routing, ping, close } = memoryStorage()
  const answers = {
    records: {
      commit: records.commit({}),
      find: records.find('k', 'w', 'i'),
      findByName: records.findByName('k', 'n'),
      list: records.list({ kind: 'k', limit: 1 }),
      touch: records.touch('k', [{ id: 'i', at: 1 }]),
      expire: records.expire(1, 1),
    },
    audit: { last: audit.last('w'), list: audit.list({ workspaceId: 'w', limit: 1 }), chain: audit.chain('w', { after: 0, limit: 1 }) },
    counters: {
      take: counters.take([{ key: 'k', amount: 1, limit: 1, windowMs: 1 }], 1),
      add: counters.add('k', 1, 1),
      enter: counters.enter({ key: 'k', slot: 's', limit: 1, ttlMs: 1 }, 1),
      leave: counters.leave('k', 's'),
    },
    ledger: {
      reserve: ledger.reserve({ id: 'h', amount: 0, accounts: [], at: 1 }),
      renew: ledger.renew([{ id: 'h' }]),
      extend: ledger.extend({ id: 'h', accounts: [] }),
      holds: ledger.holds({ limit: 1 }),
      settle: ledger.settle({ id: 'h', amounts: {}, at: 1 }),
      credit: ledger.credit({ id: 'c', account: 'a', amount: 1, at: 1 }),
      balance: ledger.balance('a'),
      entries: ledger.entries('a', { limit: 1 }),
    },
    usage: {
      find: usage.find('w', 'r'),
      totals: usage.totals({ workspaceId: 'w', ...stretch }),
      list: usage.list({ workspaceId: 'w', ...stretch, limit: 1 }),
      count: usage.count({ workspaceId: 'w', ...stretch, limit: 1 }),
      forget: usage.forget({ workspaceId: 'w', before: 1, limit: 1 }),
    },
    routing: {
      publish: routing?.publish([], 1),
      pause: routing?.pause([], 1),
      news: routing?.news({ writer: 'w' }, 1),
      remember: routing?.remember([], 1),
      readers: routing?.readers('k', 1),
    },
    storage: { ping: ping(), close: close() },
  }
  const waiting = Object.entries(answers).flatMap(([store, verbs]) =>
    Object.entries(verbs).flatMap(([verb, answer]) => (isPromise(answer) ? [`${store}.${verb}`] : [])),
  )
  expect(waiting).toEqual([])
})

test('a call with an invalid argument throws synchronously and changes nothing', () => {
  const { ledger, counters } = memoryStorage()
  expect(() => ledger.reserve({ id: 'h', amount: 0.5, accounts: [], at: 1 })).toThrow(RangeError)
  expect(() => counters.enter({ key: 'k', slot: 's', limit: -1, ttlMs: 1 }, 1)).toThrow(RangeError)
  expect(ledger.holds({ limit: 9 })).toEqual([])
})

test('of an `asyncStorage`, every result and every error comes by a promise', async () => {
  const { ledger, ping } = asyncStorage(memoryStorage())
  const refused = ledger.reserve({ id: 'h', amount: 0.5, accounts: [], at: 1 })
  expect([isPromise(ping()), isPromise(ledger.balance('a')), isPromise(refused)]).toEqual([true, true, true])
  await expect(refused).rejects.toThrow(RangeError)
  expect(await ledger.balance('a')).toEqual({ balance: 0, held: 0, credited: 0, spent: 0 })
})
