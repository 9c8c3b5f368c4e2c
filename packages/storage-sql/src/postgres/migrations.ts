import { postgresSchema } from '../generated/postgres-schema.ts'
import type { PostgresClient } from './client.ts'
import { SchemaError } from './failures.ts'

/** SQL of each schema version. Released versions are never edited, and there are no down migrations. */
const postgresMigrations: readonly string[] = [postgresSchema]

/**
 * Checks a schema name, which is used unquoted in SQL.
 *
 * @throws {RangeError} The name has characters other than lower-case letters, digits and underscores.
 */
export function checkSchemaName(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema) || schema.startsWith('pg_'))
    throw new RangeError(
      `postgresStorage: \`schema\` must be up to 48 lower-case letters, digits and underscores and not begin with \`pg_\`, got ${JSON.stringify(schema)}.`,
    )
}

/**
 * Returns the SQL that creates the newest schema, for operators that apply it themselves.
 *
 * @example
 * process.stdout.write(printPostgresMigrations())
 */
export function printPostgresMigrations({ schema = 'signalbox' }: { readonly schema?: string } = {}): string {
  checkSchemaName(schema)
  return ['BEGIN;', createVersionTable(schema), stepsFrom(0, schema, postgresMigrations), 'COMMIT;', ''].join('\n')
}

/** `CREATE SCHEMA IF NOT EXISTS` needs the right to create schemas even where the schema exists, so a role that owns only its schema fails. */
const createVersionTable = (schema: string): string =>
  `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${schema}') THEN CREATE SCHEMA ${schema}; END IF;
END $$;
CREATE TABLE IF NOT EXISTS ${schema}.schema_version (version integer NOT NULL);
INSERT INTO ${schema}.schema_version (version) SELECT 0 WHERE NOT EXISTS (SELECT FROM ${schema}.schema_version);`

/** The steps name no schema: what they create, and what their functions see, is that of the search path. */
const stepsFrom = (version: number, schema: string, migrations: readonly string[]): string =>
  [
    `SET LOCAL search_path = ${schema}, pg_temp;`,
    ...migrations.slice(version),
    `UPDATE ${schema}.schema_version SET version = ${migrations.length};`,
  ].join('\n')

/** Database encodings that can store any text. In others, a character from a client could make a settlement fail. */
const encodings: ReadonlySet<unknown> = new Set(['UTF8', 'SQL_ASCII'])
/**
 * Transaction isolation in which a statement that has waited for a lock sees what was committed meanwhile. In others, holds and
 * settlements of a busy account would fail, and processes that start together could not wait for each other's migration.
 */
const isolations: ReadonlySet<unknown> = new Set(['read committed', 'read uncommitted'])

/**
 * Reads the version of the schema; 0 if there is none.
 *
 * @throws {SchemaError} The database encoding cannot store any text, or its transactions do not see what is committed meanwhile.
 */
export async function readSchemaVersion(client: Pick<PostgresClient, 'run'>, schema: string): Promise<number> {
  // Not `to_regclass`, which may use what the connection knew before it waited for the migration lock.
  const text = `SELECT EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = '${schema}' AND c.relname = 'schema_version') AS is_there, current_setting('server_encoding') AS encoding,
    current_setting('default_transaction_isolation') AS isolation`
  const [found] = await client.run({ text, values: [] })
  if (!encodings.has(found?.encoding))
    throw new SchemaError(
      `postgresStorage: the database has the encoding ${String(found?.encoding)}, which cannot keep every character. Use a database with UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
    )
  if (!isolations.has(found?.isolation))
    throw new SchemaError(
      `postgresStorage: default_transaction_isolation is ${String(found?.isolation)}, in which concurrent requests fail each other. Use ALTER ROLE … SET default_transaction_isolation = 'read committed'.`,
    )
  if (found?.is_there !== true) return 0
  const [row] = await client.run({ text: `SELECT version FROM ${schema}.schema_version`, values: [] })
  return Number(row?.version ?? 0)
}

/** The error of a schema that a release with the version `newest` cannot use; undefined if it is the newest. */
export function faultOfVersion(version: number, schema: string, newest = postgresMigrations.length): SchemaError | undefined {
  if (version > newest)
    return new SchemaError(
      `postgresStorage: \`${schema}\` has schema ${version}, but this version supports ${newest}: a newer version created it. Run that version, or use another schema.`,
    )
  if (version < newest)
    return new SchemaError(
      `postgresStorage: \`${schema}\` has schema ${version}, but this version needs ${newest}. Apply the migrations, or leave \`migrate\` on.`,
    )
  return undefined
}

/**
 * Migrates a schema to the newest version, under an advisory lock: of several processes that start together, one migrates and the others
 * wait. A failed step leaves the schema unchanged.
 */
export async function migratePostgres(client: PostgresClient, schema: string, migrations = postgresMigrations): Promise<void> {
  const newest = migrations.length
  if ((await readSchemaVersion(client, schema)) === newest) return
  await client.transaction(async run => {
    await run(`SELECT pg_advisory_xact_lock(hashtext('signalbox migrations ${schema}'))`)
    const version = await readSchemaVersion({ run: ({ text }) => run(text) }, schema)
    if (version > newest) throw faultOfVersion(version, schema, newest)
    if (version === newest) return
    if (version === 0) await run(createVersionTable(schema))
    await run(stepsFrom(version, schema, migrations))
  })
}
