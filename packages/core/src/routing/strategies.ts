import { type Preference, preferences } from '../brain/preferences.ts'
import type { Strategy } from '../brain/sight.ts'
import type { Logger } from '../runtime/ports.ts'

/** What decides among those who can serve a request: what things are worth, a function of the caller's operator, or the order given. */
export type Ruling = Preference | Strategy | 'order'

/** A row is a strategy's name as requests give it. */
export const strategies: Readonly<Record<string, Ruling>> = {
  order: 'order',
  ...(Object.fromEntries(Object.keys(preferences).map(name => [name, name])) as Readonly<Record<Preference, Preference>>),
}

/** The strategy of this name, if there is one: a name that objects inherit is none. */
export const strategyNamed = (name: string, known: Readonly<Record<string, Ruling>>): Ruling | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined

/** The same strategies, which now may throw: whom they throw at is worst. */
export const soundly = (own: Readonly<Record<string, Strategy>> = {}, logger: Logger): Readonly<Record<string, Strategy>> =>
  Object.fromEntries(Object.entries(own).map(([name, strategy]) => [name, sound(strategy, { name, logger })]))

const sound =
  (strategy: Strategy, { name, logger }: { readonly name: string; readonly logger: Logger }): Strategy =>
  (sight, offer) => {
    try {
      return strategy(sight, offer)
    } catch (error) {
      logger.error({ strategy: name, offer: offer.id, error: String(error) }, 'A strategy threw; the offer is taken for the worst.')
      return Number.NaN
    }
  }
