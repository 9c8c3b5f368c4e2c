import type { Gateway } from '@signalbox/core'
import { describe, expect, test } from 'vitest'
import { build, cost, type House, stores } from './money-scene.ts'

// The wall clock of a machine is set: by hand, by a time server, after a sleep. What ages here goes by the monotonic clock.

const hour = 3_600_000
const day = 24 * hour
const minute = 60_000

/** The first gateway changes things, the second has to hear of it. */
async function twoProcesses() {
  const house = await build({ open: stores.memory(), gateways: 2 })
  const [here, there] = house.gateways as readonly [Gateway, Gateway]
  return { house, own: here.workspaces('w'), there }
}

const outcomeOf = ({ request }: House, gateway: Gateway, secret: string): Promise<string> =>
  gateway
    .authenticate(secret)
    .then(caller => gateway.infer(request(), { caller }).whole())
    .then(
      () => 'ok',
      (error: { readonly code?: string }) => error.code ?? String(error),
    )

describe.each([-day, -hour, -40_000, 40_000, hour, day])('where the wall clock is set by %i ms', jump => {
  test('a key that was revoked elsewhere stops 30 s later', async () => {
    const { house, own, there } = await twoProcesses()
    const { id, secret } = await own.apiKeys.create({ name: 'k' })
    expect(await outcomeOf(house, there, secret)).toBe('ok')
    await own.apiKeys.revoke(id)
    house.clock.jump(jump)
    await house.clock.advance(30_001)
    expect(await outcomeOf(house, there, secret)).toBe('invalid_api_key')
  })

  test('a budget that was made elsewhere binds 30 s later', async () => {
    const { house, own, there } = await twoProcesses()
    const { secret } = await own.apiKeys.create({ name: 'k' })
    expect(await outcomeOf(house, there, secret)).toBe('ok')
    await own.budgets.create({ name: 'b', period: 'total', limit: Math.round(cost / 2) })
    house.clock.jump(jump)
    await house.clock.advance(30_001)
    expect(await outcomeOf(house, there, secret)).toBe('budget_exceeded')
  })

  test('a key that was not known is asked for again after a second', async () => {
    const { house, own, there } = await twoProcesses()
    const secret = 'ak_chosen-by-hand'
    expect(await outcomeOf(house, there, secret)).toBe('invalid_api_key')
    await own.apiKeys.create({ name: 'k', secret })
    house.clock.jump(jump)
    await house.clock.advance(1_001)
    expect(await outcomeOf(house, there, secret)).toBe('ok')
  })

  test('the use of a key is noted once a minute', async () => {
    const { house, own } = await twoProcesses()
    const uses: number[] = []
    const { touch } = house.storage.records
    Object.assign(house.storage.records, {
      touch: (kind: string, all: readonly { id: string; at: number }[]) => {
        uses.push(all.length)
        return touch(kind, all)
      },
    })
    const { secret } = await own.apiKeys.create({ name: 'k' })
    const [here] = house.gateways as readonly [Gateway]
    for (let seconds = 0; seconds < 120; seconds += 5) {
      if (seconds === 10) house.clock.jump(jump)
      expect(await outcomeOf(house, here, secret)).toBe('ok')
      await house.clock.advance(5_000)
    }
    expect(uses).toEqual([1, 1])
  })
})

test('a clock that goes to and fro between two days spends the budget of each day once', async () => {
  const { house, own, there } = await twoProcesses()
  const { secret } = await own.apiKeys.create({ name: 'k' })
  const budget = await own.budgets.create({ name: 'b', period: 'day', limit: 8 * cost })
  const spent: number[] = []
  for (const jump of [0, -day, day, -day, day]) {
    house.clock.jump(jump)
    await house.clock.advance(minute)
    let answered = 0
    while ((await outcomeOf(house, there, secret)) === 'ok') answered += 1
    spent.push(answered)
  }
  const [today = 0, yesterday = 0] = spent
  expect([today > 0, today <= 8]).toEqual([true, true])
  expect(spent).toEqual([today, yesterday, 0, 0, 0])
  expect(yesterday).toBe(today)
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
  for (const at of [house.clock.now(), house.clock.now() - day])
    expect((await house.storage.ledger.balance(`budget:${budget.id}:${dayOf(at)}`)).balance).toBe(-today * cost)
})
