import type { KeyBody, Records, TypedRecord } from '@signalbox/core/access'
import { maxRecordsRead, nounOf } from '@signalbox/core/access'
import type { BudgetBody } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import { type BoundingKind, changesBounds, endsKey, isBounding, loosenedIn, rotatesKey, type Touched } from './bounds.ts'
import type { Actor, Draft } from './change.ts'

/** The acting key with its ancestors. */
interface Line {
  readonly key: NonNullable<Actor['key']>
  readonly ids: ReadonlySet<string>
  /** Whether it or an ancestor has an expiry. */
  readonly expires: () => Promise<boolean>
  /** Whether it can spend, and it or an ancestor has a limit or an enforced budget. */
  readonly isBounded: () => Promise<boolean>
}

export type BoundsCheck = (workspaceId: string, actor: Actor, draft: Omit<Draft<unknown>, 'events' | 'result'>) => Promise<void>

/**
 * Refuses changes by which a key would loosen its own restrictions. Every change to what a workspace owns is checked here before it is
 * committed, for all resources and routes:
 *
 * - A key cannot change the restrictions (limit, expiry, budgets) of itself or an ancestor at all.
 * - A key cannot change the restrictions of a key with scopes that it lacks either: a budget of nothing stops a key as revoking it does. Nor
 *   can it revoke it.
 * - A key rotates only itself and its descendants, because the secret of any other key would outlive it.
 * - A key that expires, or has an ancestor that does, cannot prolong the life of a key that is not its descendant.
 * - A restricted key that can spend cannot loosen the restrictions of a key that is not its descendant.
 * - A restricted key that can spend cannot loosen those of the whole workspace (its budgets, settings, limits, credit).
 *
 * The operator acts without a key and has all rights.
 */
export const boundsCheckOf =
  (records: Records): BoundsCheck =>
  async (workspaceId, { key }, draft) => {
    if (!key) return
    const touched = await touchedBy(records, workspaceId, draft)
    const isCredited = draft.credits?.some(({ amount }) => amount > 0) === true
    if (touched.length === 0 && !isCredited) return
    const line = await lineOf(records, workspaceId, key)
    for (const each of touched) await check(records, workspaceId, { line, touched: each })
    if (isCredited && (await line.isBounded())) throw boundedItselfError(key.id, 'adds no credit')
  }

export type SecretCheck = (workspaceId: string, actor: Actor) => Promise<void>

/**
 * Refuses changes with a secret that a rotation replaced: until its grace period ends it may be used, but manages nothing. Else a key
 * created with a secret that leaked would outlive it.
 */
export const secretCheckOf =
  (records: Pick<Records, 'find'>): SecretCheck =>
  async (workspaceId, { key }) => {
    if (key?.prefix === undefined) return
    const own = await records.find('key', workspaceId, key.id)
    if (own && own.body.prefix !== key.prefix) throw replacedSecretError()
  }

/** The restricting records of a draft. Of the new ones only enforced budgets of a key: they restrict a key that may exist already. */
async function touchedBy(
  records: Records,
  workspaceId: string,
  { puts = [], removals = [] }: Parameters<BoundsCheck>[2],
): Promise<readonly Touched[]> {
  const before = async (kind: BoundingKind, id: string) => (await records.find<BoundingKind>(kind, workspaceId, id))?.body
  const changed = puts.filter(put => isBounding(put) && (put.version > 0 || isNewBudgetOfKey(put)))
  const put = await Promise.all(
    changed.map(async ({ kind, id, body }): Promise<Touched> => {
      const known = kind as BoundingKind
      return { kind: known, id, before: await before(known, id), after: JSON.parse(body) }
    }),
  )
  // Revoking a key removes its budgets, which then have nothing to restrict.
  const revoked = new Set(put.flatMap(({ kind, id, after }) => (kind === 'key' && after && 'revokedAt' in after ? [id] : [])))
  const gone = await Promise.all(
    removals.filter(isBounding).map(async ({ kind, id }): Promise<Touched> => {
      const known = kind as BoundingKind
      return { kind: known, id, before: await before(known, id) }
    }),
  )
  return [...put, ...gone.filter(each => !revoked.has(keyBoundBy(each) ?? ''))]
}

function isNewBudgetOfKey({ kind, body }: RecordPut): boolean {
  if (kind !== 'budget') return false
  const { apiKeyId, enforce } = JSON.parse(body) as BudgetBody
  return apiKeyId !== undefined && enforce
}

async function lineOf(records: Records, workspaceId: string, key: Line['key']): Promise<Line> {
  const own = await records.find('key', workspaceId, key.id)
  const ids = new Set([key.id, ...(own?.body.ancestors ?? [])])
  const some = async (is: (body: KeyBody) => boolean): Promise<boolean> => {
    const line = await Promise.all([...ids].map(id => records.find('key', workspaceId, id)))
    return line.some(each => each !== undefined && each.body.madeKept !== true && is(each.body))
  }
  const hasLimits = (): Promise<boolean> => some(({ limits = {} }) => Object.keys(limits).length > 0)
  const hasBudget = async (): Promise<boolean> => {
    const budgets = await records.list('budget', { workspaceId, limit: maxRecordsRead })
    return budgets.some(({ body }) => body.enforce && body.apiKeyId !== undefined && ids.has(body.apiKeyId))
  }
  const isBounded = async (): Promise<boolean> =>
    key.scopes.has('inference:invoke') && (key.isBounded === true || (await hasLimits()) || (await hasBudget()))
  return {
    key,
    ids,
    expires: () => some(({ expiresAt }) => expiresAt !== undefined),
    isBounded,
  }
}

/** The key that a record restricts. Undefined if it restricts all keys of the workspace. */
function keyBoundBy({ kind, id, before, after }: Touched): string | undefined {
  if (kind === 'key') return id
  return kind === 'budget' ? ((before ?? after) as BudgetBody | undefined)?.apiKeyId : undefined
}

async function check(
  records: Records,
  workspaceId: string,
  { line, touched }: { readonly line: Line; readonly touched: Touched },
): Promise<void> {
  const id = keyBoundBy(touched)
  if (id !== undefined && line.ids.has(id)) {
    if (changesBounds(touched, id === line.key.id))
      throw refused(
        touched.kind === 'budget'
          ? 'A key cannot change its own budgets or those of the keys above it. Use a key that these budgets do not apply to.'
          : 'A key cannot change its own limit, expiry or budget, nor those of a key above it, nor rotate a key above it. Use another key that has the scope "keys:write".',
      )
    // A key may revoke itself. To revoke a key above it, it needs the scopes of that key.
    if (id === line.key.id || !endsKey(touched)) return
  }
  const fields = loosenedIn(touched)
  const isStricter = endsKey(touched) || (id !== undefined && changesBounds(touched, false))
  if (fields.length === 0 && !isStricter) return
  if (id === undefined) {
    if (await line.isBounded()) throw boundedItselfError(line.key.id, `cannot loosen the limits of its workspace (${fields.join(', ')})`)
    return
  }
  const owner = await records.find('key', workspaceId, id)
  const lacking = owner?.body.scopes.filter(scope => !line.key.scopes.has(scope)) ?? []
  if (owner && lacking.length > 0) throw boundsStrongerError(owner, lacking)
  if (fields.length === 0) return
  // A descendant stays within this key's restrictions. Any other key could return the favour.
  if (!owner || owner.body.ancestors?.includes(line.key.id)) return
  // A user of the app is no key, so the keys that it created are not below it.
  if (rotatesKey(touched) && owner.body.createdBy !== line.key.id) throw rotatesOtherError(owner, line.key.id)
  if (await line.isBounded())
    throw boundedItselfError(line.key.id, `cannot loosen the limits of a key that is not below it (${fields.join(', ')})`)
  if (fields.some(field => field === 'expiresAt' || field === 'madeKept') && (await line.expires())) throw prolongsOtherError(owner)
}

const refused = (message: string): GatewayError => new GatewayError('operation_not_allowed', { message })

const boundedItselfError = (id: string, what: string): GatewayError =>
  refused(
    `This ${nounOf(id)} has a limit or a budget, so it ${what}. Use a key without limits and budgets, or a key without the scope "inference:invoke".`,
  )

const replacedSecretError = (): GatewayError =>
  refused('This secret was replaced when its key was rotated, so it changes nothing until it ends. Use the new secret of the key.')

const rotatesOtherError = ({ body }: TypedRecord<'key'>, actingId: string): GatewayError =>
  refused(
    `The key "${body.name}" was not created with this ${nounOf(actingId)}, so this ${nounOf(actingId)} cannot rotate it. Use the key itself or one above it, or rotate it in process.`,
  )

const prolongsOtherError = ({ body }: TypedRecord<'key'>): GatewayError =>
  refused(
    `This key or one above it expires, so it cannot prolong the life of the key "${body.name}", which is not below it. Use a key without an expiry.`,
  )

const boundsStrongerError = ({ body }: TypedRecord<'key'>, lacking: readonly string[]): GatewayError =>
  refused(
    `The key "${body.name}" has scopes that this key lacks (${lacking.join(', ')}), so this key cannot change its limits, expiry or budgets, revoke or rotate it. Use a key that has these scopes.`,
  )
