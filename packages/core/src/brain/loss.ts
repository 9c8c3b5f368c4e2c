import { tuning } from './constants.ts'
import { typicalCost } from './cost.ts'
import type { RouterOffer } from './port.ts'
import { type Preference, preferences, type Worth } from './preferences.ts'
import type { Strategy } from './sight.ts'

const { failsForGood, failsAnyway, typicalUsd } = tuning.loss

/**
 * Everything in one currency, USD: what the answer costs, what its place is worth to others, what waiting for it is worth, and
 * what goes wrong, by how likely it is. A failure before first content costs the time that it takes and, since the next may fail
 * too, a little of a failed request; one after it is a failed request.
 */
export const lossBy =
  ({ waiting, growing, failing }: Worth): Strategy =>
  ({ cost, scarcity, firstContentMs, growingMs, failure, lostMs, breaking, lateness }) =>
    cost +
    scarcity +
    (waiting * firstContentMs) / 1_000 +
    (growing * growingMs) / 1_000 +
    failure * ((waiting * lostMs) / 1_000 + failsForGood * failing * (failsAnyway + failure)) +
    (breaking + lateness) * failing

/**
 * What things are worth with models of this price: a second is worth more where the answer is dear. In steps of four, so that
 * near the typical price the figures hold as they stand.
 */
export function worthAt(preference: Preference | Worth, offers: readonly { readonly offer: RouterOffer }[]): Worth {
  if (typeof preference !== 'string') return preference
  let sum = 0
  for (const { offer } of offers) sum += typicalCost(offer.price.input, offer.price.output)
  const scale = sum > 0 ? 4 ** Math.round(Math.log(sum / offers.length / typicalUsd) / Math.log(4)) : 1
  const worth = preferences[preference]
  if (scale === 1) return worth
  return { waiting: worth.waiting * scale, growing: worth.growing * scale, failing: worth.failing * scale }
}
