import type { Gateway } from '@signalbox/core'
import { describe, expect, test } from 'vitest'
import { build, cost, type House, stores } from './money-scene.ts'

// The wall clock of a machine is set: by hand, by a time server, after a sleep. What ages here goes by the monotonic clock.

const hour = 3_600_000
const day = 24 * hour

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
    await own.budgets.create({ name: 'b', period: 'total', limitUsd: cost / 2_000_000 })
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
