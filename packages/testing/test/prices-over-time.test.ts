import { chatProvider } from '@signalbox/dialects'
import type { JsonObject, Model, Price } from '@signalbox/dialects/protocol'
import { createGateway, type GatewayOptions } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { type Act, acts, type FakeClock, fakeClock, scriptedProvider } from '../src/index.ts'

// Announced prices and retirements, from the request to the ledger.

const day = 86_400_000
const tokens = { input: 1_000, output: 100 }
const reply = acts.reply({ text: 'Here.', usage: tokens })

interface Opened {
  readonly clock: FakeClock
  /** Resolves to the microdollars that one request costs, or to the code of its error and its message. */
  ask(body?: JsonObject): Promise<unknown>
  /** Microdollars of remaining credit. */
  credit(): Promise<number>
  ledgerSum(): Promise<number>
}

interface Opening extends Pick<GatewayOptions, 'retiredModels'> {
  readonly at: string
  readonly script?: readonly Act[]
}

async function open(models: readonly Model[], { at, script = [], ...options }: Opening): Promise<Opened> {
  const clock = fakeClock({ now: Date.parse(at) })
  const providers = ['one', 'two'].map(id =>
    scriptedProvider({ id, dialect: chatProvider, clock, acts: [...script, ...Array.from({ length: 20 }, () => reply)] }),
  )
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const gateway = createGateway({ providers, models, storage: memoryStorage(), clock, logger, ...options })
  await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'prepaid' })
  const workspace = gateway.workspaces('w')
  await workspace.billing.credit({ reference: 'start', amount: 10_000_000 })
  const { secret } = await workspace.apiKeys.create({ name: 'k', scopes: '*' })
  const caller = await gateway.authenticate(secret)
  const credit = async (): Promise<number> => (await workspace.billing.balance()).balance
  return {
    clock,
    credit,
    ledgerSum: async () => (await workspace.billing.ledger()).reduce((sum, { amount }) => sum + amount, 0),
    async ask(body = {}) {
      const before = await credit()
      const request = gateway.dialects.responses.decodeRequest(
        { model: 'm', input: 'Hi', max_output_tokens: 100, ...body },
        () => undefined,
      )
      try {
        await gateway.infer(request, { caller }).whole()
      } catch (error) {
        const { code, message } = error as { readonly code: string; readonly message: string }
        return `${code}: ${message}`
      }
      return before - (await credit())
    },
  }
}

const offer = { provider: 'one', model: 'm', api: 'chat' } as const
const cheap = { input: 1_000_000, output: 1_000_000 }
const dear = { input: 2_000_000, output: 2_000_000 }
const changing: Model = { id: 'm', offers: [{ ...offer, price: { ...cheap, changes: [{ from: '2027-01-01', price: dear }] } }] }

describe('a price that changes on an announced day', () => {
  test('is charged from its first minute, and the ledger agrees', async () => {
    const { clock, ask, credit, ledgerSum } = await open([changing], { at: '2026-12-31T23:59:00Z' })
    expect(await ask()).toBe(1_100)
    await clock.advance(59_999)
    expect(await ask()).toBe(1_100)
    await clock.advance(1)
    expect(await ask()).toBe(2_200)
    expect(await ledgerSum()).toBe(await credit())
  })

  test('is that of the start of a request that spans the change', async () => {
    const { clock, ask, credit, ledgerSum } = await open([changing], {
      at: '2026-12-31T23:59:55Z',
      script: [acts.stall(10_000), acts.stall(10_000)],
    })
    const slowly = async (): Promise<unknown> => {
      const asked = ask()
      await clock.advance(10_001)
      return asked
    }
    const before = await slowly()
    expect(before).toBeGreaterThan(0)
    expect(await slowly()).toBe(2 * Number(before))
    expect(await ledgerSum()).toBe(await credit())
  })

  test('reverts if the wall clock is set back', async () => {
    const { clock, ask } = await open([changing], { at: '2027-01-01T00:00:01Z' })
    expect(await ask()).toBe(2_200)
    clock.jump(-2_000)
    expect(await ask()).toBe(1_100)
    clock.jump(2_000)
    expect(await ask()).toBe(2_200)
  })
})

test('a price by the hour starts and ends on time', async () => {
  const price = { ...cheap, windows: [{ days: [1], from: '01:00', to: '04:00', ...dear }] }
  const { clock, ask, credit, ledgerSum } = await open([{ id: 'm', offers: [{ ...offer, price }] }], { at: '2026-11-23T00:59:59Z' })
  expect(await ask()).toBe(1_100)
  await clock.advance(1_000)
  expect(await ask()).toBe(2_200)
  await clock.advance(3 * 3_600_000)
  expect(await ask()).toBe(1_100)
  expect(await ledgerSum()).toBe(await credit())
})

test('a price per request is charged in addition to tokens', async () => {
  const { ask } = await open([{ id: 'm', offers: [{ ...offer, price: { ...cheap, request: 5_000 } }] }], { at: '2026-11-23T00:00:00Z' })
  expect(await ask()).toBe(6_100)
})

test('a request whose price per request exceeds the credit is refused', async () => {
  const { ask } = await open([{ id: 'm', offers: [{ ...offer, price: { ...cheap, request: 10_000_000 } }] }], {
    at: '2026-11-23T00:00:00Z',
  })
  expect(await ask()).toMatch(/^insufficient_credit/)
})

describe('a model that its vendor shuts down', () => {
  const old: Model = { id: 'm', retiresAt: '2026-12-11', successor: 'n', offers: [{ ...offer, price: cheap }] }
  const next: Model = { id: 'n', offers: [{ ...offer, provider: 'two', price: dear }] }

  test('is served through its last day, then refused with its successor', async () => {
    const { clock, ask } = await open([old, next], { at: '2026-12-11T23:59:59Z' })
    expect(await ask()).toBe(1_100)
    await clock.advance(1_000)
    expect(await ask()).toBe('model_not_found: The model "m" was shut down after 2026-12-11; its successor is "n".')
  })

  test('is replaced by its successor if so configured', async () => {
    const { clock, ask, credit, ledgerSum } = await open([old, next], { at: '2026-12-11T23:59:59Z', retiredModels: 'successor' })
    expect(await ask()).toBe(1_100)
    await clock.advance(1_000)
    expect(await ask()).toBe(2_200)
    expect(await ledgerSum()).toBe(await credit())
  })

  test('ranks below offers that stay, within 30 days of its end', async () => {
    const offers = [
      { ...offer, price: cheap, retiresAt: '2026-12-11' },
      { ...offer, provider: 'two', price: dear },
    ]
    const { clock, ask, credit, ledgerSum } = await open([{ id: 'm', offers }], { at: '2026-11-11T00:00:00Z' })
    const cost = { gateway: { routing: { strategy: 'cost' } } }
    expect(await ask(cost)).toBe(1_100)
    await clock.advance(1.1 * day)
    expect(await ask(cost)).toBe(2_200)
    expect(await ledgerSum()).toBe(await credit())
  })

  test('does not affect the other models of its pool', async () => {
    const { ask } = await open([old, next], { at: '2027-01-01T00:00:00Z' })
    expect(await ask({ model: undefined, gateway: { models: ['m', 'n'] } } as unknown as JsonObject)).toBe(2_200)
  })
})

describe('a priority tier', () => {
  const priority = { service_tier: 'priority' }
  const at = '2026-11-23T00:00:00Z'
  /** An answer that states its tier. */
  const stating =
    (service_tier: string): Act =>
    async ({ finished }) => {
      finished()
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Here.' } }]
      const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 }
      return { status: 200, body: { id: 'c', object: 'chat.completion', created: 1, model: 'm', service_tier, choices, usage } }
    }

  test('is billed if the response states it, whatever was requested, and the ledger agrees', async () => {
    const script = ['default', 'priority', 'warp'].flatMap(tier => [stating(tier), stating(tier)])
    const { ask, credit, ledgerSum } = await open([{ id: 'm', offers: [{ ...offer, price: { ...cheap, priority: dear } }] }], {
      at,
      script,
    })
    const costs: unknown[] = []
    for (const body of [{}, priority, {}, priority, {}, priority]) costs.push(await ask(body))
    expect(costs).toEqual([200, 200, 400, 400, 200, 400])
    expect(await ledgerSum()).toBe(await credit())
  })

  test('is held for at the standard tier too, where that may cost more', async () => {
    const tiers = [{ over: 1, input: 0, output: 200_000_000_000 }]
    const askAt = async (price: Price): Promise<unknown> => (await open([{ id: 'm', offers: [{ ...offer, price }] }], { at })).ask(priority)
    expect(await askAt({ ...cheap, priority: dear })).toBe(2_200)
    expect(await askAt({ ...cheap, priority: dear, tiers })).toMatch(/^insufficient_credit/)
  })
})

test('a request that runs past the last day of its model finishes and is billed', async () => {
  const ending: Model = { id: 'm', retiresAt: '2026-12-11', offers: [{ ...offer, price: cheap }] }
  const { clock, ask, credit, ledgerSum } = await open([ending], { at: '2026-12-11T23:59:55Z', script: [acts.stall(10_000, reply)] })
  const asked = ask()
  await clock.advance(10_001)
  expect(await asked).toBe(1_100)
  expect(await ask()).toMatch(/^model_not_found/)
  expect(await ledgerSum()).toBe(await credit())
})
