import type { CallLimits } from './kinds.ts'

/** An authenticated key and its workspace. */
export interface Caller {
  readonly keyId: string
  readonly keyName: string
  readonly keyPrefix: string
  readonly workspaceId: string
  readonly workspaceName: string
  readonly billing: 'prepaid' | 'postpaid'
  readonly scopes: ReadonlySet<string>
  /** Limits of the key's own; where it has none those of the workspace and of the gateway count alone. */
  readonly limits?: CallLimits
  /** Unix milliseconds. */
  readonly expiresAt?: number
  readonly createdAt: number
}
