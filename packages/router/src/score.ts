import { tuning } from './constants.ts'
import { typicalCost } from './cost.ts'
import type { RouterOffer } from './offer.ts'
import type { Strategy } from './offer-estimate.ts'
import { type Preference, type PreferencePrices, preferences } from './preferences.ts'

const { finalFailureShare, baseFinalFailure, typicalRequestUsd } = tuning.score

/**
 * Scores an offer in USD: the price of the response, the congestion price, the value of the expected wait, and the cost of likely failures.
 * A failure before first content costs its time and, since the next attempt may fail too, a fraction of a failed request; a failure after
 * it costs a whole one.
 */
export const scoreByPrices =
  ({ waiting, generation, failure }: PreferencePrices): Strategy =>
  ({ cost, congestionPrice, firstContentMs, generationMs, failureProbability, failedAttemptMs, breakProbability, lateProbability }) =>
    cost +
    congestionPrice +
    (waiting * firstContentMs) / 1_000 +
    (generation * generationMs) / 1_000 +
    failureProbability * ((waiting * failedAttemptMs) / 1_000 + finalFailureShare * failure * (baseFinalFailure + failureProbability)) +
    (breakProbability + lateProbability) * failure

/**
 * Scales a preference to the price of the model, because a second is worth more where responses are expensive. In steps of a factor of
 * four, so that the prices are unscaled near the typical price.
 */
export function scaledPrices(
  preference: Preference | PreferencePrices,
  offers: readonly { readonly offer: RouterOffer }[],
): PreferencePrices {
  if (typeof preference !== 'string') return preference
  let sum = 0
  for (const { offer } of offers) sum += typicalCost(offer.price.input, offer.price.output)
  const scale = sum > 0 ? 4 ** Math.round(Math.log(sum / offers.length / typicalRequestUsd) / Math.log(4)) : 1
  const prices = preferences[preference]
  if (scale === 1) return prices
  return {
    waiting: prices.waiting * scale,
    generation: prices.generation * scale,
    failure: prices.failure * scale,
  }
}
