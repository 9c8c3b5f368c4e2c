import { readFileSync } from 'node:fs'
import { type Catalog, CatalogError, catalog, overridden, staleDays } from '@signalbox/catalog'
import { readCatalog, readOverrides } from '@signalbox/catalog/schema'
import { StartError } from './fault.ts'
import type { Config } from './schema.ts'

/**
 * The catalog that the config names, with its overrides.
 *
 * @throws {StartError} Says what is wrong with it.
 */
export function catalogFor(named: Config['catalog']): Catalog | undefined {
  if (named === 'none') return undefined
  if (named === 'built-in') return catalog()
  const { file, overrides } = named
  const base = file === undefined ? catalog() : withPlace(`The catalog file ${file}`, () => readCatalog(parseFile(file)))
  return overrides === undefined ? base : withPlace('`catalog.overrides`', () => overridden(base, readOverrides(overrides)))
}

/** A notice for the operator if the catalog is older than 30 days. */
export function ageNotices(named: Config['catalog'], now: number): readonly string[] {
  const known = catalogFor(named)
  const days = known && staleDays(known, now)
  if (!known || days === undefined) return []
  const file = (typeof named === 'object' ? named.file : undefined) ?? 'catalog.json'
  const use = typeof named === 'object' && named.file !== undefined ? '' : ` and set \`catalog.file\` to ${file}`
  return [`The catalog is of ${known.asOf}, ${days} days ago, and prices change: run \`signalbox catalog update --out ${file}\`${use}.`]
}

function withPlace<Result>(place: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof CatalogError) throw new StartError(`${place}: ${error.message}`)
    throw error
  }
}

function parseFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(
      code === undefined ? `The catalog file ${file} is not valid JSON: ${message}.` : `The catalog file ${file} cannot be read (${code}).`,
    )
  }
}
