import type { KeyBody } from '@signalbox/core/access'
import { ancestorsOf, isActive, maxAncestors } from '@signalbox/core/access'
import { GatewayError } from '@signalbox/dialects/errors'
import type { ManagedWorkspace } from './ports.ts'

/** What a new key or session has from the key that creates it. */
export interface NewKeyOrigin {
  /** That key, and the ancestors: that key and its own ancestors. */
  readonly line: Pick<KeyBody, 'createdBy' | 'ancestors'>
  /** Unix milliseconds until which the secret in use is valid, if a rotation replaced it. */
  readonly secretEndsAt?: number
}

/** @throws `operation_not_allowed` (the acting key may not create keys) */
export async function originOfNewKey({ records, clock, workspaceId, actor }: ManagedWorkspace): Promise<NewKeyOrigin> {
  if (!actor.key) return { line: {} }
  const { id, isBounded, prefix } = actor.key
  const maker = await records.find('key', workspaceId, id)
  if (!maker && isBounded)
    throw refused(
      'A user with limits or budgets cannot create keys or sessions, because their spending would not count against these limits.',
    )
  // In process, an application may construct an actor itself. Its key then has no ancestors.
  if (!maker) return { line: { createdBy: id } }
  const now = clock.now()
  const above = isActive(maker.body, now) ? await ancestorsOf(records, maker, now) : undefined
  if (!above) throw refused('This key is revoked or has expired, so it cannot create keys.')
  const ancestors = [id, ...above.map(each => each.id)]
  if (ancestors.length > maxAncestors)
    throw refused(`This key has ${maxAncestors} keys above it, the maximum, so it cannot create keys. Use one of the keys above it.`)
  const line = { createdBy: id, ancestors }
  if (prefix === undefined || prefix === maker.body.prefix) return { line }
  const { previousSecretExpiresAt: secretEndsAt = 0 } = maker.body
  if (secretEndsAt <= now) throw refused('This secret was replaced when its key was rotated, and has ended. Use the new secret of the key.')
  return { line, secretEndsAt }
}

const refused = (message: string): GatewayError => new GatewayError('operation_not_allowed', { message })
