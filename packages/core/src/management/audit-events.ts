import type { AuditQuery, AuditRow } from '@signalbox/storage'
import { orStoreDown } from '../errors/gateway-error.ts'
import { hashOf } from './audit-chain.ts'
import type { Desk } from './ports.ts'

export interface AuditEvents {
  /** Newest first. Times are Unix milliseconds, `from` included, `to` not. */
  list(query?: Partial<Omit<AuditQuery, 'workspaceId'>>): Promise<readonly AuditRow[]>
  /** Whether the chain is as it was written: every row, in its place, after the one before it, up to the newest. */
  verify(): Promise<Verified>
}

/**
 * What is wrong: `row_changed`: a row is not as it was written, or does not follow the one before it. `end_missing`: the newest rows,
 * or all, were taken out. `rows_added`: there are rows that this gateway did not write. `chain_replaced`: the newest row is another
 * one. `anchor_changed`: the record of what the newest row is was altered.
 */
export type AuditFault = 'row_changed' | 'end_missing' | 'rows_added' | 'chain_replaced' | 'anchor_changed'

export interface Verified {
  readonly valid: boolean
  /** Rows that were looked at. */
  readonly checked: number
  /**
   * The end of the chain is known. False: no change was made since the gateway keeps it, the record of it was removed, or it was
   * signed with a sealing key that this gateway does not have; then a missing end is not seen.
   */
  readonly anchored: boolean
  /** The place from which on the end of the chain was known at each change: 1 where it always was. */
  readonly anchoredFrom?: number
  readonly reason?: AuditFault
  /** The oldest row that is not as it was written, or that does not follow the one before it. */
  readonly firstBrokenId?: string
}

const rowsAtOnce = 500

export const auditEventsOf = (desk: Desk): AuditEvents => {
  const { ports, workspaceId } = desk
  return {
    list: async ({ limit = 100, ...query } = {}) => orStoreDown(() => ports.storage.audit.list({ ...query, workspaceId, limit })),
    verify: () => verify(desk),
  }
}

async function verify({ ports: { storage, records, anchors }, workspaceId }: Desk): Promise<Verified> {
  const walk = walker(storage.audit, workspaceId)
  let seen: number | undefined
  for (;;) {
    // First the anchor, then the rows: what comes in meanwhile makes the chain longer than the anchor says, and is looked at again.
    const anchor = await records.find('audit_anchor', workspaceId, workspaceId)
    const state = await anchors.stateOf(anchor)
    const { last, checked, broken } = await walk()
    const known = state === 'unknown' ? undefined : anchor?.body
    const about = { checked, anchored: known !== undefined, ...(known && state === 'holds' && { anchoredFrom: known.since }) }
    if (broken) return { valid: false, ...about, reason: 'row_changed', firstBrokenId: broken.id }
    if (!known) return { valid: true, ...about }
    if (state === 'fails') return { valid: false, ...about, reason: 'anchor_changed' }
    const place = last?.place ?? 0
    if (known.broken || place < known.place) return { valid: false, ...about, reason: 'end_missing' }
    if (place === known.place)
      return last?.hash === known.hash ? { valid: true, ...about } : { valid: false, ...about, reason: 'chain_replaced' }
    if (anchor?.version === seen) return { valid: false, ...about, reason: 'rows_added' }
    seen = anchor?.version
  }
}

interface Walked {
  readonly last: AuditRow | undefined
  readonly checked: number
  readonly broken?: AuditRow
}

/** Looks at the rows that were not looked at yet, up to the newest. */
function walker(audit: Desk['ports']['storage']['audit'], workspaceId: string): () => Promise<Walked> {
  let last: AuditRow | undefined
  let checked = 0
  return async () => {
    for (;;) {
      const rows = await orStoreDown(() => audit.chain(workspaceId, { after: last?.place ?? 0, limit: rowsAtOnce }))
      for (const row of rows) {
        checked += 1
        if (!(await follows(row, last, audit.forgets === true))) return { last, checked, broken: row }
        last = row
      }
      if (rows.length < rowsAtOnce) return { last, checked }
    }
  }
}

/** A store that keeps only the newest rows begins its chain later: then the first that is left is taken as it is. */
async function follows(row: AuditRow, last: AuditRow | undefined, forgets: boolean): Promise<boolean> {
  const { hash, ...unhashed } = row
  if ((await hashOf(unhashed)) !== hash) return false
  if (last) return row.place === last.place + 1 && row.previousHash === last.hash
  return row.place === 1 ? row.previousHash === '' : forgets
}
