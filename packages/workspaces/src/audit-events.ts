import type { auditVerificationFields, RecordOf } from '@signalbox/core/resources'
import { orStoreDown } from '@signalbox/core/runtime'
import type { AuditQuery, AuditRow } from '@signalbox/storage'
import { hashOf } from './audit-chain.ts'
import type { ManagedWorkspace } from './ports.ts'

/** The audit log of a workspace, a signed hash chain. */
export interface AuditEvents {
  /** Newest first. Times are Unix milliseconds, `from` inclusive, `to` exclusive. */
  list(query?: Partial<Omit<AuditQuery, 'workspaceId'>>): Promise<readonly AuditRow[]>
  /** Verifies the chain: every row is unaltered and in its place, up to the newest. */
  verify(): Promise<AuditVerification>
}

/** The result of verifying an audit chain. With `anchored: false` its end is unknown, so a missing end is not detected. */
export interface AuditVerification extends RecordOf<typeof auditVerificationFields> {}

const rowsAtOnce = 500

export const auditEventsOf = (managed: ManagedWorkspace): AuditEvents => {
  const { workspaceId } = managed
  return {
    list: async ({ limit = 100, ...query } = {}) => orStoreDown(() => managed.storage.audit.list({ ...query, workspaceId, limit })),
    verify: () => verify(managed),
  }
}

async function verify(managed: ManagedWorkspace): Promise<AuditVerification> {
  const { records, anchors, workspaceId } = managed
  const walk = walker(managed)
  let seen: number | undefined
  for (;;) {
    // The anchor is read before the rows: rows written meanwhile make the chain longer than the anchor says, and are verified in another
    // pass.
    const anchor = await records.find('audit_anchor', workspaceId, workspaceId)
    const state = await anchors.stateOf(anchor)
    const { last, checked, broken } = await walk()
    const known = state === 'unknown' ? undefined : anchor?.body
    const about = { checked, anchored: known !== undefined, anchoredFrom: known && state === 'holds' ? known.since : undefined }
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

/** Verifies the rows not verified yet, up to the newest. */
function walker(managed: ManagedWorkspace): () => Promise<Walked> {
  const { workspaceId, reports } = managed
  const { audit } = managed.storage
  let last: AuditRow | undefined
  let checked = 0
  let isFirst = true
  const verifyRows = async (rows: readonly AuditRow[]): Promise<AuditRow | undefined> => {
    for (const row of rows) {
      checked += 1
      if (!(await follows(row, last, audit.forgets === true))) return row
      last = row
    }
    return undefined
  }
  return async () => {
    for (;;) {
      const read = () => orStoreDown(() => audit.chain(workspaceId, { after: last?.place ?? 0, limit: rowsAtOnce }))
      const rows = await reports.run(workspaceId, read, { isFirst })
      isFirst = false
      const broken = await reports.run(workspaceId, () => verifyRows(rows), { isBusy: true })
      if (broken) return { last, checked, broken }
      if (rows.length < rowsAtOnce) return { last, checked }
    }
  }
}

/** A store that keeps only the newest rows starts its chain later, so its first remaining row is accepted as it is. */
async function follows(row: AuditRow, last: AuditRow | undefined, forgets: boolean): Promise<boolean> {
  const { hash, ...unhashed } = row
  if ((await hashOf(unhashed)) !== hash) return false
  if (last) return row.place === last.place + 1 && row.previousHash === last.hash
  return row.place === 1 ? row.previousHash === '' : forgets
}
