import { describe, expect, inject, test } from 'vitest'
import { bookOf, build, cost, stores, times } from './money-scene.ts'

// Many requests at once, more than can be paid for or are allowed: limits are never exceeded, in one process or in several.

const [count, affordable] = inject('isLongRun') ? [1_000, 333] : [300, 111]
const many = Array.from({ length: count }, (_, at) => at)
const patience = 60_000

describe.each(Object.entries(stores))('over %s', (_, openStore) => {
  test.each([1, 2])(
    `${count} concurrent requests through %i gateways spend the credit for ${affordable}, and never more`,
    async gateways => {
      const { ask, storage } = await build({ open: openStore(), gateways, credit: affordable * cost })
      const outcomes = await Promise.all(many.map(at => ask(at)))
      const { balance, sum, lowest, held } = await bookOf(storage, 'credit:w')
      expect({ sum, held, lowest }).toEqual({ sum: balance, held: 0, lowest: 0 })
      expect(affordable * cost - balance).toBe(times(outcomes, 'ok') * cost)
      expect(times(outcomes, 'ok')).toBeGreaterThan(0)
      expect(times(outcomes, 'ok') + times(outcomes, 'insufficient_credits')).toBe(count)
      // Unused amounts of released holds are available to later requests, to the last that can be paid for.
      let later = times(outcomes, 'ok')
      while ((await ask(later)) === 'ok') later += 1
      expect(later).toBeLessThanOrEqual(affordable)
      // The last ones are let in only while all that they may cost is there, which is more than they do.
      expect(later).toBeGreaterThanOrEqual(affordable - 2)
      expect((await bookOf(storage, 'credit:w')).lowest).toBe(0)
    },
    patience,
  )

  test(
    `${count} concurrent requests through two gateways stay within an enforced budget and that of their key`,
    async () => {
      const testbed = await build({ open: openStore(), gateways: 2 })
      const { ask, storage, clock, gateways } = testbed
      const budget = { workspaceId: 'w', version: 0, kind: 'budget', createdAt: clock.now() }
      const { keyId } = await (gateways[0] as (typeof gateways)[0]).authenticate(testbed.secret)
      const body = { period: 'month', enforce: true, includeByok: false, alertAt: [], limit: affordable * cost }
      const wide = { ...body, name: 'wide', scope: 'workspace' }
      const narrow = {
        ...body,
        name: 'narrow',
        scope: 'api_key',
        apiKeyId: keyId,
        limit: Math.floor(affordable / 3) * cost,
        period: 'total',
      }
      const puts = [wide, narrow].map(each => ({ ...budget, id: each.name, body: JSON.stringify(each) }))
      await storage.records.commit({ puts })
      await clock.advance(31_000)
      const outcomes = await Promise.all(many.map(at => ask(at)))
      const month = new Date(clock.now()).toISOString().slice(0, 7)
      const [all, key] = [await bookOf(storage, `budget:wide:${month}-01`), await bookOf(storage, 'budget:narrow')]
      expect(times(outcomes, 'ok') + times(outcomes, 'budget_exceeded')).toBe(count)
      expect(times(outcomes, 'ok')).toBeGreaterThan(0)
      expect([all.balance, key.balance]).toEqual([-times(outcomes, 'ok') * cost, -times(outcomes, 'ok') * cost])
      expect([all.sum, key.sum]).toEqual([all.balance, key.balance])
      expect(key.balance).toBeGreaterThanOrEqual(-Math.floor(affordable / 3) * cost)
      expect([all.held, key.held]).toEqual([0, 0])
      // Postpaid: the account of the credit is charged all the same.
      expect((await bookOf(storage, 'credit:w')).balance).toBe(all.balance)
    },
    patience,
  )

  test(
    'two gateways together admit exactly as many requests a minute as the limit of a key',
    async () => {
      const { ask, clock } = await build({ open: openStore(), gateways: 2, limits: { inferenceRpm: 50 } })
      const outcomes = await Promise.all(many.slice(0, 200).map(at => ask(at)))
      expect([times(outcomes, 'ok'), times(outcomes, 'requests_per_min_exceeded')]).toEqual([50, 150])
      await clock.advance(60_000)
      const next = await Promise.all(many.slice(0, 100).map(at => ask(at)))
      expect(times(next, 'ok')).toBe(50)
    },
    patience,
  )

  test(
    'two gateways together admit exactly the tokens a minute of a workspace',
    async () => {
      const used = 15
      const { ask } = await build({ open: openStore(), gateways: 2, limits: { workspace: { tokensPerMinute: 50 * used } } })
      const outcomes = await Promise.all(many.slice(0, 200).map(at => ask(at)))
      expect(times(outcomes, 'ok') + times(outcomes, 'tokens_per_min_exceeded')).toBe(200)
      let answered = times(outcomes, 'ok')
      while ((await ask(answered)) === 'ok') answered += 1
      expect(answered).toBeGreaterThanOrEqual(49)
      expect(answered).toBeLessThanOrEqual(50)
    },
    patience,
  )

  test(
    'two gateways together run no more concurrent requests of a workspace than its limit',
    async () => {
      const { ask, peak } = await build({ open: openStore(), gateways: 2, limits: { workspace: { concurrentRequests: 7 } } })
      const outcomes = await Promise.all(many.slice(0, 100).map(at => ask(at)))
      expect(times(outcomes, 'ok') + times(outcomes, 'concurrent_requests_exceeded')).toBe(100)
      expect(times(outcomes, 'ok')).toBeGreaterThanOrEqual(7)
      expect(peak()).toBe(7)
      // All are given back.
      expect(times(await Promise.all(many.slice(0, 7).map(at => ask(at))), 'ok')).toBe(7)
    },
    patience,
  )
})
