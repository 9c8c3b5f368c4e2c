import type { RecordPut } from '@signalbox/storage'
import { isActive, maxAncestors, stoppedKeyIds } from '../access/ancestors.ts'
import type { KeyBody } from '../access/kinds.ts'
import { changedRecord, type Records, type TypedRecord } from '../access/records.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { WorkspaceContext } from './ports.ts'

const maxKept = 1_000
const atOnce = 500

/** The descendants of a revoked key without it: directly below its ancestors. Undefined: too many for one commit. */
export async function withoutAncestor(
  records: Records,
  { workspaceId, id }: Pick<TypedRecord<'key'>, 'workspaceId' | 'id'>,
): Promise<readonly RecordPut[] | undefined> {
  const puts: RecordPut[] = []
  let after: string | undefined
  for (;;) {
    const page = await records.list('key', { workspaceId, groups: ['active'], limit: atOnce, ...(after !== undefined && { after }) })
    for (const key of page) {
      const { ancestors = [] } = key.body
      if (!ancestors.includes(id)) continue
      const others = ancestors.filter(each => each !== id)
      puts.push(changedRecord(key, { body: { ancestors: others.length > 0 ? others : undefined } }))
    }
    if (puts.length > maxKept) return undefined
    if (page.length < atOnce) return puts
    after = page.at(-1)?.id
  }
}

export const tooManyKept = (): GatewayError =>
  new GatewayError('state_precondition_failed', {
    message: `This key created more than ${maxKept} keys, too many to keep in one step. Revoke some of them first.`,
    param: 'keepMade',
  })

/** The ancestors of a new key or session: the key that creates it, and that key's ancestors. */
export async function ancestorsOfNewKey({
  ports: { records, clock },
  workspaceId,
  actor,
}: WorkspaceContext): Promise<Pick<KeyBody, 'createdBy' | 'ancestors'>> {
  if (!actor.key) return {}
  const { id, isBounded } = actor.key
  const maker = await records.find('key', workspaceId, id)
  if (!maker && isBounded)
    throw new GatewayError('operation_not_allowed', {
      message: 'A user with limits or budgets cannot create keys or sessions, because their spending would not count against these limits.',
    })
  // In process, an application may construct an actor itself. Its key then has no ancestors.
  if (!maker) return { createdBy: id }
  const ancestors = [id, ...(maker.body.ancestors ?? [])]
  if (!isActive(maker.body, clock.now()) || (await stoppedKeyIds(records, [maker], clock.now())).size > 0)
    throw new GatewayError('operation_not_allowed', { message: 'This key is revoked or has expired, so it cannot create keys.' })
  if (ancestors.length > maxAncestors)
    throw new GatewayError('operation_not_allowed', {
      message: `This key has ${maxAncestors} keys above it, the maximum, so it cannot create keys. Use one of the keys above it.`,
    })
  return { createdBy: id, ancestors }
}
