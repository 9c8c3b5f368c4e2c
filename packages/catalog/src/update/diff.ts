import { type Offer, type Price, wireNameOf } from '@signalbox/dialects/protocol'
import type { Catalog } from '../stored.ts'
import { offersByKey } from './guards.ts'

/** Fields whose changes are not reported. */
const silent: ReadonlySet<string> = new Set(['source', 'asOf'])

/**
 * The differences between two catalogs: one line for each offer that was added (`+`), removed (`-`) or changed (`~`).
 *
 * @example diffOf(current, next) // ['~ openai gpt-5: input 1.25 → 1.5']
 */
export function diffOf(before: Catalog, after: Catalog): readonly string[] {
  const old = offersByKey(before)
  const next = offersByKey(after)
  return [
    ...[...old].flatMap(([key]) => (next.has(key) ? [] : [`- ${key}`])),
    ...[...next].flatMap(([key, offer]) => {
      const was = old.get(key)
      if (!was) return [`+ ${key}${offer.price ? `: ${inUsd(offer.price.input)}/${inUsd(offer.price.output)}` : ': no price'}`]
      const changes = changesOf(was, offer)
      return changes.length > 0 ? [`~ ${key}: ${changes.join(', ')}`] : []
    }),
  ]
}

const inUsd = (microdollars: number): number => microdollars / 1_000_000

function changesOf(was: Offer, is: Offer): readonly string[] {
  const { price: oldPrice, ...oldRest } = was
  const { price, ...rest } = is
  return [...fieldChanges(flat(oldPrice), flat(price)), ...fieldChanges(new Map(Object.entries(oldRest)), new Map(Object.entries(rest)))]
}

/** Rates in US dollars; structured fields are kept. */
const flat = (price: Price | undefined): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(price ?? {}).map(([name, value]) => [name, typeof value === 'number' ? inUsd(value) : value]))

function fieldChanges(was: ReadonlyMap<string, unknown>, is: ReadonlyMap<string, unknown>): readonly string[] {
  const names = [...new Set([...was.keys(), ...is.keys()])].filter(name => !silent.has(name))
  return names.flatMap(name => {
    const [from, to] = [was.get(name), is.get(name)]
    if (canonical(from) === canonical(to)) return []
    const field = wireNameOf(name)
    if (isScalar(from) && isScalar(to)) return [`${field} ${from ?? 'none'} → ${to ?? 'none'}`]
    return [from === undefined ? `${field} added` : to === undefined ? `${field} removed` : `${field} changed`]
  })
}

const isScalar = (value: unknown): value is string | number | undefined => typeof value !== 'object'

/** JSON with sorted fields, for comparisons. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? ''
