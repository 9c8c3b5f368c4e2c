import { chatProvider } from '@signalbox/dialects'
import { createGateway } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { withChanges } from '@signalbox/storage/compose'
import { type OutageGraceOptions, withOutageGrace } from '@signalbox/storage/outage-grace'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acts, fakeClock, scriptedProvider, testModels } from '../../src/index.ts'
import { waitFor } from '../waits.ts'
import { type Away, network } from './away.ts'

const cost = 18

/** A gateway over a storage with outages, with a postpaid or a prepaid workspace. */
async function scene({ credit, ...options }: Partial<OutageGraceOptions> & { readonly credit?: number } = {}) {
  const clock = fakeClock()
  const net = network()
  const way = net.way()
  const lines: string[] = []
  const log = (_: unknown, message: string) => void lines.push(message)
  const logger = { info: log, warn: log, error: log }
  const announced: ((changes: undefined) => void)[] = []
  const graced = withOutageGrace(way.storage, { counters: memoryStorage().counters, maxWaitMs: 40, logger, ...options })
  const subscribe = (listener: (changes: undefined) => void) => {
    announced.push(listener)
    return () => {}
  }
  const storage = withChanges(graced, { publish: () => {}, subscribe })
  const answers = Array.from({ length: 1_200 }, () => acts.reply({ text: 'Here.', usage: { input: 12, output: 3 } }))
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, clock, acts: answers })
  const limits = { inferenceRpm: 1e6, concurrentRequests: 1e5 }
  const parts = { providers: [provider], models: testModels([{ id: 'p', dialect: 'chat' }]), limits, logger, clock }
  const gateway = createGateway({ ...parts, storage })
  onTestFinished(() => graced.close())
  const { id } = await gateway.workspaces.create({ name: 'w', billing: credit === undefined ? 'postpaid' : 'prepaid' })
  if (credit !== undefined) await gateway.workspaces(id).billing.credit({ reference: 'r', amount: credit })
  const newKey = () => gateway.workspaces(id).apiKeys.create({ name: 'k' })
  const { secret, apiKey } = await newKey().then(made => ({ ...made, apiKey: made }))
  const ask = async (key = secret): Promise<string> => {
    try {
      const caller = await gateway.authenticate(key)
      const body = { model: 'test-model', input: 'Hi', max_output_tokens: 20 }
      await gateway
        .infer(
          gateway.dialects.responses.decodeRequest(body, () => undefined),
          { caller },
        )
        .whole()
      return 'ok'
    } catch (error) {
      return (error as { readonly code?: string }).code ?? String(error)
    }
  }
  const lose = async (how: Away): Promise<void> => {
    way.cut(how)
    await Promise.resolve(storage.ping()).catch(() => {})
    await waitFor(() => expect(storage.outage?.()).toBeDefined(), { interval: 2 })
  }
  /** Joined, and everything that waited is written. */
  const rejoin = async (): Promise<void> => {
    way.join()
    await waitFor(() => expect(storage.outage?.()).toBeUndefined(), { interval: 2 })
    for (let at = 0; at < 10; at++) await clock.advance(1_000)
    await waitFor(() => expect(way.spooled).toEqual([]), { interval: 2 })
  }
  const books = async () => {
    const { spent, held } = await net.storage.ledger.balance(`credit:${id}`)
    const rows = await net.storage.usage.list({ workspaceId: id, from: 0, to: 1e15, limit: 1_000 })
    return { spent, held, rows: rows.length, ids: new Set(rows.map(row => row.id)).size }
  }
  const forgetAll = () => announced.forEach(listener => void listener(undefined))
  return { clock, way, net, storage, gateway, id, secret, apiKey, newKey, ask, lose, rejoin, books, lines, forgetAll }
}

describe.each(['refusing', 'hanging'] as const)('during an outage of the database, %s,', how => {
  test('known keys still work, their responses are charged once it is back, and the operator is shown everything', async () => {
    const { clock, gateway, way, ask, lose, rejoin, books, lines } = await scene()
    expect(await ask()).toBe('ok')
    await lose(how)
    expect(await Promise.all(Array.from({ length: 20 }, () => ask()))).toEqual(Array(20).fill('ok'))
    // The key and the policy have expired since.
    await clock.advance(40_000)
    expect(await ask()).toBe('ok')
    expect((await gateway.health()).problems).toEqual([])
    expect((await gateway.health()).notices).toEqual([
      expect.stringMatching(/^The storage has been unavailable for \d s\. .* for \d+ s more\.$/),
    ])
    expect(way.spooled).toHaveLength(21)
    expect(await books()).toMatchObject({ spent: cost, rows: 1 })
    await rejoin()
    expect(await books()).toEqual({ spent: 22 * cost, held: 0, rows: 22, ids: 22 })
    expect([await ask(), (await gateway.health()).notices]).toEqual(['ok', []])
    const told = lines.filter(line => line.startsWith('The storage is'))
    expect(told).toEqual([
      'The storage is unavailable. Requests with cached keys are still served, within the caps, until the grace period ends.',
      'The storage is available again.',
    ])
  })

  test('a key that was not used lately is refused', async () => {
    const { clock, ask, newKey, lose } = await scene()
    const { secret: unknown } = await newKey()
    expect(await ask()).toBe('ok')
    await clock.advance(61_000)
    await lose(how)
    expect([await ask(), await ask(unknown)]).toEqual(['service_unavailable', 'service_unavailable'])
  })
})

test('a revocation that cannot be written stops the key in this process, and so does a message of another process', async () => {
  for (const isRevokedHere of [true, false]) {
    const { gateway, id, apiKey, ask, lose, rejoin, forgetAll } = await scene()
    expect(await ask()).toBe('ok')
    await lose('refusing')
    expect(await ask()).toBe('ok')
    if (isRevokedHere) await expect(gateway.workspaces(id).apiKeys.revoke(apiKey.id)).rejects.toMatchObject({ code: 'service_unavailable' })
    else forgetAll()
    expect(await ask()).toBe('service_unavailable')
    await rejoin()
    expect(await ask()).toBe('ok')
    await gateway.workspaces(id).apiKeys.revoke(apiKey.id)
    expect(await ask()).toBe('invalid_api_key')
  }
})

test('a revocation by another workspace removes no cached key', async () => {
  const { gateway, apiKey, ask, lose } = await scene()
  const other = await gateway.workspaces.create({ name: 'other' })
  expect(await ask()).toBe('ok')
  await lose('refusing')
  await expect(gateway.workspaces(other.id).apiKeys.revoke(apiKey.id)).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(await ask()).toBe('ok')
})

test('prepaid credit stops by default, and if allowed exceeds 0 by the cap at most', async () => {
  const stopped = await scene({ credit: 10_000 })
  expect(await stopped.ask()).toBe('ok')
  await stopped.lose('refusing')
  expect(await stopped.ask()).toBe('service_unavailable')

  const cap = 1_000
  const going = await scene({ credit: 10_000, maxPerLimitedAccount: cap })
  expect(await going.ask()).toBe('ok')
  await going.lose('refusing')
  // Another process spends all that is left.
  const left = 10_000 - cost
  await going.net.storage.ledger.settle({ id: 'elsewhere', amounts: { [`credit:${going.id}`]: left }, at: 1 })
  const outcomes = await Promise.all(Array.from({ length: 200 }, () => going.ask()))
  const through = outcomes.filter(outcome => outcome === 'ok').length
  expect(new Set(outcomes)).toEqual(new Set(['ok', 'service_unavailable']))
  await going.rejoin()
  const { spent, held, rows } = await going.books()
  expect({ spent, held, rows }).toEqual({ spent: 10_000 + through * cost, held: 0, rows: through + 1 })
  expect(spent - 10_000).toBeLessThanOrEqual(cap)
  expect(through).toBeGreaterThan(5)
  expect(await going.ask()).toBe('insufficient_credits')
})

test('more settlements may be queued than in an outage that stops requests', async () => {
  const { ask, way, lose, rejoin, books } = await scene()
  expect(await ask()).toBe('ok')
  await lose('refusing')
  for (let round = 0; round < 11; round++)
    expect(await Promise.all(Array.from({ length: 100 }, () => ask()))).toEqual(Array(100).fill('ok'))
  expect(way.spooled).toHaveLength(1_100)
  await rejoin()
  expect(await books()).toMatchObject({ spent: 1_101 * cost, held: 0 })
})

test('a wall clock that is set forward or back ends no grace and charges nothing twice', async () => {
  const { clock, ask, lose, rejoin, books } = await scene()
  expect(await ask()).toBe('ok')
  await lose('refusing')
  for (const jump of [86_400_000, -2 * 86_400_000, 86_400_000]) {
    clock.jump(jump)
    expect(await ask()).toBe('ok')
  }
  await rejoin()
  expect(await books()).toEqual({ spent: 4 * cost, held: 0, rows: 4, ids: 4 })
})

test('without grace an outage of the database stops all requests', async () => {
  const { clock, way, net } = await scene()
  const plain: Storage = way.storage
  const gateway = createGateway({ providers: [], models: [], storage: plain, clock, logger: { info() {}, warn() {}, error() {} } })
  const { id } = await gateway.workspaces.create({ name: 'x' })
  const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'k' })
  await gateway.authenticate(secret)
  way.cut('refusing')
  await clock.advance(31_000)
  await expect(gateway.authenticate(secret)).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(net.storage.outage).toBeUndefined()
})
