import { changedRecord, hashSecret, isActive, makeSecret, newRecord, prefixOf, type TypedRecord } from '@signalbox/core/access'
import { rotationGrace } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import type { WorkspaceContext } from './ports.ts'

// Rotation gives a key another secret. The key keeps its id, limits, budgets and children; the replaced secret stays valid for a while.

/** Replaced secrets of one key that may be valid at a time. */
const maxReplaced = 10

/** Replaced secrets that one rotation brings to an end. */
const maxEnded = 100

export interface Rotation {
  readonly id: string
  readonly keyOf: (id: string) => Promise<TypedRecord<'key'>>
  /** Seconds. */
  readonly gracePeriod: number | undefined
}

/** The rotated key and its new secret. */
export async function rotateKey(
  { ports, workspaceId, actor }: WorkspaceContext,
  { id, keyOf, gracePeriod = rotationGrace.defaultSeconds }: Rotation,
): Promise<{ readonly key: TypedRecord<'key'>; readonly secret: string }> {
  const { records, commitWithAudit, authenticator, clock, ids, isForSetup, logger } = ports
  const secret = makeSecret(ids)
  const hash = await hashSecret(secret)
  const rotating = commitWithAudit(workspaceId, actor, async () => {
    const key = await keyOf(id)
    const now = clock.now()
    if (!isActive(key.body, now)) {
      if (!isForSetup) throw notActive()
      logger.warn(
        { workspaceId, name: key.body.name, id },
        'The API key that `setup` rotates is revoked or has expired, so its new secret is not valid either.',
      )
      return { events: [], result: key }
    }
    const until = now + gracePeriod * 1_000
    const earlier = await records.list('old_secret', { workspaceId, groups: [id], limit: maxEnded })
    // Those that this rotation ends do not count: a key can always be rotated without a grace period.
    if (!isForSetup && earlier.filter(({ body }) => Math.min(body.until, until) > now).length >= maxReplaced) throw tooMany()
    const replaced = { id: ids.uuid(), workspaceId, group: id, name: key.name ?? '', createdAt: now, body: { keyId: id, until } }
    const body = { ...key.body, prefix: prefixOf(secret), rotatedAt: now, previousSecretExpiresAt: until }
    return {
      puts: [
        changedRecord(key, { name: hash, body }),
        newRecord('old_secret', replaced),
        ...earlier.flatMap(each => endedEarlier(each, { now, until })),
      ],
      events: [
        {
          event: 'api_key.updated',
          subject: { type: 'api_key', id },
          changes: { previous_secret_expires_at: new Date(until).toISOString() },
        },
      ],
      result: { ...key, body },
    }
  })
  const key = await rotating.finally(() => authenticator.forget(id, workspaceId))
  authenticator.welcome(secret)
  return { key, secret }
}

/** A secret that was replaced earlier does not outlive the one that is replaced now. */
function endedEarlier(
  secret: TypedRecord<'old_secret'>,
  { now, until }: { readonly now: number; readonly until: number },
): readonly RecordPut[] {
  const { until: before } = secret.body
  if (before <= now) return [changedRecord(secret, { group: 'ended' })]
  return before > until ? [changedRecord(secret, { body: { until } })] : []
}

const notActive = (): GatewayError =>
  new GatewayError('state_precondition_failed', {
    message: 'This API key is revoked or has expired, so it cannot be rotated. Create another key.',
  })

const tooMany = (): GatewayError =>
  new GatewayError('state_precondition_failed', {
    message: `This API key was rotated ${maxReplaced} times, and the replaced secrets are still valid. Rotate it with a grace period of 0, which ends all of them at once, or wait until one of them has expired.`,
  })
