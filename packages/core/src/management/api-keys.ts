import { isActive, maxAncestors, stoppedAmong } from '../access/ancestors.ts'
import type { CallLimits, KeyBody } from '../access/kinds.ts'
import { changed, type Kept, made } from '../access/records.ts'
import { scopes as everyScope, isScope, type Scope } from '../access/scopes.ts'
import { isMistyped, makeSecret, prefixOf } from '../access/secret.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { sha256 } from '../runtime/web.ts'
import { absent, checkText, checkWhole, wrong } from './check.ts'
import { type KeyUsage, keyUsage, type UsagePeriod } from './key-usage.ts'
import { withoutAncestor } from './keys-below.ts'
import { budgetsGone, type KeyBudget, type KeyBudgetChange, keyBudget, noBudgetPart } from './money/key-budgets.ts'
import { ownWorkspace } from './own.ts'
import type { Actor, Desk } from './ports.ts'
import { wireNames } from './wire-names.ts'

export interface ApiKeys {
  /**
   * The secret is returned once and kept nowhere. `secret`: use this one instead of making one; if the workspace has it
   * already, that key is returned as it is.
   *
   * @example const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'backend' })
   */
  create(input: NewApiKey): Promise<ApiKey & { readonly secret: string }>
  /** In the order of their making. */
  list(options?: { readonly includeRevoked?: boolean; readonly after?: string; readonly limit?: number }): Promise<readonly ApiKey[]>
  /** Throws `resource_not_found`. */
  get(id: string): Promise<ApiKey>
  update(id: string, input: ApiKeyChange): Promise<ApiKey>
  /**
   * It stops working, and so do the keys made with it, and with those: here at once, in other processes within 60 s. `keepMade`:
   * those go on, below the keys above it. A second time changes nothing.
   */
  revoke(id: string, options?: { readonly keepMade?: boolean }): Promise<ApiKey>
  /** What it was used for in the current day, week or month (UTC). Also of one that is revoked. */
  usage(id: string, options?: { readonly period?: UsagePeriod }): Promise<KeyUsage>
}

export interface NewApiKey {
  readonly name: string
  /** Default: `inference:invoke`. `*`: all that the actor has. */
  readonly scopes?: readonly Scope[] | '*'
  /** Requests a minute, in all and of each model. */
  readonly rateLimitRpm?: number
  readonly limits?: Omit<CallLimits, 'requestsPerMinute'>
  readonly expiresAt?: Date
  /** What it may spend as long as it lives; listed among the budgets of the workspace, and gone with the key. */
  readonly budget?: KeyBudget
  readonly secret?: string
  /** For a page of the operator's own: no list shows it, and no key finds it. Not to be had over HTTP. */
  readonly playground?: boolean
}

/** `null` takes a limit, a date or a budget away. */
export interface ApiKeyChange {
  readonly name?: string
  readonly rateLimitRpm?: number | null
  readonly expiresAt?: Date | null
  readonly budget?: KeyBudgetChange | null
}

export interface ApiKey extends Omit<KeyBody, 'limits'> {
  readonly id: string
  readonly workspaceId: string
  readonly createdAt: number
  readonly lastUsedAt?: number
  readonly rateLimitRpm?: number
  readonly isActive: boolean
}

/** Of keys that the operator made for a page of its own. */
const playgroundGroup = 'system'

export const apiKeysOf = (desk: Desk): ApiKeys => {
  const { ports, workspaceId, actor } = desk
  const { records, register, authenticator, clock } = ports
  const keyOf = async (id: string): Promise<Kept<'key'>> => {
    const key = await records.find('key', workspaceId, id)
    if (!key || (key.group === playgroundGroup && actor.key)) throw absent('API key', id)
    return key
  }
  const told = async (keys: readonly Kept<'key'>[]): Promise<readonly ApiKey[]> => {
    const now = clock.now()
    const stopped = await stoppedAmong(records, keys, now)
    return keys.map(key => apiKeyOf(key, isActive(key.body, now) && !stopped.has(key.id)))
  }
  const toldOne = async (key: Kept<'key'>): Promise<ApiKey> => (await told([key]))[0] as ApiKey
  return {
    create: input => create(desk, input),
    list: async ({ includeRevoked = false, after, limit = 100 } = {}) => {
      const groups = includeRevoked ? ['active', 'revoked'] : ['active']
      return told(await records.list('key', { workspaceId, groups, limit, ...(after !== undefined && { after }) }))
    },
    get: async id => toldOne(await keyOf(id)),
    usage: async (id, { period = 'month' } = {}) => keyUsage(desk, (await keyOf(id)).id, period),
    async update(id, input) {
      checkChange(input, clock.now())
      const updated = await register(workspaceId, actor, async () => {
        const key = await keyOf(id)
        if (Object.keys(input).length === 0) return { events: [], result: key }
        const body = withChange(key.body, input)
        const { budget, ...changes } = input
        const part = budget === undefined ? noBudgetPart : await keyBudget(ports, { ...key, body }, budget)
        return {
          puts: [changed(key, { body: { ...nothingLeft, ...body } }), ...part.puts],
          removals: part.removals,
          events: [{ event: 'api_key.updated', subject: { type: 'api_key', id }, changes: wireNames(changes) }, ...part.events],
          result: { ...key, body },
        }
      })
      authenticator.forget(id)
      return toldOne(updated)
    },
    async revoke(id, { keepMade = false } = {}) {
      const revoked = await register(workspaceId, actor, async () => {
        const key = await keyOf(id)
        if (key.body.revokedAt !== undefined) return { events: [], result: key }
        const body = { ...key.body, revokedAt: clock.now() }
        const part = await budgetsGone(ports, key)
        const kept = keepMade ? await withoutAncestor(records, key) : []
        const changes = kept.length > 0 ? { kept: kept.map(each => each.id) } : {}
        return {
          puts: [changed(key, { ...(key.group !== playgroundGroup && { group: 'revoked' }), body }), ...kept],
          removals: part.removals,
          events: [{ event: 'api_key.revoked', subject: { type: 'api_key', id }, changes }, ...part.events],
          result: { ...key, body },
        }
      })
      authenticator.forget(id)
      return toldOne(revoked)
    },
  }
}

async function create(desk: Desk, input: NewApiKey): Promise<ApiKey & { readonly secret: string }> {
  const { ports, workspaceId, actor } = desk
  const { records, register, authenticator, clock, ids } = ports
  // Of a variable that is not set: a key would be made at each start, with a secret that nothing shows.
  if (Object.hasOwn(input, 'secret') && input.secret === undefined)
    throw wrong('secret', undefined, '`ak_` and 8 to 200 visible ASCII characters, or is left out: then one is made and returned')
  const { secret = makeSecret(ids), rateLimitRpm, limits, expiresAt } = input
  check(input, secret, clock.now())
  const scopes = granted(input.scopes, actor)
  const hash = await sha256(secret)
  const id = ids.uuid()
  const key = await register(workspaceId, actor, async () => {
    const old = input.secret === undefined ? undefined : await records.named('key', hash)
    if (old) return { events: [], result: sameWorkspace(old, workspaceId) }
    await ownWorkspace(records, workspaceId)
    const body: KeyBody = {
      name: input.name,
      prefix: prefixOf(secret),
      scopes,
      ...((rateLimitRpm !== undefined || limits) && {
        limits: { ...limits, ...(rateLimitRpm !== undefined && { requestsPerMinute: rateLimitRpm }) },
      }),
      ...(await lineBelow(desk)),
      ...(expiresAt && { expiresAt: expiresAt.getTime() }),
    }
    const record = { id, workspaceId, group: input.playground ? playgroundGroup : 'active', name: hash, createdAt: clock.now(), body }
    const part = input.budget ? await keyBudget(ports, record, input.budget) : noBudgetPart
    return {
      puts: [made('key', record), ...part.puts],
      events: [{ event: 'api_key.created', subject: { type: 'api_key', id }, changes: { name: input.name, scopes } }, ...part.events],
      result: { ...record, kind: 'key' as const, version: 1 },
    }
  })
  authenticator.welcome(secret)
  return { ...apiKeyOf(key, isActive(key.body, clock.now())), secret }
}

/** The keys above one that is made: the maker, and those above the maker. */
async function lineBelow({ ports: { records, clock }, workspaceId, actor }: Desk): Promise<Pick<KeyBody, 'createdBy' | 'ancestors'>> {
  if (!actor.key) return {}
  const { id } = actor.key
  const maker = await records.find('key', workspaceId, id)
  // In process an actor may be of the application's own making: then there is nothing above the key.
  if (!maker) return { createdBy: id }
  const ancestors = [id, ...(maker.body.ancestors ?? [])]
  if (!isActive(maker.body, clock.now()) || (await stoppedAmong(records, [maker], clock.now())).size > 0)
    throw new GatewayError('operation_not_allowed', { message: 'This key is revoked or has expired, and makes no other keys.' })
  if (ancestors.length > maxAncestors)
    throw new GatewayError('operation_not_allowed', {
      message: `This key has ${maxAncestors} keys above it, as many as there can be, and makes no others. Use one of those above it.`,
    })
  return { createdBy: id, ancestors }
}

/** As the actor may: nobody grants what they lack. */
function granted(asked: NewApiKey['scopes'] = ['inference:invoke'], { key }: Actor): readonly string[] {
  const mine: readonly string[] = key ? [...key.scopes] : everyScope
  if (asked === '*') return mine
  if (asked.length === 0) throw wrong('scopes', 'empty', 'one scope or more')
  const odd = asked.find(scope => !isScope(scope))
  if (odd !== undefined) throw wrong('scopes', odd, `names among ${everyScope.join(', ')}`)
  const lacking = asked.find(scope => !mine.includes(scope))
  if (lacking !== undefined)
    throw new GatewayError('operation_not_allowed', {
      message: `This key lacks the scope "${lacking}", so it cannot grant it.`,
      param: 'scopes',
    })
  return [...new Set(asked)]
}

const apiKeyOf = ({ id, workspaceId, createdAt, usedAt, body: { limits, ...body } }: Kept<'key'>, active: boolean): ApiKey => ({
  ...body,
  id,
  workspaceId,
  createdAt,
  isActive: active,
  ...(usedAt !== undefined && { lastUsedAt: usedAt }),
  ...(limits?.requestsPerMinute !== undefined && { rateLimitRpm: limits.requestsPerMinute }),
})

function sameWorkspace(key: Kept<'key'>, workspaceId: string): Kept<'key'> {
  if (key.workspaceId === workspaceId && key.body.revokedAt === undefined) return key
  throw new GatewayError('duplicate_resource', {
    message: 'This `secret` is a key already, revoked or of another workspace. Choose another one.',
    param: 'secret',
  })
}

/** What is not in a changed body is to go, not to stay. */
const nothingLeft = { limits: undefined, expiresAt: undefined }

function withChange({ limits, expiresAt: _, ...body }: KeyBody, { name = body.name, rateLimitRpm, expiresAt }: ApiKeyChange): KeyBody {
  const until = expiresAt === undefined ? _ : expiresAt?.getTime()
  const { requestsPerMinute, ...others } = limits ?? {}
  const rpm = rateLimitRpm === undefined ? requestsPerMinute : rateLimitRpm
  const kept: CallLimits = { ...others, ...(typeof rpm === 'number' && { requestsPerMinute: rpm }) }
  return { ...body, name, ...(Object.keys(kept).length > 0 && { limits: kept }), ...(until !== undefined && { expiresAt: until }) }
}

function check({ name, rateLimitRpm, limits = {}, expiresAt }: NewApiKey, secret: string, now: number): void {
  checkChange({ name, ...(rateLimitRpm !== undefined && { rateLimitRpm }), ...(expiresAt && { expiresAt }) }, now)
  for (const [limit, value] of Object.entries(limits)) if (value !== undefined) checkWhole(limit, value)
  if (!/^ak_[\x21-\x7e]{8,200}$/.test(secret))
    throw new GatewayError('invalid_parameter_value', {
      message: '`secret` must be `ak_` and 8 to 200 visible ASCII characters.',
      param: 'secret',
    })
  if (isMistyped(secret))
    throw new GatewayError('invalid_parameter_value', {
      message: '`secret` has the form of one that we make, but not its checksum. Choose another length, or let one be made.',
      param: 'secret',
    })
}

function checkChange({ name, rateLimitRpm, expiresAt }: ApiKeyChange, now: number): void {
  if (name !== undefined) checkText('name', name)
  if (typeof rateLimitRpm === 'number') checkWhole('rate_limit_rpm', rateLimitRpm)
  if (!expiresAt) return
  if (!Number.isSafeInteger(expiresAt.getTime())) throw wrong('expires_at', 'no valid date', 'a date in the future')
  if (expiresAt.getTime() <= now) throw wrong('expires_at', expiresAt.toISOString(), 'a date in the future')
}
