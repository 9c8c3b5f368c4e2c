import { expect, test } from 'vitest'
import { makeOfferState } from './offer-state.ts'

test('a new offer has no observations and no forgone gain', () => {
  expect(makeOfferState(5)).toMatchObject({
    ...{ runningAttempts: 0, observations: 0, observedAt: 5, exploreAt: 0, forgoneGain: 0, passedOver: 0 },
    lastAnsweredStart: Number.NEGATIVE_INFINITY,
    silentAttempts: new Set(),
  })
})
