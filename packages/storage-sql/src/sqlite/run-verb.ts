import type { PreparedStatement } from './engine.ts'
import { NOT_REFUSED, type Rows, type Statement, type Verb } from './verb.ts'

/** A synchronous database. */
export interface SyncDatabase {
  prepare(sql: string): PreparedStatement
}

/** The result of a verb. */
export interface VerbOutcome {
  readonly rows: Rows
  readonly verdict: string | undefined
}

/** Runs verbs within the caller's transaction. */
export interface VerbRunner {
  /** Runs the refusal first, and nothing else if the verb is refused. */
  run(verb: Verb<unknown>): VerbOutcome
  batch(statements: readonly Statement[]): Rows
}

/** Maximum cached prepared statements. Writes have about fifty; lists have one per combination of filters. */
const MAX_PREPARED = 256

/** Prepares each statement once. `verbRunner(db).run(verb)` */
export function verbRunner(db: SyncDatabase): VerbRunner {
  const prepared = new Map<string, PreparedStatement>()
  const prepare = (sql: string): PreparedStatement => {
    const known = prepared.get(sql)
    if (known) return known
    // A refused verb never reaches its statements.
    const fresh = db.prepare(sql.replaceAll(NOT_REFUSED, 'true'))
    if (prepared.size >= MAX_PREPARED) prepared.delete(prepared.keys().next().value ?? '')
    prepared.set(sql, fresh)
    return fresh
  }
  const all = ({ sql, values }: Statement) => prepare(sql).all(...values)
  return {
    run({ refusal, repair, statements, always = [] }) {
      const verdict = refusal && prepare(refusal.sql).get(...refusal.values)?.verdict
      const isRefused = typeof verdict === 'string'
      if (isRefused && repair) all(repair)
      const rows = isRefused ? [] : statements.map(all)
      always.forEach(all)
      return { rows, verdict: isRefused ? verdict : undefined }
    },
    batch: statements => statements.map(all),
  }
}
