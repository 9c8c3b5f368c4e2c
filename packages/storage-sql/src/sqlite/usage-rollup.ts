import type { Awaitable, UsageQuery } from '@signalbox/storage'
import { createTotalBuilder, figuresOf, intervalMs, type StoredTotal, startOf, type TotalBuilder } from '@signalbox/storage/usage-totals'
import type { Connection } from './connection.ts'
import { COUNTED_COLUMNS, type PlacedRow, toPlaced } from './usage-rows.ts'
import { inParts, NOT_REFUSED, query, type Row, type Rows, statement } from './verb.ts'

// Totals of whole hours and days are stored next to the rows, so that a query for a month does not read a million of them. A mark records
// up to which row they count. Rows get their number at COMMIT, under the write lock, so none can appear below the mark.

/** The stored totals of a database. */
export interface Rollup {
  /** Records an appended row. Updates the totals after about one of 500 rows, and never fails. */
  note(id: string): Awaitable<void>
  /** Counts everything appended so far, except for at most `left` rows. */
  catchUp(left: number): Promise<void>
}

/** What a stored total is for: a whole workspace, a key, a model, a provider or a tag. */
export type Dimension = 'all' | 'key' | 'model' | 'provider' | 'tag'

/** For each dimension, the filter of a query and the value or values of a row. */
export const dimensions: readonly {
  readonly name: Dimension
  readonly wantedBy: (query: UsageQuery) => string | undefined
  readonly ofRow: (row: PlacedRow) => string | readonly string[]
}[] = [
  { name: 'all', wantedBy: () => undefined, ofRow: () => '' },
  { name: 'key', wantedBy: query => query.keyId, ofRow: row => row.keyId },
  { name: 'model', wantedBy: query => query.model, ofRow: row => row.model },
  { name: 'provider', wantedBy: query => query.provider, ofRow: row => row.provider },
  { name: 'tag', wantedBy: query => query.tag, ofRow: ({ tags = [] }) => tags },
]

/** Appended rows between two updates of the totals, on average. */
const ROLL_EVERY = 500
/** Rows counted by one update: a few milliseconds of the event loop, and enough to catch up with other processes. */
const ROLL_ROWS = 1_000
/** Totals in one parameter. */
const CELLS_PER_STATEMENT = 256

interface Cell {
  readonly workspaceId: string
  readonly dimension: Dimension
  readonly value: string
  readonly span: number
  readonly start: number
  readonly builder: TotalBuilder
}

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
      refusal: statement(REFUSE_MOVED, seq, version),
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

/** Builds hours from rows and days from hours, so that each row is read once per dimension. */
function cellsOf(rows: readonly PlacedRow[]): readonly Cell[] {
  const hours = makeCells(intervalMs.hour)
  for (const row of rows) {
    const reading = figuresOf(row)
    const values = hours.of(row.workspaceId, row.at)
    for (let at = 0; at < dimensions.length; at++) {
      const value = dimensions[at]?.ofRow(row) ?? ''
      if (typeof value === 'string') values[at]?.(value).add(reading)
      else for (const each of value) values[at]?.(each).add(reading)
    }
  }
  const days = makeCells(intervalMs.day)
  for (const { workspaceId, dimension, value, start, builder } of hours.all) {
    const at = dimensions.findIndex(({ name }) => name === dimension)
    days.of(workspaceId, start)[at]?.(value).addTotal(builder.stored())
  }
  return [...hours.all, ...days.all]
}

type BuilderOf = (value: string) => TotalBuilder

/** Cells by workspace, then start, then dimension and value, so that most rows find theirs without allocating. */
function makeCells(span: number) {
  const all: Cell[] = []
  const known = new Map<string, Map<number, readonly BuilderOf[]>>()
  const open = (workspaceId: string, start: number): readonly BuilderOf[] =>
    dimensions.map(({ name: dimension }) => {
      const totals = new Map<string, TotalBuilder>()
      return value => {
        const found = totals.get(value)
        if (found) return found
        const builder = createTotalBuilder()
        totals.set(value, builder)
        all.push({ workspaceId, dimension, value, span, start, builder })
        return builder
      }
    })
  const startsOf = (workspaceId: string): Map<number, readonly BuilderOf[]> => {
    const starts = known.get(workspaceId) ?? new Map<number, readonly BuilderOf[]>()
    known.set(workspaceId, starts)
    return starts
  }
  return {
    all: all as readonly Cell[],
    /** For each dimension, a function from a value to its total. */
    of(workspaceId: string, at: number): readonly BuilderOf[] {
      const start = startOf(at, span)
      const starts = startsOf(workspaceId)
      const values = starts.get(start) ?? open(workspaceId, start)
      starts.set(start, values)
      return values
    },
  }
}
