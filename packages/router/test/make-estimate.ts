import type { OfferEstimate } from '../src/offer-estimate.ts'

const flawless: OfferEstimate = {
  cost: 0,
  firstContentMs: 0,
  generationMs: 0,
  failureProbability: 0,
  failedAttemptMs: 0,
  breakProbability: 0,
  lateProbability: 0,
  rateLimitedMs: 0,
  circuitOpenMs: 0,
  headroom: 1,
  cachedTokens: 0,
  unobservedMs: 0,
  congestionPrice: 0,
}

/** The estimate of an offer that is free, responds at once and never fails, with the given changes. */
export const makeEstimate = (given: Partial<OfferEstimate> = {}): OfferEstimate => ({ ...flawless, ...given })
