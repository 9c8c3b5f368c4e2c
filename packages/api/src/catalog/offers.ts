import type { Model, Offer } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'

/** Finds the offers of a model at configured providers. Requests cannot be sent to others. */
export function offersHere({ models }: Pick<Gateway, 'models'>): (model: Model) => readonly Offer[] {
  const ids = new Set(models.providers().map(({ id }) => id))
  return ({ offers }) => offers.filter(({ provider }) => ids.has(provider))
}

/** One offer per provider: the first listed that is not about to end. */
export function onePerProvider(offers: readonly Offer[]): readonly Offer[] {
  const byProvider = new Map<string, Offer>()
  for (const offer of offers) {
    const known = byProvider.get(offer.provider)
    if (known === undefined || (known.status === 'deprecated' && offer.status !== 'deprecated')) byProvider.set(offer.provider, offer)
  }
  return [...byProvider.values()]
}

/** The largest of the known numbers. Undefined if none is known. */
export const largest = (numbers: readonly (number | undefined)[]): number | undefined => {
  const known = numbers.flatMap(number => number ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}
