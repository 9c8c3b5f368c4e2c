import type { NameStyle } from '@signalbox/core/resources'
import type { GatewayError } from '@signalbox/dialects/errors'
import type { CreditEntry, RecordPut } from '@signalbox/storage'
import type { RecordRemoval } from '@signalbox/storage/records'
import type { AuditEvent } from './audit-chain.ts'

/** A change, decided from the records that were read. */
export interface Draft<T> {
  readonly puts?: readonly RecordPut[]
  readonly removals?: readonly RecordRemoval[]
  readonly credits?: readonly CreditEntry[]
  /** Each with its actor if one commit has changes of several actors. */
  readonly events: readonly (AuditEvent & { readonly actor?: Actor })[]
  readonly result: T
  /** The error if a name is already taken. Absent: the change is decided again, and sees the record that took it. */
  readonly taken?: GatewayError
}

/**
 * Commits a change to what a workspace owns together with its audit rows and its `Idempotency-Key` record: all of it or nothing.
 * `decide` reads and decides. It is called again if another writer was faster, and an error it throws ends the call. A draft without
 * events changes nothing.
 */
export type CommitWithAudit = <T>(workspaceId: string, actor: Actor, decide: () => Promise<Draft<T>>) => Promise<T>

/** The key on whose behalf a resource is read or changed. Default: the operator, with all rights. */
export interface Actor {
  /** Absent: the operator of the gateway. */
  readonly key?: {
    readonly id: string
    readonly name: string
    /** First characters of the secret in use. A key whose secret was replaced since changes nothing. Absent: the current secret. */
    readonly prefix?: string
    readonly scopes: ReadonlySet<string>
    /** Whether it has limits or budgets that are not stored in records, as an end user may. Default: false. */
    readonly isBounded?: boolean
  }
  readonly requestId?: string
  readonly ip?: string
  /** Makes the change happen once for this name, however often it is requested. */
  readonly idempotency?: IdempotencyEntry
  /** How errors name fields: as in TypeScript or as in JSON. Default: `typescript`. */
  readonly nameStyle?: NameStyle
}

/** Names a change that must happen once, however often it is requested. */
export interface IdempotencyEntry {
  readonly name: string
  readonly fingerprint: string
  /** Unix milliseconds until which it is remembered. */
  readonly until: number
}
