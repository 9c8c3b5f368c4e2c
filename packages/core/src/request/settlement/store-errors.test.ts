import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { budget, createFixture } from '../../../test/money/fixture.ts'
import { creditAccount } from '../../access/accounts.ts'

interface Fault {
  /** How a verb responds and fails. */
  readonly manner: 'at once' | 'by promise'
  /** The number of the verb that fails, 1 for the first. */
  readonly at: number
  /** All after it fail too. */
  readonly lasts: boolean
}

/** The same store, in which verbs fail; `verbs` gets the name of each one that was called. */
function failing(storage: Storage, { manner, at, lasts }: Fault, verbs: string[]): Storage {
  const watched = <Store extends object>(name: string, store: Store): Store =>
    new Proxy(store, {
      get(target, field) {
        const verb: unknown = Reflect.get(target, field)
        if (typeof verb !== 'function') return verb
        const ask = (...given: readonly unknown[]): unknown => {
          verbs.push(`${name}.${String(field)}`)
          if (verbs.length === at || (lasts && verbs.length > at)) throw new Error('SQLITE_IOERR: disk I/O error')
          return verb.apply(target, given)
        }
        return manner === 'at once' ? ask : async (...given: readonly unknown[]) => ask(...given)
      },
    })
  const { counters, ledger } = storage
  const { settle } = storage
  return { ...storage, counters: watched('counters', counters), ledger: watched('ledger', ledger), ...watched('storage', { settle }) }
}

/** One request with a store that fails: its outcome, the store calls, and the balances after it. */
async function play(fault: Fault) {
  const kept = memoryStorage()
  const verbs: string[] = []
  const notified: unknown[] = []
  const { ask, clock } = createFixture({
    workspace: { limits: { concurrentRequests: 5 } },
    budgets: [budget('b', { limit: 60, alertAt: [0.25] })],
    caller: { limits: { tokensPerMinute: 1_000, concurrentRequests: 5 } },
    engine: { storage: failing(kept, fault, verbs), hooks: { onBudget: facts => void notified.push(facts) } },
  })
  const account = creditAccount('workspace')
  await kept.ledger.credit({ id: 'start', account, amount: 1_000, at: clock.now() })
  const answer = await ask().catch((error: { readonly code?: string }) => ({ output: error.code }))
  await new Promise(resolve => setImmediate(resolve))
  const slots = ['workspace/slots:key', 'workspace/slots'].map(key =>
    kept.counters.enter({ key, slot: 'x', limit: 1, ttlMs: 1 }, clock.now()),
  )
  // Room for all but the tokens that are counted.
  const counter = `workspace/tpm:key:${Math.floor(clock.now() / 60_000)}`
  const rooms = [1_000, 986, 985].map(amount =>
    kept.counters.take([{ key: counter, amount, limit: 1_000, windowMs: 180_000 }], clock.now()),
  )
  const rows = await kept.usage.list({ workspaceId: 'workspace', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 9 })
  return {
    outcome: answer.output,
    verbs,
    books: {
      balance: await kept.ledger.balance(account),
      rows,
      slots: await Promise.all(slots),
      tokens: await Promise.all(rooms),
      notified,
    },
  }
}

test.each([
  ['one verb fails', false],
  ['all verbs fail from one on', true],
])('a store where %s has the same result, whether it throws or its promises reject', async (_, lasts) => {
  const healthy = await play({ manner: 'at once', at: 0, lasts: false })
  expect(healthy.outcome).toMatchObject([{ type: 'message' }])
  expect(healthy.books.notified).toHaveLength(1)
  expect(healthy.books.tokens).toMatchObject([{ retryAfterMs: 180_000 }, { retryAfterMs: 180_000 }, undefined])
  expect(healthy.verbs.length).toBe(7)
  for (let at = 1; at <= healthy.verbs.length; at++) {
    const [thrown, rejected] = [await play({ manner: 'at once', at, lasts }), await play({ manner: 'by promise', at, lasts })]
    expect([at, thrown]).toEqual([at, rejected])
  }
})
