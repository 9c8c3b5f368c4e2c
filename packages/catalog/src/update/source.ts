import type { Model, Offer } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'

/** Names of the public lists that a catalog is updated from. */
export const sourceNames = ['models.dev', 'genai-prices', 'openrouter', 'openai'] as const
/** A public list from which a catalog is updated. */
export type SourceName = (typeof sourceNames)[number]

/** The parsed JSON of each source. */
export type Sources = { readonly [Name in SourceName]?: unknown }

/** An offer as a source lists it. */
export interface SourceOffer {
  readonly offer: Offer
  /** Names of its model, the most reliable first. */
  readonly names: readonly string[]
  /** The model to add if no model has one of the names. Absent: the offer is skipped. */
  readonly newModel?: Omit<Model, 'offers'>
}

/** The content of a source. */
export interface OfferList {
  /** The `source` of its offers. */
  readonly source: string
  /** Providers whose list is complete: their other offers have ended. */
  readonly complete: ReadonlySet<string>
  readonly offers: readonly SourceOffer[]
  /** Listed offers that cannot be read, by `offerKey`. They are kept unchanged. */
  readonly unreadable: ReadonlySet<string>
  readonly warnings: readonly string[]
}

/** Identifies an offer by its provider and the provider's model id. */
export const offerKey = ({ provider, model: id }: Pick<Offer, 'provider' | 'model'>): string => `${provider} ${id}`

/** Maximum nesting and values of a source. */
const maxNesting = 24
const maxValues = 4_000_000

/**
 * Why a parsed source cannot be used: nesting, size, or a field that would change an object's prototype. Undefined if it can.
 *
 * @example sourceProblem('openrouter', JSON.parse(text)) // 'openrouter is nested deeper than 24 levels.'
 */
export function sourceProblem(name: SourceName, json: unknown): string | undefined {
  let level: object[] = typeof json === 'object' && json !== null ? [json] : []
  if (level.length === 0) return `${name} is no JSON object or list.`
  let values = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxNesting) return `${name} is nested deeper than ${maxNesting} levels.`
    const next: object[] = []
    for (const value of level) {
      if (Object.hasOwn(value, '__proto__')) return `${name} has a field "__proto__".`
      for (const inner of Object.values(value)) {
        values++
        if (typeof inner === 'object' && inner !== null) next.push(inner)
      }
    }
    if (values > maxValues) return `${name} has more than ${maxValues} values.`
    level = next
  }
  return undefined
}

/** An amount of US dollars. */
export const dollarAmount = () => z.number().min(0).max(1_000_000)
/** A number of tokens. */
export const tokenLimit = () => z.int().min(0).max(1_000_000_000)
/** A name of a model or provider, as the catalog takes it. */
export const sourceId = () => z.string().regex(/^[\x21-\x7e]{1,200}$/)

/** `3 entries of openrouter cannot be read and are left as they are, such as "x/y".` */
export function unreadableWarning(source: string, ids: Iterable<string>): readonly string[] {
  const all = [...ids]
  if (all.length === 0) return []
  const [first = ''] = all
  return [`${all.length} entries of ${source} cannot be read and are left as they are, such as ${JSON.stringify(first.slice(0, 80))}.`]
}
