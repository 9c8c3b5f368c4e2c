import type { AuditQuery, AuditRow } from '@signalbox/storage'
import { orStoreDown } from '../errors/gateway-error.ts'
import { hashOf } from './audit-chain.ts'
import type { Desk } from './ports.ts'

export interface AuditEvents {
  /** Newest first. Times are Unix milliseconds, `from` included, `to` not. */
  list(query?: Partial<Omit<AuditQuery, 'workspaceId'>>): Promise<readonly AuditRow[]>
  /** Whether the chain is as it was written: every row, in its place, after the one before it. */
  verify(): Promise<Verified>
}

export interface Verified {
  readonly valid: boolean
  /** Rows that were looked at. */
  readonly checked: number
  /** The oldest row that is not as it was written, or that does not follow the one before it. */
  readonly firstBrokenId?: string
}

const rowsAtOnce = 500

export const auditEventsOf = ({ ports, workspaceId }: Desk): AuditEvents => {
  const { audit } = ports.storage
  return {
    list: ({ limit = 100, ...query } = {}) => orStoreDown(audit.list({ ...query, workspaceId, limit })),
    async verify() {
      let last: AuditRow | undefined
      let checked = 0
      for (;;) {
        const rows = await orStoreDown(audit.chain(workspaceId, { after: last?.place ?? 0, limit: rowsAtOnce }))
        for (const row of rows) {
          checked += 1
          if (!(await follows(row, last, audit.forgets === true))) return { valid: false, checked, firstBrokenId: row.id }
          last = row
        }
        if (rows.length < rowsAtOnce) return { valid: true, checked }
      }
    },
  }
}

/** A store that keeps only the newest rows begins its chain later: then the first that is left is taken as it is. */
async function follows(row: AuditRow, last: AuditRow | undefined, forgets: boolean): Promise<boolean> {
  const { hash, ...unhashed } = row
  if ((await hashOf(unhashed)) !== hash) return false
  if (last) return row.place === last.place + 1 && row.previousHash === last.hash
  return row.place === 1 ? row.previousHash === '' : forgets
}
