import type { Authenticator, KeyRefusals, Records, TypedRecord, WorkspacePolicies } from '@signalbox/core/access'
import type { Clock, Hooks, Ids, Logger } from '@signalbox/core/runtime'
import type { Evidence } from '@signalbox/router/decision-log'
import type { Storage, UsageRow } from '@signalbox/storage'
import type { AuditAnchors } from './audit-anchor.ts'
import type { AuditEvent } from './audit-chain.ts'
import type { Byok } from './byok/byok.ts'
import type { Actor, CommitWithAudit } from './change.ts'
import type { Directory } from './known-names.ts'
import type { BillingOptions, Reloads } from './money/reloads.ts'
import type { ReportTurns } from './report-turns.ts'

/** The parts of a gateway that every resource of a workspace uses. */
export interface ManagementParts {
  readonly storage: Storage
  readonly records: Records
  readonly commitWithAudit: CommitWithAudit
  /** Sessions waiting to be committed, by workspace. */
  readonly sessionGroups: Map<string, SessionGroup>
  /** Where the audit chains end. */
  readonly anchors: AuditAnchors
  readonly reports: ReportTurns
  readonly terms: WorkspacePolicies
  readonly authenticator: Authenticator
  readonly refusals: KeyRefusals
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly models: Directory
  /** Names of strategies that requests may use. */
  readonly strategies: readonly string[]
  readonly hooks: Hooks
  /** The routing evidence of a request: from its row, otherwise from the memory of this process. */
  readonly evidenceFrom: (row: Pick<UsageRow, 'id' | 'routing'>) => Evidence | undefined
  readonly byok: Byok
  readonly billing?: BillingOptions | undefined
  /** Absent: auto reload cannot be enabled. */
  readonly reloads?: Reloads | undefined
  /** Runs `setup` unless it has run. Undefined if there is nothing to wait for. */
  readonly setUp: () => Promise<void> | undefined
  /** Set for `setup`, which runs in each process: creating a resource that exists already returns it unchanged. */
  readonly isForSetup: boolean
}

/** A workspace as an actor manages it, with the parts of the gateway. */
export interface ManagedWorkspace extends ManagementParts {
  readonly workspaceId: string
  readonly actor: Actor
}

/** A session to be created. */
export interface SessionDraft {
  readonly managed: ManagedWorkspace
  readonly record: Omit<TypedRecord<'session'>, 'kind' | 'version'>
  readonly event: AuditEvent
}

/** Sessions that are committed together, each with its own result. */
export interface SessionGroup {
  readonly drafts: SessionDraft[]
  readonly made: Promise<readonly PromiseSettledResult<TypedRecord<'session'>>[]>
}
