import type { Compilable } from 'kysely'
import { type FixedStatement, postgresQueries, type Queries } from '../statements/compile.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'

/** Runs read statements. */
export interface PostgresReads {
  readonly queries: Queries
  /** Runs a precompiled statement, which is prepared. */
  fixed<Arguments extends object>(statement: FixedStatement<Arguments>, values: Arguments): Promise<readonly SqlRow[]>
  /** Compiles and runs a statement that depends on the query. */
  query(statement: Compilable): Promise<readonly SqlRow[]>
}

/** Creates the readers of a connection. `postgresReads(connection).fixed(reads.find, { kind, workspaceId, id })` */
export const postgresReads = (connection: PostgresConnection, verb: 'read' | 'report' = 'read'): PostgresReads => ({
  queries: postgresQueries(connection.schema),
  fixed({ text, valuesOf }, values) {
    const name = connection.nameOf(text)
    return connection.run(verb, { text, values: valuesOf(values), ...(name !== undefined && { name }) })
  },
  query(statement) {
    const { sql, parameters } = statement.compile()
    return connection.run(verb, { text: sql, values: parameters })
  },
})
