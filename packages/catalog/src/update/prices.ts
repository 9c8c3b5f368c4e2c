import type { Price, Rates } from '@signalbox/dialects/protocol'

/** Converts US dollars per million tokens to integer microdollars per million tokens. */
export const microdollars = (usd: number): number => Math.round(usd * 1_000_000)

const day = (moment: string): string => moment.slice(0, 10)

/** The price on a date: announced changes that have taken effect are applied and removed. */
export function priceOn(price: Price, today: string): Price {
  const { changes = [], ...first } = price
  const past = changes.filter(({ from }) => day(from) <= today)
  const later = changes.filter(({ from }) => day(from) > today)
  const current = past.at(-1)?.price ?? first
  return { ...current, ...(later.length > 0 && { changes: later }) }
}

/** Fields whose absence in a source means nothing. */
const kept = ['inputAudio', 'cached', 'cacheWrite', 'cacheWrite1h', 'request', 'tiers', 'priority', 'windows', 'changes'] as const

/** Fields that are always kept, because sources do not have them. */
const lasting = ['tools', 'surcharges'] as const

/**
 * Merges a newer price of an offer. Fields that the source does not state are kept while input and output cost the same; prices of hosted
 * tools and surcharges are always kept. A source that lists the rates of a window adds nothing.
 */
export function mergePrice(old: Price | undefined, found: Price): Price {
  if (!old) return found
  if (sameRates(old, found)) return { ...definedFields(old, [...kept, ...lasting]), ...found }
  if (old.windows?.some(window => sameRates(window, found))) return old
  return { ...definedFields(old, lasting), ...found }
}

const sameRates = (a: Rates, b: Rates): boolean => a.input === b.input && a.output === b.output

/** The named fields that an object has. */
export function definedFields<Item extends object, Name extends keyof Item>(item: Item, names: readonly Name[]): Partial<Pick<Item, Name>> {
  return Object.fromEntries(names.flatMap(name => (item[name] === undefined ? [] : [[name, item[name]]]))) as Partial<Pick<Item, Name>>
}
