import { readFileSync } from 'node:fs'
import { type Catalog, CatalogError, catalog, overridden } from '@signalbox/catalog'
import { readCatalog, readOverrides } from '@signalbox/catalog/schema'
import { StartError } from './fault.ts'
import type { Config } from './schema.ts'

/** The catalog that the config names, with what the operator knows better. Throws a StartError that says what is wrong with it. */
export function catalogFor(named: Config['catalog']): Catalog | undefined {
  if (named === 'none') return undefined
  if (named === 'built-in') return catalog()
  const { file, overrides } = named
  const base = file === undefined ? catalog() : told(`The catalog file ${file}`, () => readCatalog(parsed(file)))
  return overrides === undefined ? base : told('`catalog.overrides`', () => overridden(base, readOverrides(overrides)))
}

function told<Result>(place: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof CatalogError) throw new StartError(`${place}: ${error.message}`)
    throw error
  }
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(
      code === undefined ? `The catalog file ${file} is not valid JSON: ${message}.` : `The catalog file ${file} cannot be read (${code}).`,
    )
  }
}
