import type { SqlRow, SqlStatement } from './client.ts'
import type { PostgresConnection } from './connection.ts'

/** Runs read statements. */
export interface PostgresReads {
  /** Runs a statement whose text is the same for all values. It is prepared. */
  fixed(text: string, values: readonly unknown[]): Promise<readonly SqlRow[]>
  /** Runs a statement whose text depends on the query. */
  query(statement: SqlStatement): Promise<readonly SqlRow[]>
}

/** Creates the readers of a connection. `postgresReads(connection).fixed(find, [kind, workspaceId, id])` */
export const postgresReads = (connection: PostgresConnection, verb: 'read' | 'report' = 'read'): PostgresReads => ({
  fixed: (text, values) => connection.run(verb, { text, values, name: connection.nameOf(text) }),
  query: statement => connection.run(verb, statement),
})

/** The values of a statement, and their placeholders. `const values = new SqlValues(); const text = `WHERE id = ${values.add(id)}`` */
export class SqlValues {
  readonly list: unknown[] = []

  /** Adds a value and returns its placeholder. */
  add(value: unknown): string {
    this.list.push(value)
    return `$${this.list.length}`
  }
}

/** Conditions as the text after WHERE. Absent ones do not apply. */
export const allOfConditions = (conditions: readonly (string | false | undefined)[]): string =>
  conditions.filter(condition => condition !== false && condition !== undefined).join(' AND ')
