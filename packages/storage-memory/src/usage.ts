import { faultOfUsage, type UsageQuery, type UsageRow, type UsageStore } from '@signalbox/storage'

const done = Promise.resolve()

/** The newest `maxRows` usage rows. `await memoryUsage(1_000).sum({ workspaceId: 'ws_1', from: 0, to: at })` */
export function memoryUsage(maxRows: number): UsageStore {
  const byId = new Map<string, UsageRow>()
  let rows: UsageRow[] = []
  const spare = Math.max(1, Math.min(1_000, maxRows / 8))

  /** Newest first; of two at the same time, the one appended later. */
  const matching = (query: UsageQuery): readonly UsageRow[] =>
    rows
      .slice(-maxRows)
      .filter(row => isIn(row, query))
      .reverse()
      .sort((a, b) => b.at - a.at)

  return {
    append(row) {
      const fault = faultOfUsage(row)
      if (fault) return Promise.reject(fault)
      if (byId.has(row.id)) return done
      const kept = copy(row)
      byId.set(row.id, kept)
      rows.push(kept)
      if (rows.length >= maxRows + spare) {
        for (const old of rows.slice(0, -maxRows)) byId.delete(old.id)
        rows = rows.slice(-maxRows)
      }
      return done
    },
    async find(workspaceId, id) {
      const row = byId.get(id)
      return row?.workspaceId === workspaceId ? copy(row) : undefined
    },
    async sum(query) {
      const sum = { requests: 0, errors: 0, rateLimited: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
      for (const row of rows.slice(-maxRows)) {
        if (!isIn(row, query)) continue
        sum.requests += 1
        if (row.result === 'error') sum.errors += 1
        if (row.result === 'rate_limited') sum.rateLimited += 1
        sum.inputTokens += row.inputTokens
        sum.outputTokens += row.outputTokens
        sum.cost += row.cost
      }
      return sum
    },
    list: async ({ limit, ...query }) => matching(query).slice(0, Math.max(0, limit)).map(copy),
  }
}

const isIn = (row: UsageRow, { workspaceId, keyId, from, to }: UsageQuery): boolean =>
  row.workspaceId === workspaceId && (keyId === undefined || row.keyId === keyId) && row.at >= from && row.at < to

const copy = (row: UsageRow): UsageRow => ({
  ...row,
  warnings: [...row.warnings],
  ...(row.metadata && { metadata: { ...row.metadata } }),
})
