import { type Compilable, DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { Tables } from '../schema.ts'

// Kysely only compiles; the drivers of this package run the result.

/** Builds queries. */
export type Queries = Kysely<Tables>

/** Queries for PostgreSQL, whose tables are in a schema. `postgresQueries('signalbox').selectFrom('records')` */
export const postgresQueries = (schema: string): Queries =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }).withSchema(schema)

/** A precompiled statement, and a function that returns its parameter values. */
export interface FixedStatement<Arguments> {
  readonly text: string
  readonly valuesOf: (values: Arguments) => readonly unknown[]
}

interface Parameter {
  readonly parameter: string
}

const isParameter = (value: unknown): value is Parameter => typeof value === 'object' && value !== null && 'parameter' in value

/**
 * Compiles a statement once. `build` receives a placeholder for each argument, which can be used wherever a value can.
 *
 * @example
 * const find = fixedStatement<{ id: string }>(({ id }) => queries.selectFrom('holds').selectAll().where('id', '=', id))
 * run(find.text, find.valuesOf({ id: 'req_1' }))
 */
export function fixedStatement<Arguments extends object>(build: (stand: Arguments) => Compilable): FixedStatement<Arguments> {
  const stand = new Proxy({}, { get: (_, parameter) => ({ parameter }) }) as Arguments
  const { sql, parameters } = build(stand).compile()
  return {
    text: sql,
    valuesOf: values => {
      const known = new Map<string, unknown>(Object.entries(values))
      return parameters.map(value => (isParameter(value) ? known.get(value.parameter) : value))
    },
  }
}
