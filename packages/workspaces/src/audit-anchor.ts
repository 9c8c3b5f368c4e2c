import type { AuditAnchorBody } from '@signalbox/core/access'
import { changedRecord, newRecord, type TypedRecord } from '@signalbox/core/access'
import type { Clock, KeyRing, Logger } from '@signalbox/core/runtime'
import { sha256 } from '@signalbox/core/runtime'
import type { AuditRow, RecordPut } from '@signalbox/storage'

// An audit chain reveals changes within it, but not that its end was cut off or that all of it was replaced. So the place and the
// hash of its newest row are stored in a separate record, signed with the sealing key and written in the same commit as the row.

/** `holds`: unaltered. `fails`: altered. `unknown`: missing, or signed with a key that this gateway does not have. */
type AnchorState = 'holds' | 'fails' | 'unknown'

export interface AuditAnchors {
  /** The anchor, moved to the newest of `rows`. `before`: the newest row when the change was decided. */
  moved(workspaceId: string, anchor: TypedRecord<'audit_anchor'> | undefined, rows: AnchoredRows): Promise<MovedAnchor>
  stateOf(anchor: TypedRecord<'audit_anchor'> | undefined): Promise<AnchorState>
}

interface MovedAnchor {
  readonly put: RecordPut
  /**
   * Logs a modified chain once it is committed. Before that, the anchor and the row may only differ because another process wrote between the
   * two reads; the commit then conflicts.
   */
  readonly reportModified?: () => void
}

interface AnchoredRows {
  readonly before: AuditRow | undefined
  readonly newest: AuditRow
}

export interface AnchorPorts {
  readonly ring: KeyRing
  /**
   * Whether the operator configured the keys. Otherwise the anchor has a hash instead of a signature, which anyone with write access to the
   * storage could recompute.
   */
  readonly isKeyed: boolean
  readonly clock: Clock
  readonly logger: Logger
}

const unkeyed = 'sha256.'

export function keepAnchors({ ring, isKeyed, clock, logger }: AnchorPorts): AuditAnchors {
  const sign = async (workspaceId: string, anchor: Unsigned): Promise<string> => {
    const text = textOf(workspaceId, anchor)
    return isKeyed ? ring.sign(text, { purpose: 'audit', workspaceId }) : unkeyed + (await sha256(text))
  }
  const stateOf: AuditAnchors['stateOf'] = async anchor => {
    if (!anchor) return 'unknown'
    const { workspaceId, body } = anchor
    const isPlain = body.signature.startsWith(unkeyed)
    if (isPlain === isKeyed) return 'unknown'
    if (isPlain) return body.signature === (await sign(workspaceId, body)) ? 'holds' : 'fails'
    return ring.verify(textOf(workspaceId, body), body.signature, { purpose: 'audit', workspaceId })
  }
  return {
    stateOf,
    async moved(workspaceId, anchor, { before, newest }) {
      const state = await stateOf(anchor)
      const old = state === 'unknown' ? undefined : anchor?.body
      const isAsLeft = old === undefined || (state === 'holds' && old.place === before?.place && old.hash === before.hash)
      const broken = old?.broken ?? (isAsLeft ? undefined : { place: old.place, hash: old.hash })
      const next = { place: newest.place, hash: newest.hash, since: old?.since ?? (before?.place ?? 0) + 1, broken }
      const body: AuditAnchorBody = { ...next, signature: await sign(workspaceId, next) }
      const put = anchor
        ? changedRecord(anchor, { body: { ...body, broken } })
        : newRecord('audit_anchor', { id: workspaceId, workspaceId, createdAt: clock.now(), body })
      if (isAsLeft || old.broken) return { put }
      return { put, reportModified: () => logger.error({ workspace_id: workspaceId, place: old.place }, notAsLeft) }
    },
  }
}

type Unsigned = Omit<AuditAnchorBody, 'signature'>

const textOf = (workspaceId: string, { place, hash, since, broken }: Unsigned): string =>
  JSON.stringify(['audit anchor', workspaceId, place, hash, since, broken ? [broken.place, broken.hash] : null])

const notAsLeft =
  'The audit chain of a workspace was modified outside this gateway: rows were removed, added or replaced. `auditEvents.verify()` reports it from now on.'
