import type { CallLimits } from './kinds.ts'

/** A key above the one in use. What the key in use spends and sends counts against this one too. */
interface AncestorKey {
  readonly keyId: string
  readonly limits?: CallLimits
}

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
  /** Nearest first. Absent: the key was made by no other one. */
  readonly ancestors?: readonly AncestorKey[]
  /** Unix milliseconds: when the key, or the first of those above it, expires. */
  readonly expiresAt?: number
  readonly createdAt: number
}
