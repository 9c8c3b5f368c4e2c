import { type AnchorPorts, keepAnchors } from './audit-anchor.ts'
import { boundsCheckOf } from './check-bounds.ts'
import { type CommitWithAudit, createCommitWithAudit } from './commit-with-audit.ts'
import type { ManagementPorts } from './ports.ts'
import { type Workspaces, workspacesOf } from './workspaces.ts'

/** What management works with, before it is loaded. */
export interface ManagementSetting extends Omit<ManagementPorts, 'anchors' | 'commitWithAudit'>, Pick<AnchorPorts, 'ring' | 'isKeyed'> {}

/** What gateways load when something is managed. */
export interface Management {
  readonly commitWithAudit: CommitWithAudit
  readonly workspaces: Workspaces
}

export function openManagement({ ring, isKeyed, ...ports }: ManagementSetting): Management {
  const { storage, records, terms, clock, ids, logger } = ports
  const anchors = keepAnchors({ ring, isKeyed, clock, logger })
  const commitWithAudit = createCommitWithAudit({ storage, records, anchors, terms, checkBounds: boundsCheckOf(records), clock, ids })
  return { commitWithAudit, workspaces: workspacesOf({ ...ports, anchors, commitWithAudit }) }
}
