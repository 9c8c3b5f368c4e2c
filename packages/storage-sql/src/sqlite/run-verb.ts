import type { PreparedStatement } from './engine.ts'
import { IS_REFUSED, NOT_REFUSED, type Rows, type Statement, type Verb } from './verb.ts'

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
  /** Runs the refusals first, and then only what runs if the verb is refused. */
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
    // A refused verb never reaches its statements, and others never reach those of a refused one.
    const fresh = db.prepare(sql.replaceAll(NOT_REFUSED, 'true').replaceAll(IS_REFUSED, 'true'))
    if (prepared.size >= MAX_PREPARED) prepared.delete(prepared.keys().next().value ?? '')
    prepared.set(sql, fresh)
    return fresh
  }
  const all = ({ sql, values }: Statement) => prepare(sql).all(...values)
  return {
    run({ refusals = [], ifRefused = [], statements, always = [] }) {
      let verdict: string | undefined
      for (const { sql, values } of refusals) {
        const found = prepare(sql).get(...values)?.verdict
        if (typeof found !== 'string') continue
        verdict = found
        break
      }
      const rows = verdict === undefined ? statements.map(all) : []
      if (verdict !== undefined) ifRefused.forEach(all)
      always.forEach(all)
      return { rows, verdict }
    },
    batch: statements => statements.map(all),
  }
}
