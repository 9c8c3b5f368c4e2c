import type { Price, Rates } from './model.ts'

/**
 * What a prompt of so many tokens pays, whole: the rates of the last tier that it is longer than, else the usual ones.
 *
 * @example ratesAt({ input: 2_000_000, output: 10_000_000, tiers: [{ over: 272_000, input: 4_000_000, output: 15_000_000 }] }, 300_000)
 */
export const ratesAt = (price: Price, inputTokens: number): Rates => price.tiers?.findLast(({ over }) => inputTokens > over) ?? price

/** Any of these may be what a prompt pays that is at most so many tokens long. */
export const ratesUpTo = (price: Price, inputTokens: number): readonly Rates[] =>
  price.tiers ? [price, ...price.tiers.filter(({ over }) => inputTokens > over)] : [price]

const cappedPriorities = new WeakMap<Price, Price>()

/**
 * The price of the priority tier; prompts that are too long for it pay the usual price. Undefined: none is sold. The same object
 * for the same price.
 */
export function priorityPriceOf(price: Price): Price | undefined {
  const { priority, tiers = [] } = price
  if (priority?.up_to === undefined) return priority
  const made = cappedPriorities.get(price)
  if (made) return made
  const { up_to, ...rates } = priority
  const { windows: _windows, changes: _changes, priority: _priority, tiers: _tiers, surcharges: _surcharges, ...usual } = price
  const beyond = { ...(tiers.findLast(({ over }) => over <= up_to) ?? usual), over: up_to }
  const capped = { ...rates, tiers: [beyond, ...tiers.filter(({ over }) => over > up_to)] }
  cappedPriorities.set(price, capped)
  return capped
}

/** Numbers of a price that are no rates of tokens. */
const fees: ReadonlySet<string> = new Set(['request', 'over', 'up_to'])

const surchargedPrices = new WeakMap<Price, Map<string, Price>>()

/**
 * The price with each rate of tokens at so many percent, one after the other, those of long prompts too. Fees by the request and by
 * the call stay. The same object for the same price and percents, since the router keeps what it learns by them.
 */
export function withSurcharges(price: Price, percents: readonly number[]): Price {
  if (percents.length === 0) return price
  const known = surchargedPrices.get(price) ?? new Map<string, Price>()
  surchargedPrices.set(price, known)
  const key = percents.join()
  const made = known.get(key) ?? percents.reduce(raisedPrice, price)
  known.set(key, made)
  return made
}

const raisedPrice = (price: Price, percent: number): Price => ({
  ...raised(price, percent),
  ...(price.tiers && { tiers: price.tiers.map(tier => raised(tier, percent)) }),
})

const raised = <Item extends Rates>(rates: Item, percent: number): Item =>
  Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => [
      name,
      typeof rate === 'number' && !fees.has(name) ? Math.ceil((rate * percent) / 100) : rate,
    ]),
  ) as Item

/** By how much a prompt may be longer than it was estimated: a text may be dense. */
const margin = 1.5

/** Tokens that a prompt has at most, as far as an estimate can tell. */
export const maxTokensFor = (estimate: number): number => Math.ceil(estimate * margin)
