import { maxSum } from '@signalbox/storage/faults'
import type { PostgresClient } from './client.ts'
import { SchemaError } from './failures.ts'
import { commitFunctionSql } from './schema/commit-function.ts'
import { counterFunctionsSql } from './schema/counter-functions.ts'
import { forgetFunctionsSql } from './schema/forget-functions.ts'
import { holdFunctionsSql } from './schema/hold-functions.ts'
import { itemClockSql } from './schema/item-clock.ts'
import { itemFunctionsSql } from './schema/item-functions.ts'
import { ledgerFunctionsSql } from './schema/ledger-functions.ts'
import { settleFunctionSql, settleRequestsSql } from './schema/settle-functions.ts'
import { partitionedTablesSql, tablesSql } from './schema/tables.ts'
import { usageFunctionsSql } from './schema/usage-functions.ts'
import { usageTagsSql } from './schema/usage-tags.ts'

/** SQL of each schema version. Released versions are never edited, and there are no down migrations. */
const migrations: readonly string[] = [
  [
    tablesSql,
    partitionedTablesSql,
    holdFunctionsSql,
    settleFunctionSql,
    ledgerFunctionsSql,
    counterFunctionsSql,
    commitFunctionSql,
    usageFunctionsSql,
    itemFunctionsSql,
  ].join(''),
  usageTagsSql,
  // Replace functions of older schemas, in which holds, counters and slots were not decided on locked rows alone.
  [holdFunctionsSql, counterFunctionsSql].join(''),
  forgetFunctionsSql,
  // Concurrent holds and settlements of one id exclude each other, and a request is settled as a whole.
  [holdFunctionsSql, settleFunctionSql, settleRequestsSql].join(''),
  itemClockSql,
]

/** The newest schema version that this release supports. */
const schemaVersion = migrations.length

/**
 * Settings of every function. Plans are generic and always use indexes, because a plan made while a table was small would scan all of it
 * once it is large. JIT compilation would cost more than it saves.
 */
const functionSettings = (schema: string): string =>
  `SET search_path = ${schema}, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off`

const forSchema = (sql: string, schema: string): string =>
  sql.replaceAll('SETTINGS', functionSettings(schema)).replaceAll('SCHEMA', schema).replaceAll('MAX_SUM', `${maxSum}`)

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
  return ['BEGIN;', createVersionTable(schema), ...stepsFrom(0, schema), 'COMMIT;', ''].join('\n')
}

/** `CREATE SCHEMA IF NOT EXISTS` needs the right to create schemas even where the schema exists, so a role that owns only its schema fails. */
const createVersionTable = (schema: string): string =>
  `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${schema}') THEN CREATE SCHEMA ${schema}; END IF;
END $$;
CREATE TABLE IF NOT EXISTS ${schema}.schema_version (version integer NOT NULL);
INSERT INTO ${schema}.schema_version (version) SELECT 0 WHERE NOT EXISTS (SELECT FROM ${schema}.schema_version);`

const stepsFrom = (version: number, schema: string): readonly string[] =>
  migrations
    .slice(version)
    .map((sql, index) => `${forSchema(sql, schema)}\nUPDATE ${schema}.schema_version SET version = ${version + index + 1};`)

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

/** The error of a schema that this release cannot use; undefined if it is the newest. */
export function faultOfVersion(version: number, schema: string): SchemaError | undefined {
  if (version > schemaVersion)
    return new SchemaError(
      `postgresStorage: \`${schema}\` has schema ${version}, but this version supports ${schemaVersion}: a newer version created it. Run that version, or use another schema.`,
    )
  if (version < schemaVersion)
    return new SchemaError(
      `postgresStorage: \`${schema}\` has schema ${version}, but this version needs ${schemaVersion}. Apply the migrations, or leave \`migrate\` on.`,
    )
  return undefined
}

/**
 * Migrates a schema to the newest version, under an advisory lock: of several processes that start together, one migrates and the others
 * wait. A failed step leaves the schema unchanged.
 */
export async function migratePostgres(client: PostgresClient, schema: string): Promise<void> {
  if ((await readSchemaVersion(client, schema)) === schemaVersion) return
  await client.transaction(async run => {
    await run(`SELECT pg_advisory_xact_lock(hashtext('signalbox migrations ${schema}'))`)
    const version = await readSchemaVersion({ run: ({ text }) => run(text) }, schema)
    if (version > schemaVersion) throw faultOfVersion(version, schema)
    if (version === schemaVersion) return
    if (version === 0) await run(createVersionTable(schema))
    for (const step of stepsFrom(version, schema)) await run(step)
  })
}
