import type { Caller } from '../access/caller.ts'
import type { Terms } from '../access/terms.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { Limits } from '../execution/limits.ts'

/** A place among the requests that run at the same time: of the key, and of its workspace where that is limited. */
export interface Place {
  readonly key: string
  readonly limit: number
}

interface Room extends Place {
  readonly full: () => GatewayError
}

/** A slot is a lease: renewed while the request lives, and free soon after a crash. */
export const slotMs = 90_000

export function roomsOf({ keyId, workspaceId, limits: own }: Caller, { workspace }: Terms, limits: Limits): readonly Room[] {
  const key = roomOf('key', `slots:${keyId}`, own?.concurrentRequests ?? limits.concurrentRequests)
  const shared = workspace.body.limits?.concurrentRequests ?? limits.workspace?.concurrentRequests
  return shared === undefined ? [key] : [key, roomOf('workspace', `slots:workspace:${workspaceId}`, shared)]
}

const roomOf = (whose: 'key' | 'workspace', key: string, limit: number): Room => ({
  key,
  limit,
  full: () =>
    new GatewayError('concurrent_requests_exceeded', {
      message: `This ${whose} already has ${limit} requests running, its limit. Wait for one to end.`,
      limitedBy: 'routing',
      retryAfterMs: 1_000,
    }),
})
