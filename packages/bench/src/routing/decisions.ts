import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Router, RouterRequest } from '@signalbox/router'
import { medianOf } from '../numbers.ts'
import type { Policy } from './policy.ts'
import { createDice } from './random-draws.ts'
import { simulateWith } from './simulate.ts'
import { sixOffers, type World } from './world.ts'

export interface Decision {
  readonly microseconds: number
  readonly bytes: number
}

const ten: World = {
  name: 'ten offers',
  offers: [...sixOffers, ...sixOffers.slice(0, 4).map(offer => ({ ...offer, id: `${offer.id}2` }))],
  rate: 8,
  minutes: 10,
  sessions: 0.4,
  drift: 0.15,
  faults: () => [],
}

/** The cost of one decision among ten offers for a router that has seen ten minutes of traffic. */
export function costOfDecision(policy: Policy, rounds: number): Decision {
  const { router } = simulateWith(ten, policy, { seed: 1 })
  const dice = createDice(1)
  const requests = Array.from({ length: 1_000 }, (_, index): RouterRequest => {
    const request = { inputTokens: Math.round(dice.scaled(100, 10_000)), stream: dice.chance(0.8), deadlineMs: 20_000 }
    return dice.chance(0.4) ? { ...request, cacheKey: `s${index}` } : request
  })
  decide(router, requests, 20)
  const times = Array.from({ length: rounds }, () => {
    const startedAt = performance.now()
    decide(router, requests, 10)
    return ((performance.now() - startedAt) * 1_000) / (requests.length * 10)
  })
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  const bytes = Array.from({ length: rounds }, () => {
    if (typeof collect === 'function') collect()
    const before = process.memoryUsage().heapUsed
    // Few enough that nothing is collected in between.
    decide(router, requests, 1)
    return (process.memoryUsage().heapUsed - before) / requests.length
  })
  return { microseconds: medianOf(times), bytes: medianOf(bytes) }
}

function decide(router: Router, requests: readonly RouterRequest[], times: number): void {
  for (let round = 0; round < times; round += 1) for (const request of requests) router.plan(request).next()
}
