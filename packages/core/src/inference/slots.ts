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

export function roomsOf(
  { keyId, workspaceId, limits: own, ancestors = [] }: Caller,
  { workspace }: Terms,
  limits: Limits,
): readonly Room[] {
  const rooms = [roomOf('This key', `slots:${keyId}`, own?.concurrentRequests ?? limits.concurrentRequests)]
  for (const above of ancestors)
    if (above.limits?.concurrentRequests !== undefined)
      rooms.push(roomOf('A key above this one', `slots:${above.keyId}`, above.limits.concurrentRequests))
  const shared = workspace.body.limits?.concurrentRequests ?? limits.workspace?.concurrentRequests
  if (shared !== undefined) rooms.push(roomOf('This workspace', `slots:workspace:${workspaceId}`, shared))
  return rooms
}

const roomOf = (whose: string, key: string, limit: number): Room => ({
  key,
  limit,
  full: () =>
    new GatewayError('concurrent_requests_exceeded', {
      message: `${whose} already has ${limit} requests running, its limit. Wait for one to end.`,
      limitedBy: 'routing',
      retryAfterMs: 1_000,
    }),
})
