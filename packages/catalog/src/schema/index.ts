import type * as z from 'zod'
import type { Catalog } from '../catalog.ts'
import { spelled, throwIfAny } from '../fault.ts'
import { frozen } from '../frozen.ts'
import { doublesIn } from '../names.ts'
import type { Overrides } from '../overrides.ts'
import { catalogSchema, overridesSchema } from './shapes.ts'

// A door of its own, so that whoever ships the built-in catalog alone ships no schemas.

/**
 * A catalog of your own, from JSON. Throws a CatalogError: each of its `problems` names a path, what stands there, and what it
 * takes.
 *
 * @example const own = readCatalog(JSON.parse(await readFile('catalog.json', 'utf8')))
 */
export function readCatalog(json: unknown): Catalog {
  const catalog = read(catalogSchema, json)
  throwIfAny(doublesIn(catalog))
  return frozen(catalog)
}

/**
 * Overrides from JSON, for `overridden`. Throws a CatalogError as `readCatalog` does.
 *
 * @example overridden(catalog(), readOverrides(JSON.parse(text)))
 */
export const readOverrides = (json: unknown): Overrides => frozen(read(overridesSchema, json))

function read<Output>(schema: z.ZodType<Output>, json: unknown): Output {
  const { data, error } = schema.safeParse(json)
  // A value may break two rules that read the same.
  if (error) throwIfAny([...new Set(error.issues.flatMap(issue => told(issue, json)))])
  return data as Output
}

function told(issue: z.core.$ZodIssue, json: unknown): readonly string[] {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      key => `${spelled([...path, key])} is not a known field; ${path.length === 0 ? 'known are' : `${spelled(path)} takes`} ${message}.`,
    )
  }
  const value = path.reduce<unknown>((inner, step) => (inner as Record<PropertyKey, unknown> | undefined)?.[step], json)
  return [`${path.length === 0 ? 'It' : spelled(path)} is ${shown(value)}; it takes ${message}.`]
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
