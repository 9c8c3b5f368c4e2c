import { expect, test } from 'vitest'
import type { Offer } from '../protocol/model.ts'
import { webClock } from '../runtime/web.ts'
import { keepHealth } from './health.ts'
import type { Candidate } from './plan.ts'
import { strategies } from './strategies.ts'

const offer: Offer = { provider: 'p', provider_model_id: 'm', dialect: 'chat', price: { input: 1, output: 1 } }
/** A clock that stands still until it is told. */
function standing() {
  let now = 1_000
  return { ...webClock(), monotonic: () => now, advance: (milliseconds: number) => (now += milliseconds) }
}

const candidate: Candidate = {
  model: { id: 'm', offers: [offer] },
  offer,
  provider: { id: 'p', dialects: [], endpoint: () => '', authorize: () => {} },
  credential: { id: 'c', owner: 'platform', secret: '' },
}

test('a limit that runs out shows in the health, and is forgotten when it is full again', () => {
  const clock = standing()
  const health = keepHealth(clock)
  expect(health.of(candidate).headroom).toBe(1)
  health.headroom(candidate, { share: 0.1, resetsInMs: 30_000 })
  expect(health.of(candidate).headroom).toBe(0.1)
  clock.advance(30_000)
  expect(health.of(candidate).headroom).toBe(1)
})

test('who has nothing left of a limit waits until it is full again', () => {
  const clock = standing()
  const health = keepHealth(clock)
  health.headroom(candidate, { share: 0, resetsInMs: 5_000 })
  expect(health.coolUntil(candidate)).toBe(clock.monotonic() + 5_000)
})

test('of two equals the one with more left of its limit is preferred', () => {
  const health = keepHealth(standing()).of(candidate)
  const scores = [0.05, 0.15, 0.2, 1].map(headroom => strategies.balanced?.(candidate, { ...health, headroom }) ?? 0)
  expect(scores).toEqual([...scores].sort((a, b) => b - a))
  expect(scores.at(-1)).toBe(scores.at(-2))
})
