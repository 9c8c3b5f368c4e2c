import { setImmediate } from 'node:timers/promises'
import { type Awaitable, intervalMs, startOf, type UsageQuery } from '@signalbox/storage'
import type { Connection } from './group.ts'
import { dimensions } from './usage-rollup.ts'
import { type PlacedRow, TALLIED, toPlaced } from './usage-rows.ts'

// A month of a busy workspace is a million rows: they are read a stretch at a time, with a turn of the event loop between.

/** `from` included, `to` not. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** What a query names, as the statements want it. */
const FILTERS = '(:key IS NULL OR key_id = :key) AND (:model IS NULL OR model = :model) AND (:provider IS NULL OR provider = :provider)'
export const MATCHING = `workspace_id = :workspace AND at >= :from AND at < :to AND ${FILTERS}`
/** Those that the kept totals do not count yet. */
const UNROLLED = `usage NOT INDEXED WHERE seq > (SELECT seq FROM usage_rolled) AND ${MATCHING}`
export const TALLIED_UNROLLED = `SELECT ${TALLIED} FROM ${UNROLLED}`

/** The values of `MATCHING`. `statement.all(valuesOf(query))` */
export const valuesOf = ({ workspaceId, keyId, model, provider, from, to }: UsageQuery): Record<string, string | number | null> => ({
  workspace: workspaceId,
  from,
  to,
  key: keyId ?? null,
  model: model ?? null,
  provider: provider ?? null,
})

/** What both stretches have of time. `meetOf({ from, to }, hour)` */
export const meetOf = (one: Stretch, other: Stretch): Stretch => ({ from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) })

const PAGE = 2_048

export interface UsageReading {
  /** The begins of the hours in which rows that match may be, oldest first. */
  hoursOf(query: UsageQuery): Awaitable<readonly number[]>
  /** Hands on every row that matches, oldest first. */
  each(query: UsageQuery, handOn: (row: PlacedRow) => void): Promise<void>
}

/** Reads many rows in small steps. `await sqliteReading(connection).each(query, row => tallies.addRow(row))` */
export function sqliteReading({ db, read }: Connection): UsageReading {
  const kept =
    db.prepare(`SELECT start FROM usage_totals WHERE workspace_id = :workspace AND dimension = :dimension AND span = ${intervalMs.hour}
    AND value = :value AND start > :from - ${intervalMs.hour} AND start < :to
    AND start > (SELECT min(at) FROM usage WHERE workspace_id = :workspace) - ${intervalMs.hour}`)
  const unrolled = db.prepare(`SELECT at FROM ${UNROLLED}`)
  const page = db.prepare(`SELECT ${TALLIED} FROM usage WHERE ${MATCHING} AND (at > :from OR seq > :seq) ORDER BY at, seq LIMIT ${PAGE}`)

  return {
    hoursOf: query =>
      read(() => {
        const { workspaceId: workspace, from, to } = query
        // Before the kept ones: what is counted between the two reads is then seen twice, and not never.
        const young = unrolled.all(valuesOf(query)).map(({ at }) => startOf(Number(at), intervalMs.hour))
        const old = dimensions.flatMap(({ name: dimension, wantedBy }) => {
          const value = wantedBy(query)
          return value === undefined ? [] : [new Set(kept.all({ workspace, dimension, value, from, to }).map(({ start }) => Number(start)))]
        })
        const common = [...(old[0] ?? [])].filter(hour => old.every(hours => hours.has(hour)))
        return [...new Set([...young, ...common])].sort((a, b) => a - b)
      }),
    async each(query, handOn) {
      let place = { from: query.from, seq: -1 }
      for (;;) {
        const { from, seq } = place
        const rows = await read(() => page.all({ ...valuesOf({ ...query, from }), seq }).map(toPlaced))
        for (const row of rows) handOn(row)
        const last = rows.at(-1)
        if (!last || rows.length < PAGE) return
        place = { from: last.at, seq: last.seq }
        await setImmediate()
      }
    },
  }
}
