import type { CallerBudget } from '../runtime/ports.ts'
import type { CallLimits } from './kinds.ts'

/** An ancestor of the key in use. Spending and requests of the key count against it too. */
interface AncestorKey {
  readonly keyId: string
  readonly limits?: CallLimits
}

/** An authenticated key with its workspace, or an end user of the app (possibly with a session) with the workspace that pays. */
export interface Caller {
  readonly keyId: string
  readonly keyName: string
  readonly keyPrefix: string
  readonly workspaceId: string
  readonly workspaceName: string
  readonly billing: 'prepaid' | 'postpaid'
  readonly scopes: ReadonlySet<string>
  /** Limits of the key itself, in addition to those of the workspace and the gateway. */
  readonly limits?: CallLimits
  /** Budgets of an end user, in addition to those of the workspace. */
  readonly budgets?: readonly CallerBudget[]
  /** Tags that the caller's usage is grouped by, at most 8. */
  readonly tags?: readonly string[]
  /** Set if the caller is an end user of the app instead of a key. */
  readonly isEndUser?: true
  /** Names of the models that it may call. Absent: all models of its workspace. */
  readonly models?: readonly string[]
  /** The session whose token was sent, and the browser origins that may use it. Absent origins: any. */
  readonly session?: { readonly id: string; readonly origins?: readonly string[] }
  /** Whether an end user may name what is stored at a provider, such as files, where keys of its workspace may. Default: false. */
  readonly providerStorage?: boolean
  /** Nearest first. Absent if the key has no ancestors. */
  readonly ancestors?: readonly AncestorKey[]
  /** Unix milliseconds of the earliest expiry among the key and its ancestors. */
  readonly expiresAt?: number
  readonly createdAt: number
}

/** The fields of a caller that decide whose response items, and sealed state in them, it may use. */
export type ItemOwner = Pick<Caller, 'workspaceId' | 'keyId' | 'isEndUser'>

/**
 * The owner of response items and of the sealed state in them: a key shares those of its workspace, an end user has only its own.
 * A workspace id never equals the owner id of a user.
 *
 * @example itemOwnerOf(caller) // 'ws_1', or '["ws_1","user:u_42"]'
 */
export const itemOwnerOf = ({ workspaceId, keyId, isEndUser }: ItemOwner): string => {
  if (isEndUser) return JSON.stringify([workspaceId, keyId])
  return workspaceId.startsWith('[') ? JSON.stringify([workspaceId]) : workspaceId
}
