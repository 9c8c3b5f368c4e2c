import type { DecisionRecord, Trace } from '../../src/brain/record.ts'
import type { Sight } from '../../src/brain/sight.ts'

// Every field, code and optional part that a trace can hold.

/** Thirteen different numbers, each exact in single precision. */
const sightFrom = (first: number): Sight => ({
  cost: first,
  firstContentMs: first + 1,
  growingMs: first + 2,
  failure: first + 3,
  lostMs: first + 4,
  breaking: first + 5,
  lateness: first + 6,
  heldMs: first + 7,
  restingMs: first + 8,
  headroom: first + 9,
  warmTokens: first + 10,
  unheardMs: first + 11,
  scarcity: first + 12,
})

const alder = { id: 'alder', provider: 'p', model: 'm', price: { input: 5, output: 7, cached: 2 }, cacheMs: 9 }
const birch = { id: 'birch', price: { input: 6, output: 8 } }

const full: DecisionRecord = {
  at: 1_000.5,
  request: 3,
  turn: 1,
  strategy: 'worth',
  worth: { waiting: 0.25, growing: 0.5, failing: 0.75 },
  scale: 4,
  asked: { inputTokens: 900, outputTokens: 300, stream: true, turns: 2, leftMs: 20_000 },
  candidates: [
    { offer: alder, sight: sightFrom(100), loss: 0.125, rank: 1, shunned: true },
    { offer: birch, sight: sightFrom(200), loss: 0.375, rank: null },
  ],
  omitted: 5,
  hope: { at: 1, sight: sightFrom(300), loss: 0.0625 },
  chosen: 1,
  why: 'probe',
  loss: 0.0625,
  waitMs: 11,
  timeoutMs: 12,
  hedgeAfterMs: 13,
  outcome: { ended: 'ok', sentAfterMs: 14, firstContentMs: 15, totalMs: 16, outputTokens: 17, cachedTokens: 18 },
}

/** A decision with as little in it as there can be. */
const least: Omit<DecisionRecord, 'why' | 'strategy'> = {
  at: 2,
  request: 4,
  turn: 0,
  scale: 1,
  asked: { inputTokens: 1, outputTokens: 2, stream: false, turns: 1 },
  candidates: [{ offer: birch, sight: sightFrom(400), loss: null }],
  omitted: 0,
  chosen: 0,
  loss: null,
  waitMs: 0,
}
const worth = { waiting: 1, growing: 2, failing: 3 }
const outcome = { sentAfterMs: 0, totalMs: 1 }

export const traceWithEveryField: Trace = {
  version: 1,
  seed: 77,
  dropped: 6,
  decisions: [
    full,
    { ...least, strategy: 'own', why: 'best', outcome: { ...outcome, ended: 'error' } },
    { ...least, worth, strategy: 'balanced', why: 'fallback', outcome: { ...outcome, ended: 'timeout' } },
    { ...least, worth, strategy: 'cost', why: 'last_resort', outcome: { ...outcome, ended: 'rate_limited' } },
    { ...least, worth, strategy: 'latency', why: 'best', outcome: { ...outcome, ended: 'credential' } },
    { ...least, worth, strategy: 'throughput', why: 'best', outcome: { ...outcome, ended: 'refused' } },
    { ...least, worth, strategy: 'availability', why: 'best', outcome: { ...outcome, ended: 'left' } },
    { ...least, worth, strategy: 'availability', why: 'best', outcome: { ...outcome, ended: 'broken' } },
  ],
}
