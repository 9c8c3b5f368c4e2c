import type { Awaitable } from '@signalbox/storage'
import type { StoredTotal } from '@signalbox/storage/usage-totals'
import { cellsOf } from '../stored-totals.ts'
import type { Connection } from './connection.ts'
import { COUNTED_COLUMNS, toPlaced } from './usage-rows.ts'
import { inParts, NOT_REFUSED, query, type Row, type Rows, statement } from './verb.ts'

// A mark records up to which row the stored totals count. Rows get their number at COMMIT, under the write lock: none can appear below the mark.

/** The stored totals of a database. */
export interface Rollup {
  /** Records an appended row. Updates the totals after about one of 500 rows, and never fails. */
  note(id: string): Awaitable<void>
  /** Counts everything appended so far, except for at most `left` rows. */
  catchUp(left: number): Promise<void>
}

/** Appended rows between two updates of the totals, on average. */
const ROLL_EVERY = 500
/** Rows counted by one update: a few milliseconds of the event loop, and enough to catch up with other processes. */
const ROLL_ROWS = 1_000
/** Totals in one parameter. */
const CELLS_PER_STATEMENT = 256

const READ_MARK = 'SELECT seq, version, (SELECT coalesce(max(seq), 0) FROM usage) AS newest FROM usage_rolled'
const UNROLLED = `
  SELECT ${COUNTED_COLUMNS} FROM usage WHERE seq > (SELECT seq FROM usage_rolled) ORDER BY seq LIMIT ${ROLL_ROWS}`
/** SQL for the place of a cell in the list ?1. */
const CELL = ['workspace_id', 'dimension', 'span', 'start', 'value']
  .map((name, n) => `usage_totals.${name} = cell.value ->> ${n}`)
  .join(' AND ')
const READ_CELLS = `SELECT cell.key AS place, total FROM json_each(?1) AS cell CROSS JOIN usage_totals WHERE ${CELL}`
/** Refuses if the mark or the totals have changed since they were read. */
const REFUSE_MOVED = "SELECT 'null' AS verdict FROM usage_rolled WHERE seq <> ?1 OR version <> ?2"
const WRITE_CELLS = `
  INSERT INTO usage_totals (workspace_id, dimension, span, start, value, total)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?1) WHERE ${NOT_REFUSED}
  ON CONFLICT (workspace_id, dimension, span, start, value) DO UPDATE SET total = excluded.total`
const WRITE_MARK = `UPDATE usage_rolled SET seq = ?1, version = version + 1 WHERE ${NOT_REFUSED}`

interface Mark {
  readonly seq: number
  readonly version: number
  readonly newest: number
}

const toMark = (row: Row | undefined): Mark => ({
  seq: Number(row?.seq ?? 0),
  version: Number(row?.version ?? 0),
  newest: Number(row?.newest ?? 0),
})

/** Creates the totals stored next to the rows. `const rollup = sqliteRollup(connection); await rollup.catchUp(0)` */
export function sqliteRollup({ read, write }: Pick<Connection, 'read' | 'write'>): Rollup {
  const readMark = (): Awaitable<Mark> => read(query(statement(READ_MARK), ([row]) => toMark(row)))

  /** Counts the next rows; false if there are none. Rows that another process counted in the meantime are not counted again. */
  const rollUp = async (): Promise<boolean> => {
    const statements = [statement(READ_MARK), statement(UNROLLED)]
    const [[mark] = [], unrolled = []] = await read({ statements, answer: (rows: Rows) => rows })
    const rows = unrolled.map(toPlaced)
    const last = rows.at(-1)
    if (!last) return false
    const { seq, version } = toMark(mark)
    const cells = cellsOf(rows)
    const places = cells.map(({ workspaceId, dimension, span, start, value }) => [workspaceId, dimension, span, start, value] as const)
    const cellReads = inParts(places, CELLS_PER_STATEMENT).map(part => statement(READ_CELLS, JSON.stringify(part)))
    const kept = await read({ statements: cellReads, answer: (found: Rows) => found })
    for (const [part, found] of kept.entries())
      for (const { place, total } of found)
        cells[part * CELLS_PER_STATEMENT + Number(place)]?.builder.addTotal(JSON.parse(String(total)) as StoredTotal)
    const written = places.map((place, n) => [...place, JSON.stringify(cells[n]?.builder.stored())])
    await write({
      refusals: [statement(REFUSE_MOVED, seq, version)],
      statements: [
        ...inParts(written, CELLS_PER_STATEMENT).map(part => statement(WRITE_CELLS, JSON.stringify(part))),
        statement(WRITE_MARK, last.seq),
      ],
      answer: () => undefined,
    })
    return true
  }

  return {
    // A failure loses nothing, because the next query for totals counts the rest.
    note: id =>
      isSampled(id)
        ? rollUp().then(
            () => undefined,
            () => undefined,
          )
        : undefined,
    async catchUp(left) {
      const target = (await readMark()).newest - left
      while ((await readMark()).seq < target && (await rollUp()));
    },
  }
}

/** Whether the id is one of about `ROLL_EVERY`. A counter would restart with each process, and some processes are short-lived. */
function isSampled(id: string): boolean {
  let hash = 0
  for (let at = Math.max(0, id.length - 12); at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) | 0
  return (hash >>> 0) % ROLL_EVERY === 0
}
