import type { Warning } from '../protocol/response.ts'
import type { FittedParameters, FittedSchema, SchemaFitter, SchemaRules } from '../protocol/schemas.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { unsupported } from './part-warnings.ts'
import { withPlainProperties } from './property-names.ts'
import { fitSchema, maxSchemaNodes, type SchemaBudget } from './schema.ts'
import { plainRoot } from './schema-root.ts'

// Fits the schemas of a request to its providers, within one budget. Results are cached for later requests.

/** Maximum total size of all expanded schemas of one request, over all attempts. */
export const schemaLimits = { nodes: 60_000, characters: 4_000_000 } as const

/** Size limits of a cache. A schema with a longer text is never cached: V8 does not hash strings longer than 16,383 characters. */
const maxEntries = 1_000
const maxCharacters = 8_000_000
const maxText = 16_000

interface Fit extends FittedSchema {
  /** The part of the budget that it uses. */
  readonly cost: SchemaBudget
}

/** Fitted schemas by rules name and schema text. Keyed by the whole text, because a digest could be made to collide. */
export interface SchemaCache {
  get(key: string): Fit | undefined
  set(key: string, fit: Fit): void
}

/** Creates a cache bounded in entries and characters. The least recently used entry is evicted first. */
export function makeSchemaCache(): SchemaCache {
  const kept = new Map<string, Fit>()
  let characters = 0
  const sizeOf = (key: string, { cost }: Fit): number => key.length + cost.characters + cost.nodes * charactersPerNode
  const drop = (key: string, fit: Fit): void => {
    kept.delete(key)
    characters -= sizeOf(key, fit)
  }
  return {
    get(key) {
      const fit = kept.get(key)
      if (!fit) return undefined
      kept.delete(key)
      kept.set(key, fit)
      return fit
    },
    set(key, fit) {
      const known = kept.get(key)
      if (known) drop(key, known)
      kept.set(key, fit)
      characters += sizeOf(key, fit)
      for (const [oldest, each] of kept) {
        if (kept.size <= maxEntries && characters <= maxCharacters) break
        drop(oldest, each)
      }
    },
  }
}

/** Characters of braces, keywords and commas per schema node. */
const charactersPerNode = 40

/** Creates the fitter of one request. Without a cache, it only reuses its own results. */
export function makeSchemaFitter(cache?: SchemaCache): SchemaFitter {
  const left: SchemaBudget = { ...schemaLimits }
  const fitted = new Map<SchemaRules, Map<JsonObject, FittedSchema>>()
  const roots = new Map<JsonObject, FittedSchema>()
  const renamed = new Map<JsonObject, FittedParameters>()
  return {
    root(schema) {
      const known = roots.get(schema) ?? rootWithin(left, schema)
      roots.set(schema, known)
      return known
    },
    withPlainNames(schema) {
      const known = renamed.get(schema) ?? withPlainProperties(schema)
      renamed.set(schema, known)
      return known
    },
    fit(schema, rules, source = schema) {
      const ofRules = fitted.get(rules) ?? new Map<JsonObject, FittedSchema>()
      fitted.set(rules, ofRules)
      const known = ofRules.get(source)
      if (known) return known
      const fit = fitWithin(left, cache, { schema, rules })
      ofRules.set(source, fit)
      return fit
    },
  }
}

function rootWithin(left: SchemaBudget, schema: JsonObject): FittedSchema {
  const start = { nodes: Math.min(left.nodes, maxSchemaNodes), characters: left.characters }
  const budget = { ...start }
  const plain = plainRoot(schema, budget)
  spend(left, { nodes: start.nodes - budget.nodes, characters: start.characters - budget.characters })
  return plain
}

interface FitInput {
  readonly schema: JsonObject
  readonly rules: SchemaRules
}

function fitWithin(left: SchemaBudget, cache: SchemaCache | undefined, { schema, rules }: FitInput): FittedSchema {
  const text = cache && JSON.stringify(schema)
  const key = text === undefined || text.length > maxText ? undefined : `${rules.name} ${text}`
  const known = key === undefined ? undefined : cache?.get(key)
  if (known && known.cost.nodes <= left.nodes && known.cost.characters <= left.characters) {
    spend(left, known.cost)
    return known
  }
  const start = { nodes: Math.min(left.nodes, maxSchemaNodes), characters: left.characters }
  const budget = { ...start }
  const { isCut, ...fit } = fitSchema(schema, rules, budget)
  const cost = { nodes: start.nodes - budget.nodes, characters: start.characters - budget.characters }
  spend(left, cost)
  // A result that was cut because other schemas of the request used up the budget is not cached: it may fit the next time.
  const isWhole = !isCut || start.nodes === maxSchemaNodes
  if (key !== undefined && isWhole && start.characters - cost.characters >= 0) cache?.set(key, { ...fit, cost })
  return fit
}

function spend(left: SchemaBudget, { nodes, characters }: SchemaBudget): void {
  left.nodes = Math.max(left.nodes - nodes, 0)
  left.characters = Math.max(left.characters - characters, 0)
}

/** One warning for all changes of the schema at `param`. */
export const schemaWarnings = (param: string, { changes }: FittedSchema): readonly Warning[] =>
  changes.length === 0
    ? []
    : [
        unsupported(
          param,
          `The schema at \`${param}\` was changed to meet the rules of the provider: ${changes.slice(0, 5).join('; ')}${changes.length > 5 ? '; …' : ''}.`,
        ),
      ]
