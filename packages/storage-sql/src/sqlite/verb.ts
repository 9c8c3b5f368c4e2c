// A verb is a storage method as a list of statements and a function that reads their rows. Decisions are made in SQL, so that the list can
// run where a transaction is one batch and nothing can be decided in between. Each driver runs the lists in its own way.

/** The value of a parameter. */
export type Value = string | number | null

/** SQL with numbered parameters (`?1`), and their values. The text depends only on the verb, so that drivers can cache the prepared statement. */
export interface Statement {
  readonly sql: string
  readonly values: readonly Value[]
}

/** A row keyed by column name. */
export type Row = Readonly<Record<string, unknown>>

/** The rows that each statement of a verb returned. */
export type Rows = readonly (readonly Row[])[]

/** The statements of one transaction, and how their rows are read. */
export interface Verb<T> {
  /**
   * Each selects why the verb is refused, as text in the column `verdict`; the first row is the verdict. If there is one, no statement that
   * contains `NOT_REFUSED` changes anything.
   */
  readonly refusals?: readonly Statement[]
  /** Run when the verb is refused. May run otherwise, except for statements that contain `IS_REFUSED`. */
  readonly ifRefused?: readonly Statement[]
  readonly statements: readonly Statement[]
  /** Run last, whether or not the verb is refused. Their rows are ignored. */
  readonly always?: readonly Statement[]
  /** Called after the transaction, without rows if the verb was refused. An error that it throws fails only this verb. */
  answer(rows: Rows, verdict: string | undefined): T
}

/** SQL that is true unless the verb was refused. Every statement of a verb with `refusals` contains it. */
export const NOT_REFUSED = 'NOT EXISTS (SELECT 1 FROM refusals)'

/** SQL that is true if the verb was refused. */
export const IS_REFUSED = 'EXISTS (SELECT 1 FROM refusals)'

/** A statement. `statement('SELECT ?1', 'value')` */
export const statement = (sql: string, ...values: readonly Value[]): Statement => ({ sql, values })

/** Rows bound as individual parameters: Cloudflare accepts 100 parameters per statement. */
const MAX_BOUND = 90

/**
 * Builds SQL over a list of rows, which is a table with the columns `column1`, `column2` and so on, in list order. Each value is a
 * parameter, which takes half the time of JSON; a long list is a single JSON parameter.
 *
 * @example
 * const insert = overRows(1, 2, list => `INSERT INTO t SELECT ?1, column1, column2 FROM ${list}`)
 * insert(['ws_1'], [['a', 1], ['b', 2]])
 */
export function overRows(
  others: number,
  columns: number,
  build: (list: string) => string,
): (values: readonly Value[], rows: readonly (readonly Value[])[]) => Statement {
  const names = Array.from({ length: columns }, (_, n) => `value ->> ${n} AS column${n + 1}`)
  const ofJson = build(`(SELECT ${names.join(', ')} FROM json_each(?${others + 1}))`)
  const byLength: string[] = []
  const ofValues = (length: number): string => {
    const row = (at: number) => `(${Array.from({ length: columns }, (_, n) => `?${others + at * columns + n + 1}`).join(', ')})`
    return build(`(VALUES ${Array.from({ length }, (_, index) => row(index)).join(', ')})`)
  }
  return (values, rows) => {
    if (rows.length === 0 || rows.length * columns > MAX_BOUND) return { sql: ofJson, values: [...values, JSON.stringify(rows)] }
    byLength[rows.length] ??= ofValues(rows.length)
    return { sql: byLength[rows.length] ?? '', values: values.concat(...rows) }
  }
}

/** A verb that returns nothing. `command(statement('DELETE FROM slots WHERE key = ?1', key))` */
export const command = (...statements: readonly Statement[]): Verb<void> => ({ statements, answer: () => undefined })

/** A verb that reads the rows of one statement. `query(statement('SELECT …'), rows => rows.map(toEntry))` */
export const query = <T>(select: Statement, read: (rows: readonly Row[]) => T): Verb<T> => ({
  statements: [select],
  answer: ([rows = []]) => read(rows),
})

const KEEP_REFUSAL = 'INSERT INTO refusals (verdict)'
const FORGET_REFUSAL: Statement = { sql: 'DELETE FROM refusals RETURNING verdict', values: [] }

/** Turns a verb into a plain list of statements: its refusal is a row that exists only within the transaction. */
export function batchOf<T>({ refusals, ifRefused = [], statements, always = [], answer }: Verb<T>): Verb<T> {
  if (!refusals) return { statements: [...statements, ...always], answer: rows => answer(rows, undefined) }
  const kept = refusals.map(({ sql, values }, index) => ({
    sql: index === 0 ? `${KEEP_REFUSAL} ${sql}` : `${KEEP_REFUSAL} SELECT verdict FROM (${sql}) WHERE ${NOT_REFUSED}`,
    values,
  }))
  const before = [...kept, ...ifRefused]
  return {
    statements: [...before, ...statements, ...always, FORGET_REFUSAL],
    answer(rows) {
      const verdict = rows.at(-1)?.[0]?.verdict
      return typeof verdict === 'string'
        ? answer([], verdict)
        : answer(rows.slice(before.length, before.length + statements.length), undefined)
    },
  }
}

/** Splits a list, because a parameter may not be larger than 2 MB. */
export const inParts = <T>(list: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / most) }, (_, n) => list.slice(n * most, (n + 1) * most))
