import { expect, test } from 'vitest'
import { ours } from '../src/routing/policies.ts'
import type { Policy } from '../src/routing/policy.ts'
import { simulate } from '../src/routing/simulate.ts'
import { sixOffers, type World } from '../src/routing/world.ts'

const minute = 60_000

/** Waits with a long tail near the time-out, and one minute in which a few calls of every offer hang. */
const longTail: World = {
  name: 'long tail',
  offers: sixOffers
    .slice(0, 3)
    .map(offer => ({ ...offer, errors: 0.012, tail: 0.03, tailTimes: 5, scatter: 0.45, requestsPerMinute: 6_000 })),
  rate: 8,
  minutes: 30,
  sessions: 0,
  drift: 0.1,
  faults: () => [0, 1, 2].map(offer => ({ offer, fromMs: 2 * minute, toMs: 3 * minute, hangs: 0.05 })),
}

test.each([2, 3])('after a minute of hangs, fewer than one in a hundred healthy streams is cut: seed %i', seed => {
  let [calls, cut] = [0, 0]
  const counted: Policy = {
    name: 'counted',
    create(setting) {
      const router = ours.create(setting)
      return {
        ...router,
        startAttempt(choice) {
          calls += 1
          return router.startAttempt(choice)
        },
        failAttempt(attempt, failed) {
          if (failed.kind === 'timeout' && setting.now() > 4 * minute) cut += 1
          router.failAttempt(attempt, failed)
        },
      }
    },
  }
  simulate(longTail, counted, { seed })
  expect(calls).toBeGreaterThan(14_000)
  expect(cut / calls).toBeLessThan(0.01)
})
