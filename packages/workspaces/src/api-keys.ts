import {
  ancestorIdsOf,
  type CallLimits,
  changedRecord,
  hashSecret,
  isActive,
  isMistyped,
  type KeyBody,
  makeSecret,
  newRecord,
  nounOf,
  periodOf,
  prefixOf,
  type TypedRecord,
} from '@signalbox/core/access'
import {
  type ApiKey,
  type ApiKeyChange,
  apiKeyFields,
  scopes as everyScope,
  invalidValueError,
  type NewApiKey,
  rotationGrace,
  type Scope,
  toWire,
} from '@signalbox/core/resources'
import { orStoreDown } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import type { Actor, Draft } from './change.ts'
import { originOfNewKey } from './descendant-keys.ts'
import { findWorkspace, notFoundError } from './find-workspace.ts'
import { budgetsGone, keyBudget, noBudgetPart } from './money/budgets.ts'
import type { ManagedWorkspace } from './ports.ts'
import { defined } from './wire-names.ts'

/** The API keys of a workspace. */
export interface ApiKeys {
  /**
   * Creates a key. Its secret is returned once and stored nowhere. Pass `secret` to choose it yourself; if the workspace already has a key
   * with this secret, that key is returned unchanged.
   *
   * @throws `invalid_parameter_value`, `duplicate_resource` (another key has this `secret`), `operation_not_allowed` (the actor may not grant this much)
   * @example const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'backend' })
   */
  create(input: NewApiKey): Promise<ApiKey & { readonly secret: string }>
  /** In order of creation. */
  list(options?: { readonly includeRevoked?: boolean; readonly after?: string; readonly limit?: number }): Promise<readonly ApiKey[]>
  /** @throws `resource_not_found` */
  get(id: string): Promise<ApiKey>
  /**
   * Changes a key. Absent fields stay unchanged.
   * @throws `resource_not_found`, `invalid_parameter_value`, `field_immutable`, `operation_not_allowed` (the actor may not grant this much)
   */
  update(id: string, input: ApiKeyChange): Promise<ApiKey>
  /**
   * Revokes a key and all keys created with it, directly or indirectly: at once in this process, within 30 s in others. With `keepMade`
   * the keys created with it stay active, below its own ancestors, however many they are. Repeating the call changes nothing.
   */
  revoke(id: string, options?: { readonly keepMade?: boolean }): Promise<ApiKey>
  /**
   * Replaces the secret of a key, and returns the new one once. The key keeps its id, limits, budgets and the keys created with it. The
   * replaced secret stays valid for `gracePeriod` seconds (default: a day; at most 7 days). Revoking the key ends both.
   *
   * @throws `resource_not_found`, `invalid_parameter_value`, `state_precondition_failed` (revoked or expired), `operation_not_allowed` (the
   *   key is neither the acting key nor below it, or the secret in use was replaced itself)
   * @example const { secret } = await gateway.workspaces(id).apiKeys.rotate(key.id, { gracePeriod: 3_600 })
   */
  rotate(id: string, options?: { readonly gracePeriod?: number }): Promise<ApiKey & { readonly secret: string }>
  /** Usage in the current day, week or month (UTC). Also for a revoked key. */
  usage(id: string, options?: { readonly period?: UsagePeriod }): Promise<KeyUsage>
}

/** The group of keys that an operator creates for its own web page. */
const playgroundGroup = 'system'

export const apiKeysOf = (managed: ManagedWorkspace): ApiKeys => {
  const { workspaceId, actor, records, commitWithAudit, authenticator, clock } = managed
  const keyOf = async (id: string): Promise<TypedRecord<'key'>> => {
    const key = await records.find('key', workspaceId, id)
    if (!key || (key.group === playgroundGroup && actor.key)) throw notFoundError('API key', id)
    return key
  }
  const recordsOf = async (keys: readonly TypedRecord<'key'>[]): Promise<readonly ApiKey[]> => {
    const now = clock.now()
    const ancestors = await ancestorIdsOf(records, keys, now)
    return keys.map(key => keyRecordOf(key, { ancestors: ancestors.get(key.id), isUsable: isActive(key.body, now) }))
  }
  const oneRecord = async (key: TypedRecord<'key'>): Promise<ApiKey> => (await recordsOf([key]))[0] as ApiKey
  return {
    create: input => create(managed, input),
    list: async ({ includeRevoked = false, after, limit = 100 } = {}) => {
      const groups = includeRevoked ? ['active', 'revoked'] : ['active']
      return recordsOf(await records.list('key', { workspaceId, groups, limit, after }))
    },
    get: async id => oneRecord(await keyOf(id)),
    usage: async (id, { period = 'month' } = {}) => keyUsage(managed, (await keyOf(id)).id, period),
    async update(id, input) {
      if (!managed.isForSetup) checkExpiry(input, clock.now())
      const updated = await commitWithAudit(workspaceId, actor, async () => {
        const key = await keyOf(id)
        if (Object.keys(input).length === 0) return { events: [], result: key }
        const body = withChange(key.body, input)
        const { budget, ...changes } = input
        const part = budget === undefined ? noBudgetPart : await keyBudget(managed, { ...key, body }, budget)
        return {
          puts: [changedRecord(key, { body: { ...omittedFields, ...body } }), ...part.puts],
          removals: part.removals,
          events: [{ event: 'api_key.updated', subject: { type: 'api_key', id }, changes: toWire(apiKeyFields, changes) }, ...part.events],
          result: { ...key, body },
        }
      })
      authenticator.forget(id, workspaceId)
      return oneRecord(updated)
    },
    async rotate(id, { gracePeriod } = {}) {
      const { key, secret } = await rotateKey(managed, { id, keyOf, gracePeriod })
      return { ...(await oneRecord(key)), secret }
    },
    async revoke(id, { keepMade = false } = {}) {
      // Forgotten even if the commit fails: an unknown key is refused, which is the safe state during an outage.
      const revoking = commitWithAudit(workspaceId, actor, async () => {
        const key = await keyOf(id)
        if (key.body.revokedAt !== undefined) return { events: [], result: key }
        const body: KeyBody = { ...key.body, revokedAt: clock.now(), ...(keepMade && { madeKept: true }) }
        const part = await budgetsGone(managed, key)
        const changes = keepMade ? { keep_made: true } : {}
        return {
          puts: [changedRecord(key, { ...(key.group !== playgroundGroup && { group: 'revoked' }), body })],
          removals: part.removals,
          events: [{ event: 'api_key.revoked', subject: { type: 'api_key', id }, changes }, ...part.events],
          result: { ...key, body },
        }
      })
      return oneRecord(await revoking.finally(() => authenticator.forget(id, workspaceId)))
    },
  }
}

async function create(managed: ManagedWorkspace, input: NewApiKey): Promise<ApiKey & { readonly secret: string }> {
  const { workspaceId, actor, records, commitWithAudit, authenticator, clock, ids } = managed
  // Probably an unset environment variable: each start would create a key whose secret is shown nowhere.
  if (Object.hasOwn(input, 'secret') && input.secret === undefined)
    throw invalidValueError(
      'secret',
      undefined,
      '`ak_` followed by 8 to 200 visible ASCII characters, or nothing: then a secret is generated and returned',
    )
  const { secret = makeSecret(ids), rateLimitRpm, limits, expiresAt } = input
  checkSecret(secret)
  if (!managed.isForSetup) checkExpiry(defined({ expiresAt }), clock.now())
  const scopes = granted(input.scopes, actor)
  const hash = await hashSecret(secret)
  const id = ids.uuid()
  const { key, isAccepted } = await commitWithAudit(workspaceId, actor, async (): Promise<Draft<KeyOfSecret>> => {
    const old = input.secret === undefined ? undefined : await keyWithSecret(managed, hash)
    if (old) return { events: [], result: old }
    await findWorkspace(records, workspaceId)
    if (managed.isForSetup && input.secret === undefined) await warnOfSecondKey(managed, input.name)
    const body: KeyBody = {
      name: input.name,
      prefix: prefixOf(secret),
      scopes,
      ...((rateLimitRpm !== undefined || limits) && {
        limits: { ...limits, ...(rateLimitRpm !== undefined && { requestsPerMinute: rateLimitRpm }) },
      }),
      ...(await originOfNewKey(managed)).line,
      ...(expiresAt && { expiresAt: expiresAt.getTime() }),
    }
    const record = { id, workspaceId, group: input.playground ? playgroundGroup : 'active', name: hash, createdAt: clock.now(), body }
    const part = input.budget ? await keyBudget(managed, record, input.budget) : noBudgetPart
    return {
      puts: [newRecord('key', record), ...part.puts],
      events: [{ event: 'api_key.created', subject: { type: 'api_key', id }, changes: { name: input.name, scopes } }, ...part.events],
      result: { key: { ...record, kind: 'key' as const, version: 1 }, isAccepted: true },
    }
  })
  authenticator.welcome(secret)
  const now = clock.now()
  const ancestors = (await ancestorIdsOf(records, [key], now)).get(key.id)
  return { ...keyRecordOf(key, { ancestors, isUsable: isAccepted && isActive(key.body, now) }), secret }
}

/** `setup` runs in each process. It creates a key with a given secret once, but a key without one each time. */
async function warnOfSecondKey({ records, logger, workspaceId }: ManagedWorkspace, name: string): Promise<void> {
  const page = await records.list('key', { workspaceId, groups: ['active'], limit: 100 })
  if (!page.some(key => key.body.name === name)) return
  logger.warn(
    { workspaceId, name },
    '`setup` creates another API key with this name. Pass a `secret` so that the key is created only once.',
  )
}

/** The scopes that an actor may grant, which are those it has itself. */
function granted(requested: NewApiKey['scopes'] = ['inference:invoke'], { key }: Actor): readonly string[] {
  const mine: readonly string[] = key ? [...key.scopes] : everyScope
  if (requested === '*') return mine
  const lacking = requested.find(scope => !mine.includes(scope))
  if (lacking !== undefined)
    throw new GatewayError('operation_not_allowed', {
      message: `This ${nounOf(key?.id ?? '')} lacks the scope "${lacking}", so it cannot grant it.`,
      param: 'scopes',
    })
  return [...new Set(requested)]
}

interface KeyState {
  /** Undefined: one of them does not work. */
  readonly ancestors: readonly string[] | undefined
  /** Whether the key itself works. */
  readonly isUsable: boolean
}

const keyRecordOf = ({ id, workspaceId, createdAt, usedAt, body }: TypedRecord<'key'>, { ancestors, isUsable }: KeyState): ApiKey => {
  const { limits, prefix, createdBy, madeKept: _, ancestors: stored, ...rest } = body
  const above = ancestors ?? stored ?? []
  return {
    ...rest,
    ...(above.length > 0 && { ancestors: above }),
    scopes: rest.scopes as readonly Scope[],
    ...defined({ lastUsedAt: usedAt, rateLimitRpm: limits?.requestsPerMinute, createdByKeyId: createdBy }),
    id,
    workspaceId,
    createdAt,
    keyPrefix: prefix,
    isActive: isUsable && ancestors !== undefined,
  }
}

interface KeyOfSecret {
  readonly key: TypedRecord<'key'>
  /** False if a rotation replaced the secret and its grace period is over. */
  readonly isAccepted: boolean
}

/** The key that has, or before a rotation had, the secret with this hash. */
async function keyWithSecret(managed: ManagedWorkspace, hash: string): Promise<KeyOfSecret | undefined> {
  const { records, isForSetup, clock } = managed
  const key = await records.findByName('key', hash)
  if (key) return { key: found(managed, key), isAccepted: true }
  const replaced = await records.findByName('old_secret', hash)
  if (!replaced) return undefined
  const rotated =
    replaced.workspaceId === managed.workspaceId ? await records.find('key', managed.workspaceId, replaced.body.keyId) : undefined
  if (!isForSetup || !rotated)
    throw new GatewayError('duplicate_resource', {
      message: 'This `secret` belonged to a key that was rotated since. Use the new secret of that key, or choose another one.',
      param: 'secret',
    })
  const isAccepted = replaced.body.until > clock.now()
  const until = isAccepted ? `is accepted until ${new Date(replaced.body.until).toISOString()}` : 'is no longer accepted'
  managed.logger.warn(
    { workspaceId: managed.workspaceId, name: rotated.body.name, id: rotated.id },
    `The API key that \`setup\` creates was rotated and has another secret now; this one ${until}. Use the new one as \`secret\`, or choose another for a new key.`,
  )
  return { key: rotated, isAccepted }
}

/**
 * The key that has the `secret` already. The holder of a key can revoke it, so `setup` is given a revoked key as any other that it finds.
 * No holder of a key can make one with a given secret: one of another workspace is a mistake in the program, and ends `setup` too.
 */
function found({ isForSetup, logger, clock, workspaceId }: ManagedWorkspace, key: TypedRecord<'key'>): TypedRecord<'key'> {
  const { name, revokedAt } = key.body
  if (key.workspaceId !== workspaceId || (revokedAt !== undefined && !isForSetup))
    throw new GatewayError('duplicate_resource', {
      message: `This \`secret\` already belongs to ${key.workspaceId === workspaceId ? 'a revoked key' : 'another workspace'}. Choose another secret.`,
      param: 'secret',
    })
  if (isForSetup && !isActive(key.body, clock.now()))
    logger.warn(
      { workspaceId, name, id: key.id },
      `The API key that \`setup\` creates ${revokedAt === undefined ? 'has expired' : 'was revoked'} and stays so. Choose another \`secret\` for a new key.`,
    )
  return key
}

/** Removes optional fields that a changed body leaves out. */
const omittedFields = { limits: undefined, expiresAt: undefined }

function withChange({ limits, expiresAt: _, ...body }: KeyBody, { name = body.name, rateLimitRpm, expiresAt }: ApiKeyChange): KeyBody {
  const until = expiresAt === undefined ? _ : expiresAt?.getTime()
  const { requestsPerMinute, ...others } = limits ?? {}
  const rpm = rateLimitRpm === undefined ? requestsPerMinute : rateLimitRpm
  const kept: CallLimits = { ...others, ...(typeof rpm === 'number' && { requestsPerMinute: rpm }) }
  return { ...body, name, ...(Object.keys(kept).length > 0 && { limits: kept }), ...(until !== undefined && { expiresAt: until }) }
}

function checkSecret(secret: string): void {
  if (!/^ak_[\x21-\x7e]{8,200}$/.test(secret))
    throw new GatewayError('invalid_parameter_value', {
      message: '`secret` must be `ak_` followed by 8 to 200 visible ASCII characters.',
      param: 'secret',
    })
  if (isMistyped(secret))
    throw new GatewayError('invalid_parameter_value', {
      message: '`secret` looks like a generated key, but its checksum is wrong. Choose another length, or omit it to have one generated.',
      param: 'secret',
    })
}

function checkExpiry({ expiresAt }: ApiKeyChange, now: number): void {
  if (expiresAt && expiresAt.getTime() <= now) throw invalidValueError('expiresAt', expiresAt.toISOString(), 'a date in the future')
}

// Rotation gives a key another secret. The key keeps its id, limits, budgets and children; the replaced secret stays valid for a while.

/** Replaced secrets of one key that may be valid at a time. */
const maxReplaced = 10

/** Replaced secrets that one rotation brings to an end. */
const maxEnded = 100

interface Rotation {
  readonly id: string
  readonly keyOf: (id: string) => Promise<TypedRecord<'key'>>
  /** Seconds. */
  readonly gracePeriod: number | undefined
}

/** The rotated key and its new secret. */
async function rotateKey(
  managed: ManagedWorkspace,
  { id, keyOf, gracePeriod = rotationGrace.defaultSeconds }: Rotation,
): Promise<{ readonly key: TypedRecord<'key'>; readonly secret: string }> {
  const { workspaceId, actor, records, commitWithAudit, authenticator, clock, ids, isForSetup, logger } = managed
  const secret = makeSecret(ids)
  const hash = await hashSecret(secret)
  const rotating = commitWithAudit(workspaceId, actor, async () => {
    const key = await keyOf(id)
    const now = clock.now()
    if (!isActive(key.body, now)) {
      if (!isForSetup) throw inactiveKeyError()
      logger.warn(
        { workspaceId, name: key.body.name, id },
        'The API key that `setup` rotates is revoked or has expired, so its new secret is not valid either.',
      )
      return { events: [], result: key }
    }
    const until = now + gracePeriod * 1_000
    const earlier = await records.list('old_secret', { workspaceId, groups: [id], limit: maxEnded })
    // Those that this rotation ends do not count: a key can always be rotated without a grace period.
    if (!isForSetup && earlier.filter(({ body }) => Math.min(body.until, until) > now).length >= maxReplaced) throw tooManyKeysError()
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

const inactiveKeyError = (): GatewayError =>
  new GatewayError('state_precondition_failed', {
    message: 'This API key is revoked or has expired, so it cannot be rotated. Create another key.',
  })

const tooManyKeysError = (): GatewayError =>
  new GatewayError('state_precondition_failed', {
    message: `This API key was rotated ${maxReplaced} times, and the replaced secrets are still valid. Rotate it with a grace period of 0, which ends all of them at once, or wait until one of them has expired.`,
  })

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

type UsagePeriod = 'day' | 'week' | 'month'

async function keyUsage(managed: ManagedWorkspace, keyId: string, period: UsagePeriod): Promise<KeyUsage> {
  const { workspaceId } = managed
  const now = managed.clock.now()
  const { start = now, end = now } = periodOf(period, now)
  const [total] = await orStoreDown(() => managed.storage.usage.totals({ workspaceId, keyId, from: start, to: end }))
  const refused = await managed.refusals.between({ keyId, workspaceId }, { start, end })
  const { requests = 0, errors = 0, rateLimited = 0, inputTokens = 0, outputTokens = 0, cost = 0 } = total ?? {}
  return { keyId, workspaceId, period, start, end, requests, errors, rateLimited: rateLimited + refused, inputTokens, outputTokens, cost }
}
