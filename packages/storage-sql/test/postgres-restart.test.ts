import type { Storage } from '@signalbox/storage'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { ownPostgres } from '../../testing/test/own-postgres.ts'
import { waitUntil } from '../../testing/test/waits.ts'
import { postgresStorage } from '../src/postgres.ts'

const AT = 1_750_000_000_000
interface Outcomes {
  readonly held: Set<string>
  readonly settled: Set<string>
  readonly errors: string[]
  /** When a request last went through, by the monotonic clock. */
  wellAt: number
}

/** Requests, sixteen at a time, until stopped: each holds 10 and then pays 7. */
async function work({ ledger }: Storage, outcomes: Outcomes, isOver: () => boolean): Promise<void> {
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (let n = 0; !isOver(); n++) {
        const id = `${worker}-${n}`
        try {
          await ledger.reserve({ id, amount: 10, accounts: [{ account: 'a', floor: 0 }], at: AT })
          outcomes.held.add(id)
          await ledger.settle({ id, amounts: { a: 7 }, at: AT })
          outcomes.settled.add(id)
          outcomes.wellAt = performance.now()
        } catch (error) {
          outcomes.errors.push(String(error))
          await new Promise(next => setTimeout(next, 20))
        }
      }
    }),
  )
}

describe('a PostgreSQL server that goes away under load', () => {
  test.each(inject('isLongRun') ? (['fast', 'immediate'] as const) : (['immediate'] as const))(
    'by a %s shutdown fails requests with a clear error, loses and repeats nothing, and reconnects once it is back',
    async mode => {
      const server = await ownPostgres()
      onTestFinished(() => server.remove())
      const storage = postgresStorage(server.url, { connectTimeoutMs: 1_000, statementTimeoutMs: 3_000 })
      onTestFinished(() => storage.close())
      await storage.ledger.credit({ id: 'c', account: 'a', amount: 1_000_000_000, at: AT })
      const outcomes: Outcomes = { held: new Set(), settled: new Set(), errors: [], wellAt: 0 }
      let isOver = false
      const working = work(storage, outcomes, () => isOver)
      await waitUntil(() => outcomes.settled.size > 20)
      await server.stop(mode)
      await waitUntil(() => outcomes.errors.length > 0)
      const before = outcomes.settled.size
      await expect(Promise.resolve(storage.ping())).rejects.toThrow('Check that the server runs')
      await server.start()
      const backAt = performance.now()
      while (outcomes.wellAt < backAt) await new Promise(next => setTimeout(next, 10))
      isOver = true
      await working

      expect(outcomes.settled.size).toBeGreaterThan(before)
      expect(outcomes.errors.length).toBeGreaterThan(0)
      for (const error of outcomes.errors) {
        expect(error).toMatch(/postgresStorage: ledger\.(reserve|settle): /)
        expect(error).not.toContain('hunter2secret')
      }
      const entries = (await storage.ledger.entries('a', { limit: 1_000_000 })).filter(({ kind }) => kind === 'usage').map(({ id }) => id)
      expect(new Set(entries).size).toBe(entries.length)
      expect([...outcomes.settled].filter(id => !entries.includes(id))).toEqual([])
      const live = new Set((await storage.ledger.holds({ limit: 1_000_000 })).map(({ id }) => id))
      expect([...outcomes.held].filter(id => live.has(id) === entries.includes(id))).toEqual([])
      const { balance, held } = await storage.ledger.balance('a')
      expect({ balance, held }).toEqual({ balance: 1_000_000_000 - 7 * entries.length, held: 10 * live.size })
    },
  )

  test('before the first use is a clear error in bounded time, and needs no new storage', async () => {
    const server = await ownPostgres()
    onTestFinished(() => server.remove())
    await server.stop('fast')
    const storage = postgresStorage(server.url, { connectTimeoutMs: 500 })
    onTestFinished(() => storage.close())
    const take = storage.counters.take([{ key: 'k', amount: 1, limit: 5, windowMs: 60_000 }], AT)
    await expect(Promise.resolve(take)).rejects.toThrow(/^postgresStorage: counters\.take: (?!.*hunter2secret).*Check that the server runs/)
    await server.start()
    expect(await storage.counters.take([{ key: 'k', amount: 1, limit: 1, windowMs: 60_000 }], AT)).toBeUndefined()
    expect(await storage.counters.take([{ key: 'k', amount: 1, limit: 1, windowMs: 60_000 }], AT)).toMatchObject({ key: 'k' })
  })
})
