import type { Evidence } from '@signalbox/router/decision-log'
import type { Storage, UsageRow } from '@signalbox/storage'
import type { Authenticator } from '../access/authenticate.ts'
import type { KeyRefusals } from '../access/key-refusals.ts'
import type { Records, TypedRecord } from '../access/records.ts'
import type { WorkspacePolicies } from '../access/workspace-policy.ts'
import type { NameStyle } from '../resources/check-input.ts'
import type { Clock, Hooks, Ids, Logger } from '../runtime/ports.ts'
import type { AuditAnchors } from './audit-anchor.ts'
import type { AuditEvent } from './audit-chain.ts'
import type { Byok } from './byok/byok.ts'
import type { CommitWithAudit } from './commit-with-audit.ts'
import type { Directory } from './known-names.ts'
import type { BillingOptions, Reloads } from './money/reloads.ts'

/** What every resource of a workspace works with. */
export interface ManagementPorts {
  readonly storage: Storage
  readonly records: Records
  readonly commitWithAudit: CommitWithAudit
  /** Sessions that wait to be committed, by workspace. */
  readonly sessionGroups: Map<string, SessionGroup>
  /** Know where the audit chains end. */
  readonly anchors: AuditAnchors
  readonly terms: WorkspacePolicies
  readonly authenticator: Authenticator
  readonly refusals: KeyRefusals
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly models: Directory
  /** Names of the strategies that a request may ask for. */
  readonly strategies: readonly string[]
  readonly hooks: Hooks
  /** How a request was routed: as its row keeps it, else as this process remembers it. */
  readonly evidenceFrom: (row: Pick<UsageRow, 'id' | 'routing'>) => Evidence | undefined
  readonly byok: Byok
  readonly billing?: BillingOptions | undefined
  /** Absent: no workspace can turn auto reload on. */
  readonly reloads?: Reloads | undefined
  /** Runs `setup`, where it has not run yet. Undefined: there is nothing to wait for. */
  readonly setUp: () => Promise<void> | undefined
  /** For `setup`, which runs in each process: to create what is there already returns it as it is. */
  readonly isForSetup: boolean
}

/** The key on whose behalf a resource is read or changed. Default: the operator, with all rights. */
export interface Actor {
  /** Absent: the operator of the gateway. */
  readonly key?: {
    readonly id: string
    readonly name: string
    readonly scopes: ReadonlySet<string>
    /** It has limits or budgets that no record tells of, as an end user may have. Default: false. */
    readonly isBounded?: boolean
  }
  readonly requestId?: string
  readonly ip?: string
  /** It happens once under this name, however often it is asked for. */
  readonly idempotency?: IdempotencyEntry
  /** How errors name fields: as in TypeScript, or as in JSON. Default: `typescript`. */
  readonly nameStyle?: NameStyle
}

/** Names a change that must happen once, however often it is requested. */
export interface IdempotencyEntry {
  readonly name: string
  readonly fingerprint: string
  /** Unix milliseconds; until then it is remembered. */
  readonly until: number
}

/** The resources of one workspace, as one actor sees them. */
export interface WorkspaceContext {
  readonly ports: ManagementPorts
  readonly workspaceId: string
  readonly actor: Actor
}

/** A session to be made. */
export interface SessionDraft {
  readonly context: WorkspaceContext
  readonly record: Omit<TypedRecord<'session'>, 'kind' | 'version'>
  readonly event: AuditEvent
}

/** Sessions that are committed together, and what becomes of each. */
export interface SessionGroup {
  readonly drafts: SessionDraft[]
  readonly made: Promise<readonly PromiseSettledResult<TypedRecord<'session'>>[]>
}
