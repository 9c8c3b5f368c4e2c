import { periodOf } from '@signalbox/core/access'
import { orStoreDown } from '@signalbox/core/runtime'
import type { WorkspaceContext } from './ports.ts'

/** The usage of a key in the current UTC period. Money is microdollars charged; times are Unix milliseconds, `end` exclusive. */
export interface KeyUsage {
  readonly keyId: string
  readonly workspaceId: string
  readonly period: UsagePeriod
  readonly start: number
  readonly end: number
  readonly requests: number
  readonly errors: number
  /** Requests refused by a limit of the key or its workspace (not included in `requests`), or rate limited by every provider. */
  readonly rateLimited: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number
}

export type UsagePeriod = 'day' | 'week' | 'month'

export async function keyUsage({ ports, workspaceId }: WorkspaceContext, keyId: string, period: UsagePeriod): Promise<KeyUsage> {
  const now = ports.clock.now()
  const { start = now, end = now } = periodOf(period, now)
  const [total] = await orStoreDown(() => ports.storage.usage.totals({ workspaceId, keyId, from: start, to: end }))
  const refused = await ports.refusals.between({ keyId, workspaceId }, { start, end })
  const { requests = 0, errors = 0, rateLimited = 0, inputTokens = 0, outputTokens = 0, cost = 0 } = total ?? {}
  return { keyId, workspaceId, period, start, end, requests, errors, rateLimited: rateLimited + refused, inputTokens, outputTokens, cost }
}
