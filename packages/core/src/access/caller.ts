import type { CallerBudget } from '../runtime/ports.ts'
import type { CallLimits } from './kinds.ts'

/** An ancestor of the key in use. Spending and requests of the key count against it too. */
interface AncestorKey {
  readonly keyId: string
  readonly limits?: CallLimits
}

/** An authenticated key and its workspace, or an end user of the app and the workspace that pays. */
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
  /** Nearest first. Absent: the key has no ancestors. */
  readonly ancestors?: readonly AncestorKey[]
  /** Unix milliseconds at which the key or an ancestor expires, whichever is first. */
  readonly expiresAt?: number
  readonly createdAt: number
}
