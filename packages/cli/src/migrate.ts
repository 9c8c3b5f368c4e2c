import { parseArgs } from 'node:util'
import { readConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { StartError } from './fault.ts'
import { namedStorage, openStorage } from './storage.ts'
import type { StorageScheme } from './storage-schemes.ts'

/** The environment of a migration. */
export interface MigrateContext {
  readonly environment: Environment
  readonly print: (text: string) => void
}

type Printer = (options: { readonly schema?: string }) => Promise<string>

/** Prints the SQL of the newest schema, by SQL dialect. */
const printers: ReadonlyMap<string, Printer> = new Map<string, Printer>([
  [
    'sqlite',
    async () => {
      const { sqliteSchemaSql } = await import('@signalbox/storage-sql/sqlite')
      return sqliteSchemaSql()
    },
  ],
  [
    'postgres',
    async options => {
      const { printPostgresMigrations } = await import('@signalbox/storage-sql/postgres')
      return printPostgresMigrations(options)
    },
  ],
])

const dialects: Readonly<Record<StorageScheme['name'], string>> = {
  memory: 'memory',
  sqlite: 'sqlite',
  postgres: 'postgres',
  libsql: 'sqlite',
}

/**
 * Runs `signalbox migrate`: migrates the config's database to the newest schema, or prints the SQL that does.
 *
 * @throws {StartError} Says why the database cannot be migrated.
 */
export async function runMigrate(args: readonly string[], { environment, print }: MigrateContext): Promise<void> {
  const { config: file, print: isPrinted, dialect, schema } = readArguments(args)
  if (isPrinted && dialect !== undefined) return print(await printed(dialect, schema))
  const named = namedStorage(readConfig(environment, { file }).storage)
  const { scheme, settings, shown } = named
  if (isPrinted) return print(await printed(dialects[scheme.name], schema ?? settings.schema))
  if (scheme.reach === 'process') throw new StartError('`storage` is "memory:", which has no schema to migrate.')
  const storage = await openStorage({ ...named, settings: { ...settings, migrate: true, ...(schema !== undefined && { schema }) } })
  await storage.close()
  print(`${shown} already has the latest schema.`)
}

async function printed(dialect: string, schema: string | undefined): Promise<string> {
  const printer = printers.get(dialect)
  if (!printer)
    throw new StartError(`There is no SQL to print for ${JSON.stringify(dialect)}; --dialect takes ${[...printers.keys()].join(', ')}.`)
  return printer(schema === undefined ? {} : { schema })
}

function readArguments(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const
    return parseArgs({ args: [...args], options: { config: text, print: { type: 'boolean' }, dialect: text, schema: text } }).values
  } catch (error) {
    throw new StartError(`${(error as Error).message} Try --help.`)
  }
}
