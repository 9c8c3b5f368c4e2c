/** An authenticated key and its workspace. */
export interface Caller {
  readonly keyId: string
  readonly keyName: string
  readonly keyPrefix: string
  readonly workspaceId: string
  readonly workspaceName: string
  readonly billing: 'prepaid' | 'postpaid'
  readonly scopes: ReadonlySet<string>
  /** Requests a minute, where the key has its own limit. */
  readonly rpm?: number
  /** Unix milliseconds. */
  readonly expiresAt?: number
  readonly createdAt: number
}
