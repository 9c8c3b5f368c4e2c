import type { Price, Rates } from './model.ts'

/**
 * The rates for a prompt of this many tokens: those of the last tier it exceeds, else the usual ones. They apply to the whole prompt.
 *
 * @example ratesAt({ input: 2_000_000, output: 10_000_000, tiers: [{ over: 272_000, input: 4_000_000, output: 15_000_000 }] }, 300_000)
 */
export const ratesAt = (price: Price, inputTokens: number): Rates => price.tiers?.findLast(({ over }) => inputTokens > over) ?? price

/** All rates that may apply to a prompt of at most this many tokens. */
export const ratesUpTo = (price: Price, inputTokens: number): readonly Rates[] =>
  price.tiers ? [price, ...price.tiers.filter(({ over }) => inputTokens > over)] : [price]

/** The price of the priority tier, with the usual price for prompts that are too long for it; undefined if none is sold. */
export function priorityPriceOf(price: Price): Price | undefined {
  const { priority, tiers = [] } = price
  if (priority?.upTo === undefined) return priority
  const { upTo, ...rates } = priority
  const { windows: _windows, changes: _changes, priority: _priority, tiers: _tiers, surcharges: _surcharges, ...usual } = price
  const beyond = { ...(tiers.findLast(({ over }) => over <= upTo) ?? usual), over: upTo }
  return { ...rates, tiers: [beyond, ...tiers.filter(({ over }) => over > upTo)] }
}

/** Numbers in a price that are not token rates. */
const fees: ReadonlySet<string> = new Set(['request', 'over', 'upTo'])

/** The price with every token rate, including those of tiers, raised by a percentage. Fees per request and per call stay. */
export const raisedPrice = (price: Price, percent: number): Price => ({
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

/** How much longer a prompt may be than its estimate, since dense text has more tokens per character. */
const margin = 1.5

/** Upper bound on the tokens of a prompt, given its estimate. */
export const maxTokensFor = (estimate: number): number => Math.ceil(estimate * margin)
