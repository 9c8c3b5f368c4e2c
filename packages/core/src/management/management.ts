import { type AnchorPorts, keepAnchors } from './audit-anchor.ts'
import { boundsCheckOf } from './check-bounds.ts'
import { type CommitWithAudit, createCommitWithAudit } from './commit-with-audit.ts'
import type { ManagementPorts } from './ports.ts'
import { type Workspaces, workspacesOf } from './workspaces.ts'

/** What management works with, before it is loaded. */
export interface ManagementSetting
  extends Omit<ManagementPorts, 'anchors' | 'commitWithAudit' | 'setUp'>,
    Pick<AnchorPorts, 'ring' | 'isKeyed'> {}

/** What gateways load when something is managed. */
export interface Management {
  readonly commitWithAudit: CommitWithAudit
  /** The workspaces; sessions and end users wait for `setUp`. */
  workspacesAfter(setUp: ManagementPorts['setUp']): Workspaces
}

export function openManagement({ ring, isKeyed, ...ports }: ManagementSetting): Management {
  const { storage, records, terms, clock, ids, logger } = ports
  const anchors = keepAnchors({ ring, isKeyed, clock, logger })
  const commitWithAudit = createCommitWithAudit({ storage, records, anchors, terms, checkBounds: boundsCheckOf(records), clock, ids })
  return {
    commitWithAudit,
    workspacesAfter: setUp =>
      workspacesOf({
        ...ports,
        anchors,
        // What is changed may be what `setup` makes.
        commitWithAudit: async (...change) => {
          await setUp()
          return commitWithAudit(...change)
        },
        setUp,
      }),
  }
}
