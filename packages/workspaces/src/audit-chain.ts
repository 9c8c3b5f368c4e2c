import { sha256 } from '@signalbox/core/runtime'
import type { AuditRow } from '@signalbox/storage'

/** A change of a resource. `changes` never contains a secret. */
export interface AuditEvent {
  /** `<resource>.<created|updated|deleted|revoked|validated|accepted>`, as in `api_key.created`. */
  readonly event: string
  readonly subject: { readonly type: string; readonly id: string }
  /** Changed fields by their wire names, with their new values, or `{ from, to }` where both are useful. */
  readonly changes?: Readonly<Record<string, unknown>>
}

type Unhashed = Omit<AuditRow, 'hash'>

/** SHA-256 of the row and the hash of the previous row, so that changing one row requires changing all that follow. */
export const hashOf = (row: Unhashed): Promise<string> =>
  sha256(
    JSON.stringify([
      row.previousHash,
      row.id,
      row.workspaceId,
      row.place,
      row.event,
      row.actorKeyId ?? null,
      row.actorName ?? null,
      row.subjectType,
      row.subjectId,
      row.at,
      row.requestId ?? null,
      row.ip ?? null,
      row.changes,
    ]),
  )
