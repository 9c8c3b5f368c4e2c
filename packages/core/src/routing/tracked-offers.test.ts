import { createDynamicRouter } from '@signalbox/router'
import { expect, test } from 'vitest'
import { groq } from '../../../providers/src/hosts.ts'
import { deepseek } from '../../../providers/src/vendors.ts'
import { candidateOf, price } from '../../test/routing/routing-fixture.ts'
import { makeCandidate } from './plan.ts'
import { createCandidateTracker } from './tracked-offers.ts'

const contenders = createCandidateTracker(createDynamicRouter({ monotonic: () => 0, preference: 'balanced', seed: 1 }))
const cacheMsOf = (candidate: ReturnType<typeof candidateOf>) => contenders(candidate, { rates: price, thinking: false }).offer.cacheMs

test('the router learns from the facts of the provider or offer how long a prompt stays in its cache', () => {
  expect(cacheMsOf(candidateOf({}))).toBeUndefined()
  expect(cacheMsOf(candidateOf({}, { quirks: { promptCacheMs: 3_600_000 } }))).toBe(3_600_000)
  expect(cacheMsOf(candidateOf({ quirks: { promptCacheMs: 60_000 } }, { quirks: { promptCacheMs: 3_600_000 } }))).toBe(60_000)
})

test('the router learns separately of each key of the operator', () => {
  const provider = deepseek({ apiKey: ['one', 'two', 'three'] })
  const { credential, moreCredentials = [] } = provider
  const { offer, model } = candidateOf({}, provider)
  const idOf = (used: typeof credential) =>
    contenders(makeCandidate({ model, offer, provider, credential: used as NonNullable<typeof used> }), {
      rates: price,
      thinking: false,
    }).offer.id.split('@')[1]
  expect([credential, ...moreCredentials].map(idOf)).toEqual(['platform', 'platform:2', 'platform:3'])
})

test.each([
  ['groq', groq({ apiKey: 'k' }), 7_200_000],
  ['deepseek', deepseek({ apiKey: 'k' }), 3_600_000],
])('the row of %s states how long its cache lasts', (_, provider, ms) => {
  expect(cacheMsOf(candidateOf({}, provider))).toBe(ms)
})
