import { chatProvider } from '@signalbox/dialects'
import { createGateway, type Gateway, usd } from '@signalbox/gateway'
import type { Storage, UsageRow } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, type FakeClock, fakeClock, scriptedProvider } from '../src/index.ts'

// Processes that end or stall while requests are under way, and others on the same store that settle their holds.

const price = { input: 1_000_000, output: 2_000_000 }
const all = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 }

/** A process: a gateway over the store, which can be cut off from it as by its death or a stall. */
function processOn(kept: Storage, clock: FakeClock, script: readonly Act[]) {
  const state = { isCut: false, isReadOnly: false, log: [] as string[] }
  const held: (() => void)[] = []
  const reads = new Set(['holds', 'balance', 'entries', 'find', 'findByName', 'list', 'totals', 'count'])
  const watched = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const verb: unknown = Reflect.get(target, name)
        if (typeof verb !== 'function') return verb
        return (...args: readonly unknown[]) => {
          if (state.isReadOnly && !reads.has(String(name))) return Promise.reject(new Error('database is locked'))
          if (!state.isCut) return Reflect.apply(verb, target, args)
          return new Promise<void>(resolve => held.push(resolve)).then(() => Reflect.apply(verb, target, args))
        }
      },
    })
  const { records, counters, ledger, usage, settle } = kept
  const storage = {
    ...kept,
    ...watched({ settle }),
    records: watched(records),
    counters: watched(counters),
    ledger: watched(ledger),
    usage: watched(usage),
  }
  const provider = scriptedProvider({ id: 'one', dialect: chatProvider, clock, acts: script })
  const models = [{ id: 'model', offers: [{ provider: 'one', model: 'm', api: 'chat', price }] }]
  const note = (_: unknown, message: string): void => void state.log.push(message)
  const timeouts = { firstByteMs: 600_000, wholeMs: 600_000, idleMs: 600_000, deadlineMs: 600_000 }
  const logger = { info: note, warn: note, error: note }
  const gateway = createGateway({ providers: [provider], models, storage, clock, logger, timeouts })
  const resume = (): void => {
    state.isCut = false
    for (const run of held.splice(0)) run()
  }
  return { gateway, state, resume }
}

async function scene({ storage = sqliteStorage(':memory:'), credit = 1_000 }: { storage?: Storage; credit?: number } = {}) {
  onTestFinished(() => storage.close())
  const clock = fakeClock()
  const start = (...script: readonly Act[]) => processOn(storage, clock, script)
  const setUp = start()
  await setUp.gateway.workspaces.create({ id: 'w', name: 'W', billing: 'prepaid' })
  await setUp.gateway.workspaces('w').billing.credit({ reference: 'start', amount: credit })
  await setUp.gateway.workspaces('w').budgets.create({ name: 'b', period: 'total', limit: usd(1) })
  const { secret, id: keyId } = await setUp.gateway.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
  const ask = async ({ gateway }: { readonly gateway: Gateway }, requestId: string, { key = secret, input = 'Hi' } = {}) => {
    const caller = await gateway.authenticate(key)
    const body = { model: 'model', input, stream: true, max_output_tokens: 100, gateway: { metadata: { of: requestId } } }
    return gateway.infer(
      gateway.dialects.responses.decodeRequest(body, () => undefined),
      { caller, requestId },
    )
  }
  /** In steps, since a store may take a turn of the event loop for each verb. */
  const pass = async (milliseconds: number): Promise<void> => {
    for (let left = milliseconds; left > 0; left -= 500) await clock.advance(Math.min(left, 500))
  }
  return {
    ...{ storage, clock, pass, start, ask, secret, keyId },
    rows: async (): Promise<readonly UsageRow[]> => storage.usage.list({ workspaceId: 'w', ...all }),
    credit: () => storage.ledger.balance('credit:w'),
    slotFree: async () => {
      const slot = { key: `w/slots:${keyId}`, slot: 'probe', limit: 1, ttlMs: 1 }
      return storage.counters.enter(slot, clock.now())
    },
  }
}

/** Three text deltas, then a minute of silence, then the rest. */
const long = acts.pauseAfter(3, 60_000)

test('the requests of an ended process are settled as interrupted within a minute of the restart: row, estimate, hold and slot', async () => {
  const { storage, pass, start, ask, rows, credit, slotFree } = await scene()
  const first = start(long)
  const reply = await ask(first, 'r1')
  void reply.whole().catch(() => {})
  await pass(5_000)
  expect((await credit()).held).toBeGreaterThan(0)
  first.state.isCut = true
  const again = start(acts.reply())
  expect((await again.gateway.health()).problems).toEqual([])
  await pass(40_000)
  expect(await rows()).toEqual([])
  await pass(20_000)
  const [row, ...more] = await rows()
  expect(more).toEqual([])
  expect(row).toMatchObject({
    id: 'r1',
    result: 'interrupted',
    model: 'model',
    provider: 'one',
    estimated: true,
    attempts: 1,
    streamed: true,
  })
  expect(row).toMatchObject({ workspaceId: 'w', modelAsked: 'model', metadata: { of: 'r1' } })
  expect(row?.inputTokens).toBeGreaterThan(0)
  expect(row?.outputTokens).toBeGreaterThan(0)
  expect(row?.cost).toBe((row?.inputTokens ?? 0) + 2 * (row?.outputTokens ?? 0))
  expect(await credit()).toMatchObject({ held: 0, balance: 1_000 - (row?.cost ?? 0) })
  expect((await storage.ledger.entries('credit:w', { limit: 9 })).filter(({ kind }) => kind === 'usage')).toHaveLength(1)
  expect((await storage.ledger.entries('credit:w', { limit: 1 }))[0]).toMatchObject({ id: 'r1', amount: -(row?.cost ?? 0) })
  expect(await storage.ledger.holds({ limit: 9 })).toEqual([])
  expect(await slotFree()).toBe(true)
  expect(again.state.log.join()).toContain('interrupted')
})

test('the request of an ended process is charged to the budget of its key’s parent too', async () => {
  const { pass, start, ask, rows, keyId } = await scene()
  const first = start(long)
  const w = first.gateway.workspaces('w')
  await w.budgets.create({ name: 'of the key above', apiKeyId: keyId, period: 'total', limit: usd(1) })
  const scopes = ['inference:invoke', 'keys:write'] as const
  const above = { key: { id: keyId, name: 'k', scopes: new Set<string>(scopes) } }
  const { secret } = await first.gateway.workspaces('w', above).apiKeys.create({ name: 'below' })
  void (await ask(first, 'r1', { key: secret })).whole().catch(() => {})
  await pass(5_000)
  first.state.isCut = true
  const again = start(acts.reply())
  expect((await again.gateway.health()).problems).toEqual([])
  await pass(60_000)
  const [row] = await rows()
  expect(row).toMatchObject({ result: 'interrupted' })
  expect(row?.cost).toBeGreaterThan(0)
  const used = (await again.gateway.workspaces('w').budgets.list()).map(({ name, used }) => [name, used])
  expect(used).toEqual([
    ['b', row?.cost],
    ['of the key above', row?.cost],
  ])
})

test('the prompt of an ended process is counted by its scripts, as for a client that disconnects', async () => {
  const { pass, start, ask, rows } = await scene({ credit: 1_000_000 })
  const input = '信号楼是铁路上用来控制道岔和信号的建筑。'.repeat(500)
  const first = start(long, long)
  const left = await ask(first, 'left', { input })
  void left.whole().catch(() => {})
  const dead = await ask(first, 'dead', { input })
  void dead.whole().catch(() => {})
  await pass(5_000)
  const leaving = left.leave()
  await pass(6_000)
  await leaving
  first.state.isCut = true
  await start(acts.reply()).gateway.health()
  await pass(60_000)
  const found = await rows()
  const inputOf = (id: string): number => found.find(row => row.id === id)?.inputTokens ?? 0
  expect(inputOf('left')).toBeGreaterThan(6_000)
  expect(Math.abs(inputOf('dead') - inputOf('left'))).toBeLessThan(20)
})

test('credit held by an ended process is usable again within a minute, even if the first request after the restart is refused for it', async () => {
  const { pass, start, ask } = await scene({ credit: 250 })
  const first = start(long)
  void (await ask(first, 'r1')).whole().catch(() => {})
  await pass(1_000)
  first.state.isCut = true
  const again = start(acts.reply(), acts.reply())
  await expect((await ask(again, 'r2')).whole()).rejects.toMatchObject({ code: 'insufficient_credits' })
  await pass(60_000)
  const answered = (await ask(again, 'r3')).whole()
  await pass(1_000)
  expect((await answered).outcome.status).toBe('completed')
})

test('a request that its process renews is never settled by another, however long it runs', async () => {
  const { pass, start, ask, rows } = await scene()
  const [first, other] = [start(acts.pauseAfter(3, 500_000)), start(acts.pauseAfter(3, 550_000))]
  const answers = [(await ask(first, 'r1')).whole(), (await ask(other, 'r2')).whole()]
  await pass(490_000)
  expect(await rows()).toEqual([])
  await pass(100_000)
  expect((await Promise.all(answers)).map(({ outcome }) => outcome.status)).toEqual(['completed', 'completed'])
  expect((await rows()).map(({ result }) => result)).toEqual(['ok', 'ok'])
})

test('if a process stalls for longer than the lease and then settles, the first settlement stays: one row, one charge', async () => {
  const { storage, pass, start, ask, rows, credit } = await scene()
  const [stalled, other] = [start(long), start()]
  const answer = (await ask(stalled, 'r1')).whole()
  await pass(5_000)
  stalled.state.isCut = true
  await other.gateway.health()
  await pass(100_000)
  const [interrupted] = await rows()
  expect(interrupted?.result).toBe('interrupted')
  stalled.resume()
  await pass(5_000)
  await answer
  expect(await rows()).toEqual([interrupted])
  expect((await storage.ledger.entries('credit:w', { limit: 9 })).map(({ kind }) => kind)).toEqual(['usage', 'credit'])
  expect(await credit()).toMatchObject({ balance: 1_000 - (interrupted?.cost ?? 0), held: 0 })
})

test('a stall shorter than the lease changes nothing: the response is settled normally', async () => {
  const { pass, start, ask, rows } = await scene()
  const [stalled, other] = [start(long), start()]
  const answer = (await ask(stalled, 'r1')).whole()
  await pass(5_000)
  await other.gateway.health()
  stalled.state.isCut = true
  await pass(30_000)
  stalled.resume()
  await pass(60_000)
  await answer
  expect((await rows()).map(({ result }) => result)).toEqual(['ok'])
})

test('several processes that find the same holds settle each once', async () => {
  const { storage, pass, start, ask, rows } = await scene()
  const first = start(long, long, long)
  for (const id of ['r1', 'r2', 'r3']) void (await ask(first, id)).whole().catch(() => {})
  await pass(5_000)
  first.state.isCut = true
  const others = [start(), start(), start()]
  await Promise.all(others.map(({ gateway }) => gateway.health()))
  await pass(60_000)
  const found = await rows()
  expect(found.map(({ id }) => id).sort()).toEqual(['r1', 'r2', 'r3'])
  const charged = (await storage.ledger.entries('credit:w', { limit: 99 })).filter(({ kind }) => kind === 'usage')
  expect(charged.map(({ id, amount }) => [id, -amount]).sort()).toEqual(found.map(({ id, cost }) => [id, cost]).sort())
})

test('time in which the store cannot be written does not count towards a lease', async () => {
  const { pass, start, ask, rows } = await scene()
  const [first, other] = [start(long), start()]
  const answer = (await ask(first, 'r1')).whole()
  await other.gateway.health()
  await pass(5_000)
  // As while a backup has the lock: both can read, neither can write.
  for (const each of [first, other]) each.state.isReadOnly = true
  await pass(54_000)
  for (const each of [first, other]) each.state.isReadOnly = false
  await pass(30_000)
  await answer
  expect((await rows()).map(({ result }) => result)).toEqual(['ok'])
})

test('a process that was suspended does not take others for dead on its return', async () => {
  const { storage, clock, pass, start, ask, rows } = await scene()
  const answer = (await ask(start(long), 'r1')).whole()
  const other = start()
  await other.gateway.health()
  await pass(50_000)
  other.state.isCut = true
  await pass(12_000)
  await answer
  // A hold that is settled by now and no longer renewed, as the suspended process remembers it.
  await storage.ledger.reserve({ id: 'r2', amount: 0, accounts: [], at: clock.now() })
  other.resume()
  await pass(40_000)
  expect((await rows()).map(({ id }) => id)).toEqual(['r1'])
  expect((await storage.ledger.holds({ limit: 9 })).map(({ id }) => id)).toEqual(['r2'])
})

test('a hold without a journal, as in an older file, is freed and costs nothing', async () => {
  const { storage, pass, start, rows, credit } = await scene()
  await storage.ledger.reserve({ id: 'old', amount: 500, accounts: [{ account: 'credit:w', floor: 0 }], at: 1 })
  await storage.ledger.reserve({ id: 'odd', amount: 0, accounts: [], at: 1, journal: () => '{"workspaceId":7}' })
  const { gateway, state } = start()
  await gateway.health()
  await pass(60_000)
  expect([await rows(), await credit()]).toEqual([[], { balance: 1_000, held: 0, credited: 1_000, spent: 0 }])
  expect(await storage.ledger.holds({ limit: 9 })).toEqual([])
  expect(state.log.filter(message => message.includes('had no journal'))).toHaveLength(2)
})

test('an idle gateway without holds to watch has no timer, and a request starts one', async () => {
  const { clock, pass, start, ask, credit } = await scene({ storage: memoryStorage() })
  const first = start(acts.reply())
  const answered = (await ask(first, 'r1')).whole()
  await pass(120_000)
  await answered
  expect(clock.pending()).toBe(0)
  const gone = start(long)
  void (await ask(gone, 'r2')).whole().catch(() => {})
  await pass(3_000)
  gone.state.isCut = true
  await first.gateway.health()
  await pass(60_000)
  expect((await credit()).held).toBe(0)
})

test.each([
  ['looks at its usage', ({ gateway }: { gateway: Gateway }) => gateway.workspaces('w').analytics.summary()],
  [
    'is asked what a caller has left',
    async ({ gateway }: { gateway: Gateway }, secret: string) => gateway.identity(await gateway.authenticate(secret)),
  ],
] as const)('a process that only %s after a restart settles what the one before it left', async (_, use) => {
  const { pass, start, ask, rows, credit, secret } = await scene()
  const gone = start(long)
  void (await ask(gone, 'r1')).whole().catch(() => {})
  await pass(3_000)
  gone.state.isCut = true
  await use(start(), secret)
  await pass(60_000)
  expect((await rows()).map(({ id, result }) => [id, result])).toEqual([['r1', 'interrupted']])
  expect((await credit()).held).toBe(0)
})
