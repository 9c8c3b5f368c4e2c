import type { PreferencePrices } from '@signalbox/router'
import { bill } from './bill.ts'
import { meanOutput, meanPrompt } from './requests.ts'
import type { TrueOffer, World } from './world.ts'

/** The loss of a usual request at an offer under normal conditions, in USD. */
function usualLoss(offer: TrueOffer, worth: PreferencePrices): number {
  const seconds =
    (offer.firstContentMs * Math.exp(offer.scatter ** 2 / 2) * (1 + offer.tail * (offer.tailTimes - 1)) + offer.msPerToken * meanPrompt) /
    1_000
  // A fault before content costs a second attempt, not the request.
  const failing = offer.breaks * worth.failure + offer.errors * worth.failure * 0.02
  const price = bill(offer, { input: meanPrompt, cached: 0, output: meanOutput, keyed: false })
  return price + worth.waiting * seconds + (worth.generation * meanOutput) / offer.tokensPerSecond + failing
}

/**
 * Offers by index, the best first: the ones that a fault should hit to have an effect. Ordered by how often the oracle calls them while
 * nothing is wrong, then by their usual loss.
 */
export function favourites({ offers }: World, worth: PreferencePrices, calls: readonly number[]): readonly number[] {
  return offers
    .map((offer, index) => ({ at: index, calls: calls[index] ?? 0, loss: usualLoss(offer, worth) }))
    .sort((a, b) => b.calls - a.calls || a.loss - b.loss)
    .map(({ at }) => at)
}
