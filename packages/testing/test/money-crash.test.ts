import { chatProvider } from '@signalbox/dialects'
import { createGateway } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, type FakeClock, fakeClock, scriptedProvider } from '../src/index.ts'
import { bookOf, build, stores } from './money-scene.ts'
import { settled } from './provider-selection.ts'

// Whatever fails, and at whatever moment a process is gone: nothing is held for ever, and the books add up.

const ways: Readonly<Record<string, Act>> = {
  answers: acts.reply(),
  'answers late': acts.stall(2_000),
  'never answers': acts.never(),
  fails: acts.status(500),
  'is full': acts.status(429, { retryAfter: 1 }),
  'refuses us': acts.status(401),
  'refuses the request': acts.status(400),
  'is not there': acts.unreachable(),
  'breaks before content': acts.preambleThenFail(),
  'breaks after content': acts.breakAfter(1),
  'ends too soon': acts.endAfter(1),
  'fails first': acts.errorFirst(),
  'fails after content': acts.errorAfter(1),
  'falls silent': acts.pauseAfter(1, 20_000),
}

/** Past every deadline and every lease. */
const forgottenMs = 1_140_000

/** A process that ends after so many store calls: later calls never reach the store. */
function mortal(storage: Storage): { readonly storage: Storage; readonly dieAfter: (verbs: number) => void } {
  let left = Number.POSITIVE_INFINITY
  const watched = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, field) {
        const verb: unknown = Reflect.get(target, field)
        if (typeof verb !== 'function') return verb
        return (...args: readonly unknown[]) => {
          left -= 1
          return left < 0 ? new Promise(() => {}) : Reflect.apply(verb, target, args)
        }
      },
    })
  const { counters, ledger, records, settle } = storage
  return {
    storage: { ...storage, ...watched({ settle }), counters: watched(counters), ledger: watched(ledger), records: watched(records) },
    dieAfter: verbs => {
      left = verbs
    },
  }
}

const aLife = fc.record({
  script: fc.array(fc.constantFrom('answers', 'answers', ...Object.keys(ways)), { maxLength: 5 }),
  requests: fc.integer({ min: 1, max: 12 }),
  /** That it lives for. */
  verbs: fc.integer({ min: 0, max: 160 }),
  stream: fc.boolean(),
})

const budget = { name: 'b', scope: 'workspace', period: 'total', limit: 1_000_000, enforce: true, includeByok: false, alertAt: [] }

test.each([
  ['memory', stores.memory, inject('isLongRun') ? 60 : 20],
  ['sqlite', stores.sqlite, inject('isLongRun') ? 25 : 12],
] as const)(
  'over %s a process that ends between two store calls leaves consistent accounts, and holds that the next process frees within a minute',
  async (_, open, numRuns) => {
    let paid = 0
    const live = async ({ script, requests, verbs, stream }: typeof aLife extends fc.Arbitrary<infer Life> ? Life : never) => {
      const kept = open()()
      const { storage, dieAfter } = mortal(kept)
      const clock = fakeClock()
      const limits = { tokensPerMinute: 100_000, workspace: { concurrentRequests: 100 } }
      const played = script.map(way => ways[way] as Act)
      const testbed = await build({ open: () => storage, clock, credit: 1_000_000, limits, script: played })
      await kept.records.commit({
        puts: [{ kind: 'budget', workspaceId: 'w', id: 'b', version: 0, createdAt: 0, body: JSON.stringify(budget) }],
      })
      await clock.advance(31_000)
      dieAfter(verbs)
      for (let at = 0; at < requests; at++) void testbed.ask(at, { stream })
      for (let second = 0; second < 60; second++) await clock.advance(1_000)
      dieAfter(0)
      await clock.advance(forgottenMs)
      expect(await freedAfter(kept, clock)).toBeLessThanOrEqual(60_000)
      const credit = await bookOf(kept, 'credit:w')
      const spent = await bookOf(kept, 'budget:b')
      expect([credit.held, spent.held]).toEqual([0, 0])
      expect([credit.sum, spent.sum]).toEqual([credit.balance, spent.balance])
      expect(1_000_000 - credit.balance + spent.balance).toBe(0)
      if (spent.balance < 0) paid += 1
      const slot = { slot: 'later', limit: 1, ttlMs: 1 }
      for (const key of [`w/slots:${await keyIdIn(kept)}`, 'w/slots'])
        expect(await kept.counters.enter({ ...slot, key }, clock.now())).toBe(true)
      await kept.close()
    }
    await fc.assert(fc.asyncProperty(aLife, live), { numRuns })
    expect(paid).toBeGreaterThan(numRuns / 8)
  },
  120_000,
)

/** Requests of a wave, of which there are twenty. */
const waveSize = inject('isLongRun') ? 500 : 50
const total = 20 * waveSize

test(`after ${total} requests that fail in every way nothing is held, no slot is taken, and each has one usage row`, async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const names = Object.keys(ways)
  const script = Array.from({ length: 1.2 * total }, (_, at) => ways[names[(at * 5) % names.length] as string] as Act)
  const limits = { workspace: { concurrentRequests: 10_000, tokensPerMinute: 1e9 } }
  const timeouts = { firstByteMs: 5_000, wholeMs: 5_000, idleMs: 5_000, deadlineMs: 20_000 }
  const { gateways, secret, request } = await build({ open: () => storage, clock, credit: 1e9, limits, timeouts, script })
  const [gateway] = gateways
  if (!gateway) throw new Error('A testbed has a gateway.')
  const caller = await gateway.authenticate(secret)
  const outcomes = new Map<string, number>()
  const note = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  for (let wave = 0; wave < 20; wave++) {
    const answers = Array.from({ length: waveSize }, (_, at) => {
      const leaving = new AbortController()
      // Some callers leave at once, some soon, most stay.
      if (at % 10 === 0) clock.setTimeout(() => leaving.abort(), at % 3 === 0 ? 0 : 1_500)
      const reply = gateway.infer(request({ stream: at % 2 === 0, gateway: { routing: { allow_fallbacks: at % 3 !== 0 } } }), {
        caller,
        signal: leaving.signal,
      })
      return reply.whole().then(
        ({ outcome }) => note(outcome.status),
        error => note(error.code),
      )
    })
    await settled(answers, clock)
  }
  await clock.advance(1_000)
  expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBe(total)
  expect(outcomes.get('completed')).toBeGreaterThan(total / 10)
  expect(outcomes.size).toBeGreaterThan(5)
  const { balance, held } = await bookOf(storage, 'credit:w')
  expect(held).toBe(0)
  const rows = await storage.usage.list({ workspaceId: 'w', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 20_000 })
  expect(rows).toHaveLength(total)
  expect(new Set(rows.map(({ id }) => id)).size).toBe(total)
  expect(1e9 - balance).toBe(rows.reduce((spent, row) => spent + row.cost, 0))
  const slot = { slot: 'later', limit: 1, ttlMs: 1 }
  for (const key of [`w/slots:${caller.keyId}`, 'w/slots']) expect(await storage.counters.enter({ ...slot, key }, clock.now())).toBe(true)
})

/** Starts another process; returns after how many milliseconds nothing is held any more. */
async function freedAfter(kept: Storage, clock: FakeClock): Promise<number> {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const gateway = createGateway({
    providers: [scriptedProvider({ id: 'p', dialect: chatProvider, clock })],
    models: [],
    storage: kept,
    clock,
    logger,
  })
  const started = clock.monotonic()
  await gateway.health()
  while ((await kept.ledger.holds({ limit: 1 })).length > 0 && clock.monotonic() - started <= 120_000) await clock.advance(500)
  return clock.monotonic() - started
}

async function keyIdIn({ records }: Storage): Promise<string> {
  const [key] = await records.list({ kind: 'key', workspaceId: 'w', limit: 1 })
  if (!key) throw new Error('A testbed has a key.')
  return key.id
}
