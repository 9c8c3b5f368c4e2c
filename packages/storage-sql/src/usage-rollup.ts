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
  const hours = new Map<string, Cell>()
  for (const row of rows) {
    const reading = readingOf(row)
    for (const { name, ofRow } of dimensions)
      cellIn(hours, { workspaceId: row.workspaceId, dimension: name, value: ofRow(row), span: intervalMs.hour, at: row.at }).add(reading)
  }
  const days = new Map<string, Cell>()
  for (const { start: at, tally, ...hour } of hours.values()) cellIn(days, { ...hour, span: intervalMs.day, at }).addTotal(tally.kept())
  return [...hours.values(), ...days.values()]
}

function cellIn(cells: Map<string, Cell>, { at, ...of }: Omit<Cell, 'start' | 'tally'> & { readonly at: number }): Tally {
  const start = startOf(at, of.span)
  const name = `${start} ${of.dimension} ${of.workspaceId.length} ${of.workspaceId} ${of.value}`
  const found = cells.get(name)
  if (found) return found.tally
  const tally = makeTally()
  cells.set(name, { ...of, start, tally })
  return tally
}
