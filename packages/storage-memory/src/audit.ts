import type { AuditQuery, AuditRow, AuditStore } from '@signalbox/storage'

/** An audit store with the write methods that `records.commit` needs. */
export interface MemoryAudit extends AuditStore {
  /** Whether the row follows the last one of its workspace. */
  follows(row: AuditRow): boolean
  append(rows: readonly AuditRow[]): void
}

/** Audit rows by workspace. `memoryAudit(10_000).last('ws_1')` */
export function memoryAudit(maxRows: number): MemoryAudit {
  const chains = new Map<string, AuditRow[]>()
  const of = (workspaceId: string): readonly AuditRow[] => chains.get(workspaceId) ?? []
  return {
    forgets: true,
    follows({ workspaceId, place, previousHash }) {
      const last = of(workspaceId).at(-1)
      return place === (last?.place ?? 0) + 1 && previousHash === (last?.hash ?? '')
    },
    append(rows) {
      for (const row of rows) {
        const chain = chains.get(row.workspaceId) ?? []
        chains.set(row.workspaceId, chain)
        chain.push({ ...row })
        // Trimmed once it is a quarter too long, which is cheaper than a shift per row.
        if (chain.length > maxRows * 1.25) chain.splice(0, chain.length - maxRows)
      }
    },
    last(workspaceId) {
      const last = of(workspaceId).at(-1)
      return last && { ...last }
    },
    list({ after, limit, ...query }) {
      const chain = of(query.workspaceId)
      const end = after === undefined ? chain.length : chain.findIndex(({ id }) => id === after)
      const found: AuditRow[] = []
      for (let at = end - 1; at >= 0 && found.length < limit; at--) {
        const row = chain[at]
        if (row && isSelected(row, query)) found.push({ ...row })
      }
      return found
    },
    chain: (workspaceId, { after, limit }) =>
      of(workspaceId)
        .filter(({ place }) => place > after)
        .slice(0, Math.max(0, limit))
        .map(row => ({ ...row })),
  }
}

const isSelected = (row: AuditRow, { event, actorKeyId, from, to }: Omit<AuditQuery, 'after' | 'limit'>): boolean =>
  (event === undefined || row.event === event) &&
  (actorKeyId === undefined || row.actorKeyId === actorKeyId) &&
  (from === undefined || row.at >= from) &&
  (to === undefined || row.at < to)
