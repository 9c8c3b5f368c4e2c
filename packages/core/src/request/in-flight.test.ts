import { chatProvider } from '@signalbox/dialects'
import type { InferenceRequest, Model, Offer } from '@signalbox/dialects/protocol'
import { type Act, acts, fakeClock, type ScriptedProvider, scriptedProvider } from '@signalbox/testing'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { type Watched, watchedEngine } from '../../test/engine.ts'
import { makeCandidate } from '../routing/plan.ts'
import { makerOf, sealState } from './reasoning-state/envelope.ts'
import { runRequest } from './run-request.ts'
import { endForShutdown } from './running-requests.ts'

// However a call ends, the router is notified exactly once, and no ended call stays in flight in the router’s state.

const stale = acts.status(400, { code: 'invalid_encrypted_content' })

/** All ways in which a provider responds, or does not. */
const ways: Readonly<Record<string, Act>> = {
  answers: acts.reply(),
  'answers late': acts.stall(1_500),
  'answers very late': acts.stall(40_000),
  'says nothing': acts.never(),
  'takes it and says nothing': acts.pauseAfter(0, 90_000),
  'falls silent': acts.pauseAfter(1, 90_000),
  pauses: acts.pauseAfter(1, 2_000),
  fails: acts.status(500),
  'is full': acts.status(429),
  'is full for long': acts.status(429, { retryAfter: 30 }),
  'refuses us': acts.status(401),
  'refuses the request': acts.status(400),
  'cannot use the state': stale,
  'breaks before content': acts.preambleThenFail(),
  'breaks after content': acts.breakAfter(1),
  'ends too soon': acts.endAfter(1),
  'fails first': acts.errorFirst(),
  'fails after content': acts.errorAfter(1),
  'is not there': acts.unreachable(),
  throws: () => {
    throw new Error('Code of the provider’s own.')
  },
}

interface Scenario {
  readonly whole: boolean
  readonly hedge: boolean
  readonly stateful: boolean
  readonly allow_fallbacks: boolean
  readonly strategy: string
  readonly limits: { readonly timeout_ms?: number; readonly deadline_ms?: number }
  readonly afterMs: number
  /** What the client does: reads to the end, disconnects after some time, stops reading after the first batch, or never reads. */
  readonly reads: { readonly until: 'end' | 'first' | 'never' } | { readonly until: 'leaves'; readonly afterMs: number }
}

const aRequest: fc.Arbitrary<Scenario> = fc.record({
  whole: fc.constantFrom(false, false, true),
  hedge: fc.constantFrom(true, true, false),
  stateful: fc.boolean(),
  allow_fallbacks: fc.boolean(),
  strategy: fc.constantFrom('latency', 'latency', 'balanced', 'order'),
  limits: fc.oneof(
    fc.constant({}),
    fc.record({ timeout_ms: fc.integer({ min: 1, max: 5_000 }) }),
    fc.record({ deadline_ms: fc.integer({ min: 1, max: 8_000 }) }),
  ),
  afterMs: fc.integer({ min: 0, max: 4_000 }),
  reads: fc.oneof(
    fc.record({ until: fc.constantFrom('end' as const, 'first' as const, 'never' as const) }),
    fc.record({ until: fc.constant('leaves' as const), afterMs: fc.integer({ min: 0, max: 6_000 }) }),
  ),
})

const aWay = fc.constantFrom(...Object.keys(ways))

/** `ordinary`: calls of each provider that are answered before its script begins. */
async function createFixture(scripts: readonly (readonly string[])[], ordinary: number) {
  const clock = fakeClock()
  const providers = scripts.map((script, at): ScriptedProvider => {
    const broken = { ...chatProvider }
    let calls = 0
    const next: Act = given => {
      provider.play(next)
      calls += 1
      if (calls <= ordinary) return acts.stall(300)(given)
      return (ways[script[calls % script.length] ?? ''] ?? acts.reply())(given)
    }
    const provider = scriptedProvider({ id: `provider-${at}`, dialect: broken, clock, acts: [next] })
    return provider
  })
  const offers = providers.map(({ id }): Offer => ({ provider: id, model: 'theirs', api: 'chat', price: { input: 1_000, output: 2_000 } }))
  const model: Model = { id: 'model', offers }
  const watched = watchedEngine(clock, providers, [model])
  const [provider, offer] = [providers[0], offers[0]]
  if (!provider?.credential || !offer) throw new Error('A fixture has a provider.')
  const state = await sealState(watched.engine.ring, watched.caller, {
    maker: makerOf(makeCandidate({ provider, credential: provider.credential, offer, model })),
    text: 'state',
  })
  return { clock, watched, state }
}

/** Ordinary requests before: timeouts, hedging and exploration differ between known and unknown offers. */
async function warmUp({ clock, watched, state }: Awaited<ReturnType<typeof createFixture>>, requests: number): Promise<void> {
  for (let at = 0; at < requests; at += 1) {
    const done = begin(watched, ordinaryRequest, { id: `ordinary-${at}`, state })
    await clock.advance(500)
    await done
  }
}

const ordinaryRequest: Scenario = {
  whole: false,
  hedge: false,
  stateful: false,
  allow_fallbacks: true,
  strategy: 'latency',
  limits: {},
  afterMs: 0,
  reads: { until: 'end' },
}

const requestOf = (scenario: Scenario, state: string): InferenceRequest => ({
  prompt: {
    input: [
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ...(scenario.stateful ? [{ type: 'reasoning' as const, summary: ['So.'], encrypted_content: state }] : []),
    ],
  },
  routing: {
    models: ['model'],
    allow_fallbacks: scenario.allow_fallbacks,
    strategy: scenario.strategy,
    hedge: scenario.hedge,
    ...scenario.limits,
  },
  delivery: scenario.whole ? 'whole' : 'stream',
})

function begin(
  { engine, caller }: Watched,
  scenario: Scenario,
  { id, state }: { readonly id: string; readonly state: string },
): Promise<unknown> {
  const leaving = new AbortController()
  const reply = runRequest(engine, requestOf(scenario, state), { caller, requestId: id, signal: leaving.signal })
  const { reads } = scenario
  if (reads.until === 'leaves') {
    engine.clock.setTimeout(() => leaving.abort(), reads.afterMs)
    return reply.whole().catch(() => {})
  }
  if (reads.until === 'end') return reply.whole().catch(() => {})
  if (reads.until === 'first')
    return reply
      .batches()
      .next()
      .catch(() => {})
  return reply.committed.catch(() => {})
}

function checkAtRest({ contenders, ends }: Watched): void {
  const open = [...contenders].map(({ offer, state }) => ({
    offer: offer.id,
    running: state.runningAttempts,
    silent: state.silentAttempts.size,
    trying: state.circuit.trialRunning,
  }))
  expect(open).toEqual(open.map(({ offer }) => ({ offer, running: 0, silent: 0, trying: false })))
  expect([...new Set(ends.values())].filter(times => times !== 1)).toEqual([])
}

describe('the calls in flight', () => {
  test('are none once every request is over, and each call ended once, whatever providers and clients do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(aWay, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
        fc.array(aRequest, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(0, 12),
        async (scripts, requests, ordinary) => {
          const fixture = await createFixture(scripts, ordinary)
          const { clock, watched, state } = fixture
          await warmUp(fixture, ordinary * scripts.length)
          const done: Promise<unknown>[] = []
          for (const [at, scenario] of requests.entries()) {
            await clock.advance(scenario.afterMs)
            done.push(begin(watched, scenario, { id: `request-${at}`, state }))
          }
          // A response that is never read is closed by the deadline.
          for (let minute = 0; minute < 4; minute += 1) await clock.advance(30_000)
          await Promise.all(done)
          checkAtRest(watched)
        },
      ),
      { numRuns: inject('isLongRun') ? 150 : 50 },
    )
  })

  test('end when the gateway closes, at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(aWay, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
        fc.array(aRequest, { minLength: 1, maxLength: 5 }),
        async (scripts, requests) => {
          const { clock, watched, state } = await createFixture(scripts, 0)
          for (const [at, scenario] of requests.entries()) {
            void begin(watched, scenario, { id: `request-${at}`, state })
            await clock.advance(scenario.afterMs / 10)
          }
          endForShutdown(watched.engine.running)
          watched.engine.drains.stop()
          await clock.advance(1_000)
          await Promise.all([...watched.engine.running].map(running => running.control?.leave()))
          await clock.advance(1_000)
          checkAtRest(watched)
        },
      ),
      { numRuns: inject('isLongRun') ? 60 : 20 },
    )
  })
})
