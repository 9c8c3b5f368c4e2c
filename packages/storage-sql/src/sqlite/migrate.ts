import type { Awaitable } from '@signalbox/storage'
import { andThen, recover } from '@signalbox/storage/awaitable'
import { sqliteSchema } from '../generated/sqlite-schema.ts'
import { type Rows, type Statement, statement } from './verb.ts'

/** The statements of one schema version. Released versions are never edited, and there are no down migrations. */
export type Migration = readonly string[]

/** The migrations to the newest schema on SQLite. */
export const sqliteMigrations: readonly Migration[] = [sqliteSchema]

/** Runs statements in one transaction. */
export type RunBatch = (statements: readonly Statement[]) => Awaitable<Rows>

const CREATE_VERSION = 'CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, probe INTEGER NOT NULL DEFAULT 0) STRICT'
const FIRST_VERSION = 'INSERT INTO schema_version (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)'
const GET_VERSION = 'SELECT version FROM schema_version'
const SET_VERSION = 'UPDATE schema_version SET version = ?1'
/** Fails the batch if another process has migrated the database since its version was read. */
const EXPECT_VERSION = 'INSERT INTO schema_version (version) SELECT NULL WHERE (SELECT version FROM schema_version) <> ?1'

/** How often other processes may migrate the database first. */
const MAX_TRIES = 5

/**
 * Migrates a database to the newest schema in one transaction. Of several processes that start together, one migrates. Fails if a newer
 * version created the database.
 *
 * @example migrate(statements => runBatch(db, statements))
 */
export function migrate(run: RunBatch, migrations: readonly Migration[] = sqliteMigrations): Awaitable<void> {
  const found = (): Awaitable<number> => andThen(run([statement(GET_VERSION)]), versionIn)
  const step = (version: number, tries: number): Awaitable<void> => {
    if (version > migrations.length) throw newerError(version, migrations.length)
    if (version === migrations.length) return
    return recover(
      () => andThen(run(upgrade(version, migrations)), () => undefined),
      error =>
        andThen(found(), now => {
          if (now === version || tries === MAX_TRIES) throw error
          return step(now, tries + 1)
        }),
    )
  }
  return andThen(run([CREATE_VERSION, FIRST_VERSION, GET_VERSION].map(sql => statement(sql))), rows => step(versionIn(rows.slice(-1)), 1))
}

const upgrade = (version: number, migrations: readonly Migration[]): readonly Statement[] => [
  statement(EXPECT_VERSION, version),
  ...migrations.slice(version).flatMap(migration => migration.map(sql => statement(sql))),
  statement(SET_VERSION, migrations.length),
]

const versionIn = ([rows]: Rows): number => Number(rows?.[0]?.version ?? 0)

const newerError = (version: number, known: number): Error =>
  new Error(
    `the database has schema ${version}, but this version supports ${known}: a newer version created it. Run that version, or open another database.`,
  )

/**
 * Returns the SQL that migrates a database from a version to the newest one, for tools that run migrations themselves. A storage that finds
 * the newest version changes nothing.
 *
 * @example writeFileSync('migrations/0001_signalbox.sql', sqliteSchemaSql())
 */
export function sqliteSchemaSql(from = 0): string {
  const begin = from === 0 ? [CREATE_VERSION, FIRST_VERSION] : []
  const statements = sqliteMigrations.slice(from).flat()
  return `${[...begin, ...statements, SET_VERSION.replace('?1', `${sqliteMigrations.length}`)].join(';\n\n')};\n`
}

/** Reads the version, which shows whether the tables exist. */
export const readVersion = { statements: [statement(GET_VERSION)], answer: (rows: Rows): number => versionIn(rows) }
