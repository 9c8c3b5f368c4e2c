import { createRouter } from '@signalbox/router'
import { cheapest, random, roundRobin } from './baselines.ts'
import { inverseSquare, lowestLatency, peakEwma } from './learned-baselines.ts'
import type { Policy } from './policy.ts'

/** Our router. Prices are in USD, like the loss, because a named preference would be scaled by the price of the model. */
export const ours: Policy = {
  name: 'Signalbox',
  create: ({ offers, worth, now, seed }) => createRouter({ offers, preference: worth, clock: { now }, seed }),
}

/** All policies that are compared with the oracle. */
export const policies: readonly Policy[] = [ours, inverseSquare, cheapest, lowestLatency, peakEwma, random, roundRobin]
