import type { LedgerStore, UsageRow } from '@signalbox/storage'
import { type GraceEvent, type OutageGraceOptions, withOutageGrace } from '@signalbox/storage/outage-grace'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { seeded } from '../../src/index.ts'
import { waitFor } from '../waits.ts'
import { type Away, type Network, network, pause } from './away.ts'

const maxWaitMs = 40
const credit = 'credit:w'
const postpaid = { account: credit, floor: Number.NEGATIVE_INFINITY }
const prepaid = { account: credit, floor: 0 }

/** One process of a network. */
function processOf(net: Network, options: Partial<OutageGraceOptions> = {}) {
  const way = net.way()
  const events: GraceEvent[] = []
  const logger = { info: () => {}, warn: () => {} }
  const storage = withOutageGrace(way.storage, {
    counters: memoryStorage().counters,
    maxWaitMs,
    logger,
    onOutage: event => events.push(event),
    ...options,
  })
  onTestFinished(() => storage.close())
  const states = () => events.map(({ state }) => state)
  const hold = (id: string, amount: number, account: typeof prepaid = prepaid) =>
    Promise.resolve(storage.ledger.reserve({ id, amount, accounts: [account], at: 1 })).then(
      refusal => (refusal ? 'refused' : 'held'),
      () => 'failed',
    )
  const settle = (id: string, amount: number, slotKeys: readonly string[] = []) =>
    retried(() => storage.settle({ row: usageRow(id, amount), amounts: { [credit]: amount }, slotKeys, at: 2 }))
  /** Cut off, and noticed. */
  const lose = async (how: Away): Promise<void> => {
    way.cut(how)
    void Promise.resolve(storage.ping()).catch(() => {})
    await waitFor(() => expect(storage.outage?.()).toBeDefined(), { interval: 2 })
  }
  const rejoin = async (): Promise<void> => {
    way.join()
    await waitFor(() => expect(storage.outage?.()).toBeUndefined(), { interval: 2 })
  }
  return { ...way, storage, events, states, hold, settle, lose, rejoin }
}

const usageRow = (id: string, cost: number): UsageRow => ({
  ...{ id, workspaceId: 'w', keyId: 'k', at: 1, modelAsked: 'm', model: 'm', provider: 'p', credential: 'platform', strategy: 's' },
  ...{ streamed: true, inputTokens: 1, outputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, estimated: false },
  ...{ cost, byokCost: 0, result: 'ok', attempts: 1, durationMs: 10, warnings: [] },
})

/** As the queue of the gateway does it: until it is written. */
async function retried(run: () => unknown): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return void (await run())
    } catch (error) {
      if (tries > 400) throw error
      await pause(10)
    }
  }
}

const give = (ledger: LedgerStore, amount: number) => ledger.credit({ id: 'start', account: credit, amount, at: 0 })

const ways: readonly Away[] = ['refusing', 'hanging', 'mute']

describe.each(ways)('a database outage, %s,', how => {
  test('stops requests that need prepaid credit, unless they are free', async () => {
    const net = network()
    await give(net.storage.ledger, 1_000)
    const one = processOf(net)
    expect(await one.hold('before', 10)).toBe('held')
    await one.lose(how)
    expect([await one.hold('a', 1), await one.hold('free', 0)]).toEqual(['failed', 'held'])
  })

  test('admits postpaid requests up to the cap of an account and of the process, also if all are concurrent', async () => {
    const net = network()
    const one = processOf(net, { maxPerAccount: 700, maxPerProcess: 1_000 })
    await one.lose(how)
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, at) => one.hold(`a${at}`, 10, postpaid)))
    expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(70)
    const other = { ...postpaid, account: 'credit:other' }
    const others = await Promise.all(Array.from({ length: 200 }, (_, at) => one.hold(`b${at}`, 10, other)))
    expect(others.filter(outcome => outcome === 'held')).toHaveLength(30)
  })

  test('frees the excess of a hold when it is settled, and all of it when it is released', async () => {
    const net = network()
    const one = processOf(net, { maxPerAccount: 100 })
    await one.lose(how)
    expect([await one.hold('a', 100, postpaid), await one.hold('b', 60, postpaid)]).toEqual(['held', 'failed'])
    const settled = one.settle('a', 40)
    expect([await one.hold('c', 60, postpaid), await one.hold('d', 1, postpaid)]).toEqual(['held', 'failed'])
    const released = one.settle('c', 0)
    expect(await one.hold('e', 60, postpaid)).toBe('held')
    const last = one.settle('e', 60)
    await one.rejoin()
    await Promise.all([settled, released, last])
    expect(await net.storage.ledger.balance(credit)).toEqual({ balance: -100, held: 0, credited: 0, spent: 100 })
  })

  test('charges a request once if its hold is in the database and its settlement arrives meanwhile', async () => {
    const net = network()
    await give(net.storage.ledger, 1_000)
    const one = processOf(net)
    expect(await one.hold('a', 500)).toBe('held')
    await one.lose(how)
    const settled = one.settle('a', 300)
    await pause(3 * maxWaitMs)
    expect((await net.storage.ledger.balance(credit)).spent).toBe(0)
    await one.rejoin()
    await settled
    expect(await net.storage.ledger.balance(credit)).toEqual({ balance: 700, held: 0, credited: 1_000, spent: 300 })
  })

  test('between a hold and its response is decided in this process, and nothing stays held', async () => {
    const net = network()
    await give(net.storage.ledger, 1_000)
    const one = processOf(net, { maxPerLimitedAccount: 50 })
    expect(await one.hold('known', 1)).toBe('held')
    await one.settle('known', 1)
    expect(await one.hold('cover', 1)).toBe('held')
    await one.settle('cover', 1)
    one.cut(how)
    const [small, large] = await Promise.all([one.hold('small', 50), one.hold('large', 500)])
    expect([small, large]).toEqual(['held', 'failed'])
    await one.rejoin()
    await one.settle('small', 50)
    const holds = async () => (await net.storage.ledger.holds({ limit: 10 })).map(({ id }) => id)
    // A hold whose response was lost is renewed by no request: the collector frees it.
    await waitFor(async () => expect(await holds()).toEqual(how === 'mute' ? ['large'] : []), { interval: 2 })
    for (const { id } of await net.storage.ledger.holds({ limit: 10 })) await net.storage.ledger.settle({ id, amounts: {}, at: 3 })
    expect(await net.storage.ledger.balance(credit)).toMatchObject({ held: 0, spent: 52 })
  })

  test('places the holds of running requests once it is over, and extends them there', async () => {
    const net = network()
    const one = processOf(net)
    await one.lose(how)
    expect(await one.hold('a', 100, postpaid)).toBe('held')
    const more = { id: 'a', accounts: [{ ...postpaid, amount: 50 }] }
    expect(await one.storage.ledger.extend(more)).toBeUndefined()
    await one.rejoin()
    expect((await net.storage.ledger.balance(credit)).held).toBe(150)
    expect(await one.storage.ledger.extend(more)).toBeUndefined()
    expect((await net.storage.ledger.balance(credit)).held).toBe(200)
    await one.settle('a', 170)
    expect(await net.storage.ledger.balance(credit)).toMatchObject({ held: 0, spent: 170 })
  })
})

test('new requests are refused when the grace is over, and the database is used again when it is back', async () => {
  const one = processOf(network(), { graceMs: 1_000 })
  await one.lose('hanging')
  expect(await one.hold('a', 1, postpaid)).toBe('held')
  await one.storage.ping()
  await waitFor(() => expect(one.states()).toEqual(['begun', 'grace_over']), { interval: 10 })
  expect(one.storage.outage?.()?.leftMs).toBe(0)
  expect(await one.hold('b', 1, postpaid)).toBe('failed')
  await expect(one.storage.ping()).rejects.toThrow('The storage is unavailable.')
  await one.rejoin()
  expect(one.states()).toEqual(['begun', 'grace_over', 'over'])
  expect(await one.hold('c', 1, postpaid)).toBe('held')
})

test('an account with a floor is admitted only if the database last admitted a hold on it', async () => {
  const net = network()
  await give(net.storage.ledger, 100)
  const one = processOf(net, { maxPerLimitedAccount: 1_000 })
  await one.lose('refusing')
  expect(await one.hold('a', 1)).toBe('failed')
  await one.rejoin()
  expect([await one.hold('b', 90), await one.hold('c', 50)]).toEqual(['held', 'refused'])
  await one.lose('refusing')
  expect(await one.hold('d', 1)).toBe('failed')
})

test('a second outage gives an account with a floor no second cap until the database admits a hold on it again', async () => {
  const net = network()
  await give(net.storage.ledger, 100)
  const one = processOf(net, { maxPerLimitedAccount: 60 })
  expect(await one.hold('a', 100)).toBe('held')
  await one.settle('a', 100)
  for (const round of [1, 2, 3]) {
    await one.lose('refusing')
    const outcome = await one.hold(`b${round}`, 40)
    expect(outcome).toBe(round === 1 ? 'held' : 'failed')
    await one.rejoin()
    if (outcome === 'held') await one.settle(`b${round}`, 40)
  }
  expect((await net.storage.ledger.balance(credit)).balance).toBe(-40)
  await net.storage.ledger.credit({ id: 'more', account: credit, amount: 100, at: 3 })
  expect(await one.hold('c', 1)).toBe('held')
  await one.lose('refusing')
  expect(await one.hold('d', 60)).toBe('held')
})

test('a hold that the database admits before it has the settlements of an outage gives no second cap', async () => {
  const net = network()
  await give(net.storage.ledger, 130)
  const one = processOf(net, { maxPerLimitedAccount: 60 })
  expect(await one.hold('a', 100)).toBe('held')
  await one.settle('a', 100)
  await one.lose('refusing')
  expect(await one.hold('b', 40)).toBe('held')
  const settlement = { id: 'b', amounts: { [credit]: 40 }, at: 2 }
  await expect(one.storage.ledger.settle(settlement)).rejects.toThrow('is unavailable')
  await one.rejoin()
  expect(await one.hold('c', 30)).toBe('held')
  await one.lose('refusing')
  expect([await one.hold('d', 60), await one.hold('e', 20)]).toEqual(['failed', 'held'])
  await one.rejoin()
  await Promise.all([one.storage.ledger.settle(settlement), one.settle('c', 30), one.settle('e', 20)])
  expect((await net.storage.ledger.balance(credit)).balance).toBe(-60)
})

test('one call that fails for its own reason is not an outage', async () => {
  const net = network()
  const one = processOf(net)
  const { ledger } = net.storage
  const reserve = ledger.reserve.bind(ledger)
  Object.assign(ledger, {
    reserve: (hold: Parameters<typeof reserve>[0]) =>
      hold.id === 'odd' ? Promise.reject(new Error('invalid byte sequence')) : reserve(hold),
  })
  await expect(one.storage.ledger.reserve({ id: 'odd', amount: 1, accounts: [postpaid], at: 1 })).rejects.toThrow('invalid byte sequence')
  expect(await one.hold('a', 1, postpaid)).toBe('held')
  await expect(one.storage.ledger.reserve({ id: 'half', amount: 0.5, accounts: [postpaid], at: 1 })).rejects.toThrow(RangeError)
  expect(one.states()).toEqual([])
})

test('each process enforces its share of limits meanwhile, and slots of running requests are taken again afterwards', async () => {
  const net = network()
  const one = processOf(net, { processes: () => 2 })
  const take = async () => (await one.storage.counters.take([{ key: 'w/rpm', amount: 1, limit: 10, windowMs: 60_000 }], 1)) === undefined
  const slot = { key: 'w/slots', slot: 'r', limit: 4, ttlMs: 90_000 }
  await one.lose('hanging')
  const taken = await Promise.all(Array.from({ length: 20 }, take))
  expect(taken.filter(Boolean)).toHaveLength(5)
  expect(await one.storage.counters.enter(slot, 1)).toBe(true)
  await one.rejoin()
  const rest = await Promise.all(['x', 'y', 'z', 'q'].map(name => net.storage.counters.enter({ ...slot, slot: name }, 1)))
  expect(rest).toEqual([true, true, true, false])
  await one.storage.counters.leave(slot.key, slot.slot)
  expect(await net.storage.counters.enter({ ...slot, slot: 'q' }, 1)).toBe(true)
})

test('a settlement frees the slots of its request in the process and in the database', async () => {
  const net = network()
  const one = processOf(net)
  const isFree = async (key: string) => {
    const isIn = await one.storage.counters.enter({ key, slot: 'probe', limit: 1, ttlMs: 90_000 }, 1)
    await one.storage.counters.leave(key, 'probe')
    return isIn
  }
  const begin = (key: string) => one.storage.counters.enter({ key, slot: 'r', limit: 1, ttlMs: 90_000 }, 1)
  await begin('w/before')
  await one.lose('refusing')
  await begin('w/meanwhile')
  expect(await isFree('w/meanwhile')).toBe(false)
  const settled = one.settle('r', 0, ['w/before', 'w/meanwhile'])
  await waitFor(async () => expect(await isFree('w/meanwhile')).toBe(true))
  await one.rejoin()
  await settled
  expect([await isFree('w/before'), await isFree('w/meanwhile')]).toEqual([true, true])
})

test('a storage without a spool, and invalid numbers, are refused', () => {
  const { counters } = memoryStorage()
  expect(() => withOutageGrace(memoryStorage(), { counters })).toThrow('the storage has no spool')
  const { storage } = network().way()
  for (const [name, value] of [
    ['graceMs', 0],
    ['maxPerAccount', 0.5],
    ['maxPerProcess', Number.NaN],
    ['maxWaitMs', 1e9],
  ] as const)
    expect(() => withOutageGrace(storage, { counters, [name]: value })).toThrow(`\`${name}\` must be whole`)
})

const runs = inject('isLongRun') ? 100 : 6

/** Requests of one process in random order, while it is cut off and joined again. */
async function traffic(one: ReturnType<typeof processOf>, name: string, random: () => number): Promise<Map<string, number>> {
  const owed = new Map<string, number>()
  const settling: Promise<void>[] = []
  for (let at = 0; at < 60; at++) {
    const dice = random()
    if (dice < 0.06) one.cut(ways[Math.floor(random() * ways.length)] as Away)
    else if (dice < 0.14) one.join()
    const id = `${name}${at}`
    const amount = 1 + Math.floor(random() * 30)
    const cost = Math.floor(random() * (amount + 1))
    const waitMs = random() * 60
    settling.push(
      one.hold(id, amount).then(async outcome => {
        if (outcome !== 'held') return
        await pause(waitMs)
        owed.set(id, cost)
        await one.settle(id, cost)
      }),
    )
    await pause(random() * 12)
  }
  one.join()
  await Promise.all(settling)
  return owed
}

test(`${runs} random runs of two processes: each request is charged once, and an account exceeds its floor by two caps at most`, async () => {
  const cap = 100
  const overspent: number[] = []
  for (let run = 0; run < runs; run++) {
    const random = seeded(run + 1)
    const net = network()
    await give(net.storage.ledger, 300)
    const processes = ['a', 'b'].map(name => [name, processOf(net, { maxPerLimitedAccount: cap, maxWaitMs: 16 })] as const)
    const owed = (await Promise.all(processes.map(([name, one]) => traffic(one, name, random)))).flatMap(each => [...each])
    for (const { id } of await net.storage.ledger.holds({ limit: 1_000 })) await net.storage.ledger.settle({ id, amounts: {}, at: 3 })
    const { balance, spent } = await net.storage.ledger.balance(credit)
    const charged = (await net.storage.ledger.entries(credit, { limit: 10_000 })).filter(({ kind }) => kind === 'usage')
    const costs = new Map(charged.map(({ id, amount }) => [id, 0 - amount]))
    expect(spent, `run ${run}`).toBe(owed.reduce((sum, [, cost]) => sum + cost, 0))
    for (const [id, cost] of owed) expect(costs.get(id), `${id} of run ${run}`).toBe(cost)
    const rows = await net.storage.usage.list({ workspaceId: 'w', from: 0, to: 9, limit: 1_000 })
    expect(new Map(rows.map(({ id, cost }) => [id, cost])), `run ${run}`).toEqual(new Map(owed))
    expect(charged.length).toBe(new Set(charged.map(({ id }) => id)).size)
    expect(balance, `run ${run}`).toBeGreaterThanOrEqual(-2 * cap)
    overspent.push(Math.max(0, -balance))
    for (const [, one] of processes) await one.storage.close()
  }
  // Otherwise the runs would show nothing of the bound.
  expect(Math.max(...overspent)).toBeGreaterThan(0)
})
