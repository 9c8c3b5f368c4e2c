import { GatewayError } from '@signalbox/dialects/errors'
import type { Storage } from '@signalbox/storage'
import type { Caller } from '../../access/caller.ts'
import { nounOf } from '../../access/end-user.ts'
import type { KeyRefusals } from '../../access/key-refusals.ts'
import type { Clock } from '../../runtime/ports.ts'
import { orStoreDown } from '../../runtime/store-down.ts'
import { withinStorageWait } from '../../runtime/timers.ts'
import type { Limits } from '../../upstream/limits.ts'

interface RatePorts {
  readonly storage: Pick<Storage, 'counters'>
  readonly limits: Limits
  readonly refusals: KeyRefusals
  readonly clock: Clock
}

/**
 * Counts a management request against the key's limit.
 *
 * @throws {GatewayError} 429 `requests_per_min_exceeded`.
 */
export async function countManagement(ports: RatePorts, caller: Caller, kind: 'reads' | 'writes'): Promise<void> {
  const { storage, limits, refusals, clock } = ports
  const limit = kind === 'reads' ? limits.managementReadsRpm : limits.managementWritesRpm
  const request = { key: `${caller.workspaceId}/${kind}:${caller.keyId}`, amount: 1, limit, windowMs: 60_000 }
  const refusal = await orStoreDown(() => withinStorageWait(storage.counters.take([request], clock.now()), clock))
  if (!refusal) return
  refusals.count(caller, clock.now())
  throw new GatewayError('requests_per_min_exceeded', {
    message: `Rate limit reached for this ${nounOf(caller.keyId)}: ${limit} management ${kind} per minute. Try again later.`,
    limitedBy: 'routing',
    retryAfterMs: refusal.retryAfterMs,
  })
}
