import { withWireNames } from '@signalbox/dialects/protocol'
import type * as z from 'zod/v4'
import { deepFreeze } from '../deep-freeze.ts'
import { formatPath, throwIfAny } from '../fault.ts'
import { duplicatesIn } from '../names.ts'
import type { Overrides } from '../overrides.ts'
import type { Catalog } from '../stored.ts'
import { catalogSchema, overridesSchema } from './shapes.ts'

// A separate sub-path, so that a bundle with only the built-in catalog contains no schemas.

/**
 * Reads a custom catalog from JSON.
 *
 * @throws {CatalogError} Its `problems` each name a path, the value there, and what it takes.
 *
 * @example const own = readCatalog(JSON.parse(await readFile('catalog.json', 'utf8')))
 */
export function readCatalog(json: unknown): Catalog {
  const catalog = parseWith(catalogSchema, json)
  throwIfAny(duplicatesIn(catalog))
  return deepFreeze(catalog)
}

/**
 * Reads overrides from JSON, for `overridden`.
 *
 * @throws {CatalogError} As for `readCatalog`.
 *
 * @example overridden(catalog(), readOverrides(JSON.parse(text)))
 */
export const readOverrides = (json: unknown): Overrides => deepFreeze(parseWith(overridesSchema, json))

/**
 * A catalog as the text of a catalog file, which `readCatalog` reads: JSON with the names of files, such as `context_window`.
 *
 * @example await writeFile('catalog.json', catalogText(catalog()))
 */
export const catalogText = (catalog: Catalog): string => JSON.stringify(withWireNames(catalog))

function parseWith<Output>(schema: z.ZodType<Output>, json: unknown): Output {
  const { data, error } = schema.safeParse(json)
  // Deduplicated, because two violations by one value may have the same message.
  if (error) throwIfAny([...new Set(error.issues.flatMap(issue => describeIssue(issue, json)))])
  return data as Output
}

function describeIssue(issue: z.core.$ZodIssue, json: unknown): readonly string[] {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      key =>
        `${formatPath([...path, key])} is not a known field; ${path.length === 0 ? 'known are' : `${formatPath(path)} takes`} ${message}.`,
    )
  }
  const value = path.reduce<unknown>((inner, step) => (inner as Record<PropertyKey, unknown> | undefined)?.[step], json)
  return [`${path.length === 0 ? 'It' : formatPath(path)} is ${quoteValue(value)}; it takes ${message}.`]
}

function quoteValue(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
