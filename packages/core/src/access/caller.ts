import type { CallerBudget } from '../runtime/ports.ts'
import type { CallLimits } from './kinds.ts'

/** An ancestor of the key in use. Spending and requests of the key count against it too. */
interface AncestorKey {
  readonly keyId: string
  readonly limits?: CallLimits
}

/** An authenticated key and its workspace, or an end user of the app, perhaps by a session, and the workspace that pays. */
export interface Caller {
  readonly keyId: string
  readonly keyName: string
  readonly keyPrefix: string
  readonly workspaceId: string
  readonly workspaceName: string
  readonly billing: 'prepaid' | 'postpaid'
  readonly scopes: ReadonlySet<string>
  /** Limits of the key itself, beside those of the workspace and the gateway. */
  readonly limits?: CallLimits
  /** Of an end user, beside those of the workspace. */
  readonly budgets?: readonly CallerBudget[]
  /** Names that usage of the caller is counted by, at most 8. */
  readonly tags?: readonly string[]
  /** It is an end user of the app, and no key. */
  readonly isEndUser?: true
  /** Names of the models that it may call. Absent: all that its workspace may. */
  readonly models?: readonly string[]
  /** Whose token the caller sent, and the origins whose pages may; absent: any. */
  readonly session?: { readonly id: string; readonly origins?: readonly string[] }
  /** Nearest first. Absent: the key has no ancestors. */
  readonly ancestors?: readonly AncestorKey[]
  /** Unix milliseconds at which the key or an ancestor expires, whichever is first. */
  readonly expiresAt?: number
  readonly createdAt: number
}

/** The part of a caller that decides whose items of answers, and sealed state in them, it may use. */
export type ItemOwner = Pick<Caller, 'workspaceId' | 'keyId' | 'isEndUser'>

/**
 * Whose answers a caller may refer to by the ids of their items, and whose sealed state it may bring back: a key those of its workspace,
 * an end user only its own. No workspace is called as a user is.
 *
 * @example itemOwnerOf(caller) // 'ws_1', or '["ws_1","user:u_42"]'
 */
export const itemOwnerOf = ({ workspaceId, keyId, isEndUser }: ItemOwner): string => {
  if (isEndUser) return JSON.stringify([workspaceId, keyId])
  return workspaceId.startsWith('[') ? JSON.stringify([workspaceId]) : workspaceId
}
