import type { UsageQuery, UsageRow, UsageStore } from '@signalbox/storage'
import { faultOfUsage } from '@signalbox/storage/faults'
import { createTotalsBuilder } from '@signalbox/storage/usage-totals'

/** Keeps the newest `maxRows` usage rows; totals only cover these. `memoryUsage(1_000).totals({ workspaceId: 'ws_1', from: 0, to: at })` */
export function memoryUsage(maxRows: number): UsageStore {
  const byId = new Map<string, UsageRow>()
  let rows: UsageRow[] = []
  const spare = Math.max(1, Math.min(1_000, maxRows / 8))

  /** Oldest first; at the same time, the one appended earlier first. */
  const ordered = (isMeant: (row: UsageRow) => boolean): readonly UsageRow[] =>
    rows
      .slice(-maxRows)
      .filter(isMeant)
      .sort((a, b) => a.at - b.at)

  return {
    append(row) {
      const fault = faultOfUsage(row)
      if (fault) throw fault
      if (byId.has(row.id)) return
      const kept = copy(row)
      byId.set(row.id, kept)
      rows.push(kept)
      if (rows.length >= maxRows + spare) {
        for (const old of rows.slice(0, -maxRows)) byId.delete(old.id)
        rows = rows.slice(-maxRows)
      }
    },
    find(workspaceId, id) {
      const row = byId.get(id)
      return row?.workspaceId === workspaceId ? copy(row) : undefined
    },
    totals(query) {
      const totals = createTotalsBuilder(query)
      for (const row of rows.slice(-maxRows)) if (isSelected(row, query)) totals.addRow(row)
      return totals.totals()
    },
    list({ limit, after, ...query }) {
      const isAfter = (row: UsageRow): boolean => row.id === after && row.workspaceId === query.workspaceId
      const found = ordered(row => isSelected(row, query) || isAfter(row)).toReversed()
      const begin = after === undefined ? 0 : found.findIndex(isAfter) + 1 || found.length
      const isListed = (row: UsageRow): boolean => isSelected(row, query)
      return found.slice(begin).filter(isListed).slice(0, Math.max(0, limit)).map(copy)
    },
    count: ({ limit, ...query }) => Math.min(Math.max(0, limit), rows.slice(-maxRows).filter(row => isSelected(row, query)).length),
    forget({ workspaceId, before, limit }) {
      const gone = new Set(ordered(row => row.workspaceId === workspaceId && row.at < before).slice(0, Math.max(0, limit)))
      rows = rows.filter(row => !gone.has(row))
      for (const { id } of gone) byId.delete(id)
      return gone.size
    },
  }
}

const isSelected = (row: UsageRow, { workspaceId, keyId, model, provider, tag, from, to }: UsageQuery): boolean =>
  row.workspaceId === workspaceId &&
  row.at >= from &&
  row.at < to &&
  (keyId === undefined || row.keyId === keyId) &&
  (model === undefined || row.model === model) &&
  (provider === undefined || row.provider === provider) &&
  (tag === undefined || row.tags?.includes(tag) === true)

const copy = (row: UsageRow): UsageRow => ({
  ...row,
  warnings: [...row.warnings],
  ...(row.metadata && { metadata: { ...row.metadata } }),
  ...(row.tags && { tags: [...row.tags] }),
})
