import type { Gateway } from '@signalbox/gateway'
import { describe, expect, test } from 'vitest'
import { build, cost, stores, type Testbed } from './money-scene.ts'

// The wall clock of a machine is set: by hand, by a time server, after a sleep. Ages here use the monotonic clock.

const hour = 3_600_000
const day = 24 * hour
const minute = 60_000

/** The first gateway changes things, the second has to hear of it. */
async function twoProcesses() {
  const testbed = await build({ open: stores.memory(), gateways: 2 })
  const [here, there] = testbed.gateways as readonly [Gateway, Gateway]
  return { testbed, own: here.workspaces('w'), there }
}

const outcomeOf = ({ request }: Testbed, gateway: Gateway, secret: string): Promise<string> =>
  gateway
    .authenticate(secret)
    .then(caller => gateway.infer(request(), { caller }).whole())
    .then(
      () => 'ok',
      (error: { readonly code?: string }) => error.code ?? String(error),
    )

describe.each([-day, -hour, -40_000, 40_000, hour, day])('after the wall clock is set by %i ms', jump => {
  test('a key revoked in another process stops working 30 s later', async () => {
    const { testbed, own, there } = await twoProcesses()
    const { id, secret } = await own.apiKeys.create({ name: 'k' })
    expect(await outcomeOf(testbed, there, secret)).toBe('ok')
    await own.apiKeys.revoke(id)
    testbed.clock.jump(jump)
    await testbed.clock.advance(30_001)
    expect(await outcomeOf(testbed, there, secret)).toBe('invalid_api_key')
  })

  test('a budget created in another process applies 30 s later', async () => {
    const { testbed, own, there } = await twoProcesses()
    const { secret } = await own.apiKeys.create({ name: 'k' })
    expect(await outcomeOf(testbed, there, secret)).toBe('ok')
    await own.budgets.create({ name: 'b', period: 'total', limit: Math.round(cost / 2) })
    testbed.clock.jump(jump)
    await testbed.clock.advance(30_001)
    expect(await outcomeOf(testbed, there, secret)).toBe('budget_exceeded')
  })

  test('an unknown key is looked up again after a second', async () => {
    const { testbed, own, there } = await twoProcesses()
    const secret = 'ak_chosen-by-hand'
    expect(await outcomeOf(testbed, there, secret)).toBe('invalid_api_key')
    await own.apiKeys.create({ name: 'k', secret })
    testbed.clock.jump(jump)
    await testbed.clock.advance(1_001)
    expect(await outcomeOf(testbed, there, secret)).toBe('ok')
  })

  test('the last use of a key is recorded once a minute', async () => {
    const { testbed, own } = await twoProcesses()
    const uses: number[] = []
    const { touch } = testbed.storage.records
    Object.assign(testbed.storage.records, {
      touch: (kind: string, all: readonly { id: string; at: number }[]) => {
        uses.push(all.length)
        return touch(kind, all)
      },
    })
    const { secret } = await own.apiKeys.create({ name: 'k' })
    const [here] = testbed.gateways as readonly [Gateway]
    for (let seconds = 0; seconds < 120; seconds += 5) {
      if (seconds === 10) testbed.clock.jump(jump)
      expect(await outcomeOf(testbed, here, secret)).toBe('ok')
      await testbed.clock.advance(5_000)
    }
    expect(uses).toEqual([1, 1])
  })
})

test('a clock that alternates between two days spends the budget of each day once', async () => {
  const { testbed, own, there } = await twoProcesses()
  const { secret } = await own.apiKeys.create({ name: 'k' })
  const budget = await own.budgets.create({ name: 'b', period: 'day', limit: 8 * cost })
  const spent: number[] = []
  for (const jump of [0, -day, day, -day, day]) {
    testbed.clock.jump(jump)
    await testbed.clock.advance(minute)
    let answered = 0
    while ((await outcomeOf(testbed, there, secret)) === 'ok') answered += 1
    spent.push(answered)
  }
  const [today = 0, yesterday = 0] = spent
  expect([today > 0, today <= 8]).toEqual([true, true])
  expect(spent).toEqual([today, yesterday, 0, 0, 0])
  expect(yesterday).toBe(today)
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
  for (const at of [testbed.clock.now(), testbed.clock.now() - day])
    expect((await testbed.storage.ledger.balance(`budget:${budget.id}:${dayOf(at)}`)).balance).toBe(-today * cost)
})
