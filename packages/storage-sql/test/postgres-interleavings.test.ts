import { randomBytes } from 'node:crypto'
import type { Storage } from '@signalbox/storage'
import fc from 'fast-check'
import { Pool } from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { describeWith, postgresUrl } from '../../testing/test/services.ts'
import { postgresStorage } from '../src/postgres.ts'

// Verbs of the ledger from three pools at once, in every order, on few accounts and few ids, while connections are cut in the middle
// of statements. Whatever was done: the sums of an account are those of its entries and live holds, no id is charged twice, holds take no
// more than there is, and acknowledged writes are stored.

const AT = 1_750_000_000_000
const describePostgres = describeWith('postgres')

type Step = { readonly from: 0 | 1 | 2; readonly isAwaited: boolean } & (
  | { readonly verb: 'reserve' | 'extend'; readonly id: string; readonly accounts: Readonly<Record<string, number>> }
  | { readonly verb: 'settle'; readonly id: string; readonly accounts: Readonly<Record<string, number>> }
  | { readonly verb: 'credit'; readonly id: string; readonly account: string; readonly amount: number }
  | { readonly verb: 'cut' }
)

const account = fc.constantFrom('a', 'b', 'c')
const common = { from: fc.constantFrom(0 as const, 1 as const, 2 as const), isAwaited: fc.constantFrom(false, false, false, true) }
/** Verbs of one id have an account in common, whose lock serializes them. */
const money = (max: number) =>
  fc
    .record({ n: fc.integer({ min: 0, max: 12 }), amounts: fc.dictionary(account, fc.integer({ min: 0, max }), { noNullPrototype: true }) })
    .map(({ n, amounts }) => ({ id: `id${n}`, accounts: { [['a', 'b', 'c'][n % 3] ?? 'a']: 1, ...amounts } }))
const id = fc.integer({ min: 0, max: 12 }).map(n => `id${n}`)
const verb = <Name extends string>(name: Name, max: number) =>
  fc
    .record({ ...common, verb: fc.constant(name), money: money(max) })
    .map(({ money: { id: of, accounts }, ...rest }) => ({ ...rest, id: of, accounts }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: verb('reserve', 40) },
  { weight: 3, arbitrary: verb('extend', 40) },
  { weight: 4, arbitrary: verb('settle', 4) },
  {
    weight: 3,
    arbitrary: fc.record({ ...common, verb: fc.constant('credit' as const), id, account, amount: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.record({ ...common, verb: fc.constant('cut' as const) }) },
)

describePostgres('PostgreSQL, three pools and cut connections', () => {
  const schema = `test_${randomBytes(6).toString('hex')}`
  const admin = new Pool({ connectionString: postgresUrl, max: 2, options: '-c client_min_messages=warning' })
  const storages = [0, 1, 2].map(() => postgresStorage(postgresUrl, { schema, connections: 3 }))
  afterAll(async () => {
    for (const storage of storages) await storage.close()
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await admin.end()
  })
  const cut = () =>
    admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT ${schema}.%' AND pid <> pg_backend_pid()`,
    )

  /** Runs a step with ids and accounts of its run. Resolves to whether it was acknowledged. */
  async function run(next: Step, name: (text: string) => string, admitted: Set<string>): Promise<boolean> {
    const { ledger } = storages[next.from] as Storage
    try {
      if (next.verb === 'cut') await cut()
      else if (next.verb === 'credit') await ledger.credit({ id: name(next.id), account: name(next.account), amount: next.amount, at: AT })
      else {
        const named = Object.entries(next.accounts).map(([each, amount]) => ({ account: name(each), floor: 0, amount }))
        if (next.verb === 'settle')
          await ledger.settle({ id: name(next.id), amounts: Object.fromEntries(named.map(each => [each.account, each.amount])), at: AT })
        else if (next.verb === 'extend') await ledger.extend({ id: name(next.id), accounts: named })
        else if ((await ledger.reserve({ id: name(next.id), amount: 0, accounts: named, at: AT })) === undefined) admitted.add(next.id)
      }
      return true
    } catch (error) {
      // The answer was lost, and the verb would count twice.
      expect(String(error)).toContain('postgresStorage: ledger.')
      return false
    }
  }

  test('in any interleaving, sums match entries and live holds, and each id is charged once', async () => {
    let runs = 0
    const { ledger } = storages[0] as Storage
    await ledger.balance('ready')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async steps => {
        const prefix = `${runs++}:`
        const name = (text: string): string => prefix + text
        const admitted = new Set<string>()
        const done = new Map<Step, Promise<boolean>>()
        for (const next of steps) {
          done.set(next, run(next, name, admitted))
          if (next.isAwaited) await done.get(next)
          // Calls of one turn are a batch.
          if (next.verb === 'cut') await new Promise(resolve => setImmediate(resolve))
        }
        const acknowledged = new Set<Step>()
        for (const [next, outcome] of done) if (await outcome) acknowledged.add(next)

        const live = new Set((await ledger.holds({ after: prefix, limit: 100_000 })).map(each => each.id))
        const settled = new Set<string>()
        for (const next of acknowledged) if (next.verb === 'settle') settled.add(next.id)
        for (const each of settled) expect(live).not.toContain(name(each))
        const { rows } = await admin.query(
          `SELECT a.account, a.held::int, (SELECT coalesce(sum(u.amount), 0)::int FROM ${schema}.holds h, unnest(h.accounts, h.amounts) u (account, amount)
             WHERE u.account = a.account) AS holds FROM ${schema}.accounts a WHERE a.account LIKE '${prefix}%'`,
        )
        for (const each of rows) expect(each.held).toBe(each.holds)
        const charged = new Map<string, number>()
        for (const each of ['a', 'b', 'c']) {
          const sums = await ledger.balance(name(each))
          const entries = await ledger.entries(name(each), { limit: 10_000 })
          expect(new Set(entries.map(({ kind, id: of }) => `${kind} ${of}`)).size).toBe(entries.length)
          expect(sums.balance).toBe(entries.reduce((sum, { amount }) => sum + amount, 0))
          expect(sums.balance).toBe(sums.credited - sums.spent)
          // Only a charge above its hold takes an account below its floor, and by no more than itself.
          expect(sums.balance - sums.held).toBeGreaterThanOrEqual(0 - sums.spent)
          expect(entries[0]?.balanceAfter ?? 0).toBe(sums.balance)
          for (const { kind, id: of, amount } of entries) if (kind === 'usage') charged.set(`${of} ${each}`, 0 - amount)
          for (const next of acknowledged)
            if (next.verb === 'credit' && next.account === each) expect(entries.map(entry => entry.id)).toContain(name(next.id))
        }
        // An id is charged according to one of its settlements, on all accounts of it and no other.
        for (const of of settled) {
          const paid = (each: string): number | undefined => charged.get(`${name(of)} ${each}`)
          const said = steps.filter(next => next.verb === 'settle' && next.id === of) as Extract<Step, { verb: 'settle' }>[]
          expect(said.some(({ accounts: owed }) => ['a', 'b', 'c'].every(each => paid(each) === owed[each]))).toBe(true)
        }
        // What was admitted is live or was settled.
        const ended = new Set(steps.flatMap(next => (next.verb === 'settle' ? next.id : [])))
        for (const each of admitted) expect(live.has(name(each)) || ended.has(each)).toBe(true)
      }),
      { numRuns: inject('isLongRun') ? 300 : 20 },
    )
  }, 600_000)
})
