import type { Offer, Rates } from '@signalbox/dialects/protocol'
import type { Catalog } from '../stored.ts'
import { offerKey } from './source.ts'

/** Share of live offers that an update may lose. */
const maxLost = 0.05
/** Maximum relative change of the median price. */
const maxMedianChange = 0.2

/** The offers of a catalog, by `offerKey`. */
export const offersByKey = ({ models }: Catalog): ReadonlyMap<string, Offer> =>
  new Map(models.flatMap(({ offers }) => offers.map(offer => [offerKey(offer), offer])))

/**
 * Why an update should be rejected: it loses more than 5 % of the live offers, or changes the median price by more than 20 %.
 *
 * @example guardProblems(current, next, '2026-11-22') // ['The update would lose 41 of 402 live offers …']
 */
export function guardProblems(before: Catalog, after: Catalog, today: string): readonly string[] {
  const next = offersByKey(after)
  const live = liveOffers(before, today)
  const lost = live.filter(offer => !next.has(offerKey(offer)))
  const some = lost.slice(0, 3).map(({ provider, model: id }) => `${id} at ${provider}`)
  const pairs = live.flatMap(({ price, ...offer }) => {
    const found = next.get(offerKey(offer))?.price
    return price && found ? [[price, found] as const] : []
  })
  return [
    ...(lost.length > live.length * maxLost
      ? [`The update would lose ${lost.length} of ${live.length} live offers, such as ${some.join(', ')}; at most 5 % may end at once.`]
      : []),
    ...(['input', 'output'] as const).flatMap(rate => medianProblem(pairs, rate)),
  ]
}

function liveOffers({ models }: Catalog, today: string): readonly Offer[] {
  const isLive = ({ status, retiresAt: end }: Offer, modelEnd: string | undefined): boolean =>
    status !== 'deprecated' && (end ?? modelEnd ?? today) >= today
  return models.flatMap(({ offers, retiresAt }) => offers.filter(offer => isLive(offer, retiresAt)))
}

function medianProblem(pairs: readonly (readonly [Rates, Rates])[], rate: 'input' | 'output'): readonly string[] {
  const before = median(pairs.map(([old]) => old[rate]))
  const after = median(pairs.map(([, found]) => found[rate]))
  if (Math.abs(after - before) <= before * maxMedianChange) return []
  const dollars = (value: number): string => `${value / 1_000_000} USD`
  return [`The median price of ${rate} would change from ${dollars(before)} to ${dollars(after)}; at most 20 % may change at once.`]
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
