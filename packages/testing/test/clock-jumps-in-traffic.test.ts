import { setTimeout as realTimeout, setImmediate } from 'node:timers/promises'
import type { Clock } from '@signalbox/core/runtime'
import { chatProvider } from '@signalbox/dialects'
import { createGateway, type Gateway } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { acts, type FakeClock, fakeClock, scriptedProvider } from '../src/index.ts'
import { bookOf, cost, stores } from './money-scene.ts'

// Two processes over one store, the wall clock of one of them set at random while requests run. What is asked of each is seen from
// outside: answers, refusals and their `Retry-After`, and the ledger afterwards.

const hour = 3_600_000
const jumps = [-24 * hour, -hour, -90_000, -20_000, 20_000, 90_000, hour, 24 * hour]
const minute = 60_000
const rpm = 12
/** Less than all requests of a long run need. */
const credit = 30 * cost

interface Answered {
  readonly outcome: string
  readonly retryAfterMs: number | undefined
}

interface Process {
  readonly gateway: Gateway
  ask(secret: string): Promise<Answered>
}

/** The same timers and monotonic time as the other process, and a wall clock of its own. */
const beside = (clock: FakeClock): { readonly clock: Clock; jump(milliseconds: number): void } => {
  let apart = 0
  return {
    clock: { ...clock, now: () => clock.now() + apart },
    jump(milliseconds) {
      apart += milliseconds
    },
  }
}

function processOver(storage: Storage, clock: Clock): Process {
  // Each answer takes 5 s, so that requests are under way while a clock is set.
  const slow = acts.reply({ text: 'Here.', usage: { input: 12, output: 3 } })
  const answers = Array.from({ length: 2_000 }, (): typeof slow => async context => {
    await context.wait(5_000)
    return slow(context)
  })
  const provider = scriptedProvider({ id: 'one', dialect: chatProvider, clock, acts: answers })
  const gateway = createGateway({
    providers: [provider],
    models: [
      {
        id: 'model',
        offers: [{ provider: 'one', model: 'm', api: 'chat', price: { input: 1_000_000, output: 2_000_000 } }],
      },
    ],
    storage,
    clock,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    limits: { inferenceRpm: rpm, concurrentRequests: 50 },
  })
  const request = gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', max_output_tokens: 10 }, () => undefined)
  return {
    gateway,
    ask: async secret => {
      try {
        const caller = await gateway.authenticate(secret)
        await gateway.infer(request, { caller }).whole()
        return { outcome: 'ok', retryAfterMs: undefined }
      } catch (error) {
        const { code = String(error), facts } = error as { readonly code?: string; readonly facts?: { readonly retryAfterMs?: number } }
        return { outcome: code, retryAfterMs: facts?.retryAfterMs }
      }
    },
  }
}

const step = fc.record({
  asks: fc.integer({ min: 0, max: 6 }),
  jump: fc.option(fc.constantFrom(...jumps), { nil: 0, freq: 3 }),
  of: fc.constantFrom('both', 'second'),
  passMs: fc.constantFrom(100, 2_000, 7_000, 31_000, 61_000),
})

/** Time passes until it has come to its end, and first as many turns of the event loop as it may take to get under way. */
async function ended<T>(clock: FakeClock, under: Promise<T>): Promise<T> {
  let isOver = false
  const over = under.finally(() => {
    isOver = true
  })
  for (let turn = 0; turn < 30; turn++) await setImmediate()
  for (let second = 0; second < 600 && !isOver; second++) {
    // The two connections to one file wait for each other in real time, and the gateway for its storage in that of this clock.
    await realTimeout(3)
    await clock.advance(1_000)
    for (let turn = 0; turn < 5; turn++) await setImmediate()
  }
  return over
}

async function play(open: () => Storage, steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) {
  const clock = fakeClock()
  const other = beside(clock)
  const storage = open()
  const processes = [processOver(storage, clock), processOver(open(), other.clock)] as const
  const [{ gateway }, second] = processes
  await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'prepaid' })
  const own = gateway.workspaces('w')
  await own.billing.credit({ reference: 'start', amount: credit })
  const { secret } = await own.apiKeys.create({ name: 'k' })
  const revoked = await own.apiKeys.create({ name: 'revoked' })
  await ended(clock, second.ask(revoked.secret))
  await own.apiKeys.revoke(revoked.id)
  const revokedAt = clock.monotonic()
  const asked: Promise<Answered>[] = []
  const late: string[] = []
  let answers = 1
  for (const { asks, jump, of, passMs } of steps) {
    if (of === 'both') clock.jump(jump)
    else other.jump(jump)
    for (let at = 0; at < asks; at++) asked.push((processes[at % 2] as Process).ask(secret))
    const passing = second.ask(revoked.secret)
    const isLate = clock.monotonic() - revokedAt > 30_000
    for (let turn = 0; turn < 30; turn++) await setImmediate()
    await realTimeout(10)
    await clock.advance(passMs)
    const { outcome } = await ended(clock, passing)
    if (outcome === 'ok') answers += 1
    if (isLate) late.push(outcome)
  }
  const outcomes = await ended(clock, Promise.all(asked))
  answers += outcomes.filter(({ outcome }) => outcome === 'ok').length
  const book = await bookOf(storage, 'credit:w')
  // However a window stands now, once its length has passed without a jump both processes are let in again.
  await clock.advance(2 * minute)
  const after: string[] = []
  for (const process of processes) {
    after.push((await ended(clock, process.ask(secret))).outcome)
  }
  await Promise.all(processes.map(each => each.gateway.close()))
  return { outcomes, late, answers, book, after }
}

describe.each(Object.entries(stores))('over %s', (_, openStore) => {
  test('clocks that are set while requests run change no balance, keep no revoked key, and refuse for no longer than a window', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async steps => {
        const { outcomes, late, answers, book, after } = await play(openStore(), steps)
        expect(book).toMatchObject({ balance: credit - answers * cost, sum: credit - answers * cost, held: 0 })
        expect(book.lowest).toBe(0)
        expect(late.every(outcome => outcome === 'invalid_api_key')).toBe(true)
        for (const { outcome, retryAfterMs = 0 } of outcomes) {
          expect(['ok', 'requests_per_min_exceeded', 'insufficient_credits']).toContain(outcome)
          expect(retryAfterMs).toBeLessThanOrEqual(minute)
        }
        expect(after).not.toContain('requests_per_min_exceeded')
      }),
      { numRuns: inject('isLongRun') ? 12 : 5 },
    )
  })
})
