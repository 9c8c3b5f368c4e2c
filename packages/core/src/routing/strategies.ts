import type { Strategy } from '@signalbox/router'
import { type Preference, preferences } from '@signalbox/router'
import type { Logger } from '../runtime/ports.ts'

/** How a strategy ranks the candidates: by a preference, a custom function, or the order in which they are listed. */
export type ResolvedStrategy = Preference | Strategy | 'order'

/** The built-in strategies. */
export type StrategyName = Preference | 'order'

/** Strategies by the name that requests use. */
export const strategies: Readonly<Record<string, ResolvedStrategy>> = {
  order: 'order',
  ...(Object.fromEntries(Object.keys(preferences).map(name => [name, name])) as Readonly<Record<Preference, Preference>>),
}

/** The strategy with this name. Undefined if there is none, including for inherited property names. */
export const strategyNamed = (name: string, known: Readonly<Record<string, ResolvedStrategy>>): ResolvedStrategy | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined

/** Wraps custom strategies, which may throw: an offer for which one throws ranks last. */
export const safeStrategies = (own: Readonly<Record<string, Strategy>> = {}, logger: Logger): Readonly<Record<string, Strategy>> =>
  Object.fromEntries(Object.entries(own).map(([name, strategy]) => [name, safeStrategy(strategy, { name, logger })]))

const safeStrategy =
  (strategy: Strategy, { name, logger }: { readonly name: string; readonly logger: Logger }): Strategy =>
  (estimate, offer) => {
    try {
      return strategy(estimate, offer)
    } catch (error) {
      logger.error({ strategy: name, offer: offer.id, error: String(error) }, 'A strategy threw an error; the offer is ranked last.')
      return Number.NaN
    }
  }
