import { type Awaitable, intervalMs, type KeptTotal, makeTally, readingOf, startOf, type Tally, type UsageQuery } from '@signalbox/storage'
import type { Connection } from './group.ts'
import { type PlacedRow, TALLIED, toPlaced } from './usage-rows.ts'

// Totals of whole hours and days are kept beside the rows, so that asking for a month does not read a million of them. A
// mark tells up to which row they count. Rows get their place at COMMIT, under the write lock: none can appear below it.

export interface Rollup {
  /** A row was appended: every so many are counted into the totals, away from the path of any request. */
  note(): void
  /** Counts what has been appended so far, but for so many rows. */
  catchUp(left: number): Promise<void>
}

/** What totals are kept of: all of a workspace, each key, each model, each provider. */
export type Dimension = 'all' | 'key' | 'model' | 'provider'

/** By what a query narrows a dimension, and what a row has there. */
export const dimensions: readonly {
  readonly name: Dimension
  readonly wantedBy: (query: UsageQuery) => string | undefined
  readonly ofRow: (row: PlacedRow) => string
}[] = [
  { name: 'all', wantedBy: () => undefined, ofRow: () => '' },
  { name: 'key', wantedBy: query => query.keyId, ofRow: row => row.keyId },
  { name: 'model', wantedBy: query => query.model, ofRow: row => row.model },
  { name: 'provider', wantedBy: query => query.provider, ofRow: row => row.provider },
]

/** Rows between two times of counting, for each process. */
const ROLL_EVERY = 500
/** Rows at once: a few milliseconds for the event loop, and enough to catch up after others left some behind. */
const ROLL_ROWS = 1_000

interface Cell {
  readonly workspaceId: string
  readonly dimension: Dimension
  readonly value: string
  readonly span: number
  readonly start: number
  readonly tally: Tally
}

/** The totals kept beside the rows. `const rollup = sqliteRollup(connection); rollup.note()` */
export function sqliteRollup({ db, read, write }: Connection): Rollup {
  const unrolled = db.prepare(`SELECT ${TALLIED} FROM usage WHERE seq > (SELECT seq FROM usage_rolled) ORDER BY seq LIMIT ${ROLL_ROWS}`)
  const cell = 'workspace_id = ? AND dimension = ? AND span = ? AND start = ? AND value = ?'
  const find = db.prepare(`SELECT total FROM usage_totals WHERE ${cell}`)
  const update = db.prepare(`UPDATE usage_totals SET total = ? WHERE ${cell}`)
  const insert = db.prepare('INSERT INTO usage_totals (total, workspace_id, dimension, span, start, value) VALUES (?, ?, ?, ?, ?, ?)')
  const mark = db.prepare('UPDATE usage_rolled SET seq = ?')
  const places = db.prepare('SELECT seq AS rolled, (SELECT coalesce(max(seq), 0) FROM usage) AS newest FROM usage_rolled')
  let noted = 0

  const rollUp = (): number => {
    const rows = unrolled.all().map(toPlaced)
    for (const { workspaceId, dimension, span, start, value, tally } of cellsOf(rows)) {
      const where = [workspaceId, dimension, span, start, value] as const
      const kept = find.get(...where)
      if (kept) tally.addTotal(JSON.parse(String(kept.total)) as KeptTotal)
      const change = kept ? update : insert
      change.run(JSON.stringify(tally.kept()), ...where)
    }
    const last = rows.at(-1)
    if (last) mark.run(last.seq)
    return rows.length
  }

  const isBehind = (target: number): Awaitable<boolean> => read(() => Number(places.get()?.rolled) < target)

  return {
    note() {
      if (++noted % ROLL_EVERY !== 0) return
      // Nobody waits for it, and nothing is lost where it fails: whoever asks for totals counts what is left.
      write(rollUp).catch(() => undefined)
    },
    async catchUp(left) {
      const target = (await read(() => Number(places.get()?.newest))) - left
      while ((await isBehind(target)) && (await write(rollUp)) > 0);
    },
  }
}

/** Hours first, and the days out of them: a row is looked at once for each dimension. */
function cellsOf(rows: readonly PlacedRow[]): readonly Cell[] {
  const hours = makeCells(intervalMs.hour)
  for (const row of rows) {
    const reading = readingOf(row)
    const values = hours.of(row.workspaceId, row.at)
    for (let at = 0; at < dimensions.length; at++) values[at]?.(dimensions[at]?.ofRow(row) ?? '').add(reading)
  }
  const days = makeCells(intervalMs.day)
  for (const { workspaceId, dimension, value, start, tally } of hours.all) {
    const at = dimensions.findIndex(({ name }) => name === dimension)
    days.of(workspaceId, start)[at]?.(value).addTotal(tally.kept())
  }
  return [...hours.all, ...days.all]
}

type TallyOf = (value: string) => Tally

/** Cells by workspace, then start, then dimension and value: most rows find theirs without a new object or string. */
function makeCells(span: number) {
  const all: Cell[] = []
  const known = new Map<string, Map<number, readonly TallyOf[]>>()
  const open = (workspaceId: string, start: number): readonly TallyOf[] =>
    dimensions.map(({ name: dimension }) => {
      const tallies = new Map<string, Tally>()
      return value => {
        const found = tallies.get(value)
        if (found) return found
        const tally = makeTally()
        tallies.set(value, tally)
        all.push({ workspaceId, dimension, value, span, start, tally })
        return tally
      }
    })
  const startsOf = (workspaceId: string): Map<number, readonly TallyOf[]> => {
    const starts = known.get(workspaceId) ?? new Map<number, readonly TallyOf[]>()
    known.set(workspaceId, starts)
    return starts
  }
  return {
    all: all as readonly Cell[],
    /** For each dimension, in their order, the tally of a value. */
    of(workspaceId: string, at: number): readonly TallyOf[] {
      const start = startOf(at, span)
      const starts = startsOf(workspaceId)
      const values = starts.get(start) ?? open(workspaceId, start)
      starts.set(start, values)
      return values
    },
  }
}
