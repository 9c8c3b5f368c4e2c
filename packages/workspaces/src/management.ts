import { type AnchorPorts, keepAnchors } from './audit-anchor.ts'
import type { CommitWithAudit } from './change.ts'
import { boundsCheckOf, secretCheckOf } from './check-bounds.ts'
import { createCommitWithAudit } from './commit-with-audit.ts'
import type { ManagementParts } from './ports.ts'
import { createReportTurns } from './report-turns.ts'
import { type Workspaces, workspacesOf } from './workspaces.ts'

export { keepByok } from './byok/byok.ts'

/** The parts that management needs, created before its code is loaded. */
export interface ManagementSetting
  extends Omit<ManagementParts, 'anchors' | 'reports' | 'commitWithAudit' | 'sessionGroups' | 'setUp' | 'isForSetup'>,
    Pick<AnchorPorts, 'ring' | 'isKeyed'> {}

/** The code that a gateway loads when something is managed. */
export interface Management {
  readonly commitWithAudit: CommitWithAudit
  /** The workspaces. Changes, sessions and end users wait for `setUp`. */
  workspacesAfter(setUp: ManagementParts['setUp']): Workspaces
  /** The workspaces passed to `setup`. They do not wait, and creating a resource that exists already returns it. */
  workspacesOfSetup(): Workspaces
}

/** Milliseconds that a change of `setup`, which must not fail because of what else happens to a workspace, is tried for. */
const setupPatienceMs = 8_000

export function openManagement({ ring, isKeyed, ...parts }: ManagementSetting): Management {
  const { storage, records, terms, clock, ids, logger } = parts
  const anchors = keepAnchors({ ring, isKeyed, clock, logger })
  const reports = createReportTurns(clock)
  const commitPorts = {
    storage,
    records,
    anchors,
    terms,
    checkBounds: boundsCheckOf(records),
    checkSecret: secretCheckOf(records),
    clock,
    ids,
  }
  const commitWithAudit = createCommitWithAudit(commitPorts)
  return {
    commitWithAudit,
    workspacesOfSetup: () =>
      workspacesOf({
        ...parts,
        anchors,
        reports,
        sessionGroups: new Map(),
        commitWithAudit: createCommitWithAudit({ ...commitPorts, patienceMs: setupPatienceMs }),
        setUp: () => undefined,
        isForSetup: true,
      }),
    workspacesAfter: setUp =>
      workspacesOf({
        ...parts,
        anchors,
        reports,
        sessionGroups: new Map(),
        // The change may concern a resource that `setup` creates.
        commitWithAudit: async (...change) => {
          await setUp()
          return commitWithAudit(...change)
        },
        setUp,
        isForSetup: false,
      }),
  }
}
