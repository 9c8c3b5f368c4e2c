import {
  type BodyChanges,
  type CredentialBody,
  changedRecord,
  maxRecordsOfKind,
  maxRecordsRead,
  newRecord,
  recordRemoval,
  type TypedRecord,
} from '@signalbox/core/access'
import { type ByokKey, type ByokKeyChange, byokKeyFields, invalidValueError, type NewByokKey, toWire } from '@signalbox/core/resources'
import { sha256 } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import { type AccountTier, type Credential, isObject, type Provider, takesOwnKeys } from '@signalbox/dialects/protocol'
import type { RecordPut } from '@signalbox/storage'
import { similarNames } from '@signalbox/storage/similar-names'
import { findWorkspace, notFoundError } from '../find-workspace.ts'
import type { ManagedWorkspace } from '../ports.ts'
import { usualTier } from './tiers.ts'

// Each key is a candidate of its own: what the router learns is kept by `provider/model@account`, so a limited key pauses itself alone. The order
// of a workspace's keys is a rank and no score, since it decides which account pays; the operator's keys are equal, and the score decides.

/** The provider keys of a workspace. Its requests use them before the gateway's keys: the default of a provider, then the others in order of creation. */
export interface ByokKeys {
  /**
   * Creates a provider key. The first key of a provider becomes its default. It is checked in the background; `validationStatus` is
   * `pending` until then.
   *
   * @throws `invalid_parameter_value`, `duplicate_resource` (the workspace already has this secret for the provider),
   *   `operation_not_allowed` (the gateway has no `sealingKey`)
   *
   * @example await gateway.workspaces(id).byokKeys.create({ provider: 'openai', apiKey: 'sk-…', name: 'production' })
   */
  create(input: NewByokKey): Promise<ByokKey>
  /** In order of creation. */
  list(options?: { readonly provider?: string; readonly after?: string; readonly limit?: number }): Promise<readonly ByokKey[]>
  /** @throws `resource_not_found` */
  get(id: string): Promise<ByokKey>
  update(id: string, input: ByokKeyChange): Promise<ByokKey>
  /**
   * Checks a key with its provider now. The status becomes `valid`, `invalid` if it was refused, or `error` if the check failed. For a
   * provider that cannot check keys it becomes `pending`.
   */
  validate(id: string): Promise<ByokKey>
  /** Deletes a key: unused at once in this process, within 30 s in others. No other key becomes the default in its place. */
  delete(id: string): Promise<ByokKey>
}

export const byokKeysOf = (managed: ManagedWorkspace): ByokKeys => {
  const { workspaceId, actor, records, commitWithAudit, byok } = managed
  const find = async (id: string): Promise<TypedRecord<'credential'>> => {
    const key = await records.find('credential', workspaceId, id)
    if (!key) throw notFoundError('BYOK key', id)
    return key
  }
  return {
    create: async input => byokKeyOf(await createByokKey(managed, input)),
    list: async ({ provider, after, limit = 100 } = {}) => {
      const query = { workspaceId, limit, after, groups: provider === undefined ? undefined : [provider] }
      return (await records.list('credential', query)).map(byokKeyOf)
    },
    get: async id => byokKeyOf(await find(id)),
    async update(id, input) {
      const updated = await commitWithAudit(workspaceId, actor, async () => {
        const key = await find(id)
        const { name, body } = await changedBy(managed, key, input)
        if (Object.keys(body).length === 0) return { events: [], result: key }
        const put = changedRecord(key, { name, body: { ...body, updatedAt: managed.clock.now() } })
        return {
          puts: [...(body.isDefault ? await steppedDown(managed, key) : []), put],
          events: [{ event: 'byok_key.updated', subject: { type: 'byok_key', id }, changes: changesOf(body) }],
          result: { ...key, body: JSON.parse(put.body) as CredentialBody },
          taken: duplicateKeyError(key.body.provider),
        }
      })
      if (input.apiKey !== undefined && updated.body.validationStatus === 'pending') byok.begin(workspaceId, id)
      return byokKeyOf(updated)
    },
    validate: async id => byokKeyOf(await byok.validate(workspaceId, id, actor)),
    delete: id =>
      commitWithAudit(workspaceId, actor, async () => {
        const key = await find(id)
        const { provider, name, isDefault } = key.body
        return {
          removals: [recordRemoval(key)],
          events: [{ event: 'byok_key.deleted', subject: { type: 'byok_key', id }, changes: { provider, name, is_default: isDefault } }],
          result: byokKeyOf(key),
        }
      }),
  }
}

async function createByokKey(managed: ManagedWorkspace, input: NewByokKey): Promise<TypedRecord<'credential'>> {
  const { workspaceId, actor, records, commitWithAudit, byok, clock, ids } = managed
  const secret = checkedSecret(managed, input)
  const { provider, name, isDefault = false, accountTier, extra } = input
  const id = ids.uuid()
  const place = { workspaceId, id, body: { provider, ...(extra && { extra }) } }
  const [hash, sealed] = await Promise.all([credentialName(workspaceId, provider, secret), byok.vault.seal(secret, place)])
  const created = await commitWithAudit(workspaceId, actor, async () => {
    await findWorkspace(records, workspaceId)
    const all = await records.list('credential', { workspaceId, limit: maxRecordsRead })
    const old = managed.isForSetup && all.find(each => each.name === hash)
    if (old) return { events: [], result: old }
    if (all.length >= maxRecordsOfKind && !managed.isForSetup)
      throw new GatewayError('state_precondition_failed', {
        message: `A workspace has at most ${maxRecordsOfKind} BYOK keys. Delete one first.`,
      })
    const body: CredentialBody = {
      ...place.body,
      name,
      prefix: shownOf(secret),
      sealed,
      isDefault: isDefault || !all.some(each => each.body.provider === provider && each.body.isDefault),
      disabled: false,
      validationStatus: 'pending',
      ...(accountTier === undefined ? usualTier(byok.tiersOf(provider)) : { accountTier, accountTierSource: 'user_specified' }),
      updatedAt: clock.now(),
    }
    const record = { id, workspaceId, group: provider, name: hash, createdAt: clock.now(), body }
    const changes = { provider, name, is_default: body.isDefault, account_tier: body.accountTier, key_prefix: body.prefix }
    return {
      puts: [...(body.isDefault ? await steppedDown(managed, record) : []), newRecord('credential', record)],
      events: [{ event: 'byok_key.created', subject: { type: 'byok_key', id }, changes }],
      result: { ...record, kind: 'credential' as const, version: 1 },
      taken: duplicateKeyError(provider),
    }
  })
  if (created.id === id) byok.begin(workspaceId, id)
  return created
}

function checkedSecret({ byok }: ManagedWorkspace, { provider: named, apiKey, accountTier, extra = {} }: NewByokKey): string {
  const provider = providerNamed(named, byok.providers)
  const secret = secretOf(apiKey, provider)
  checkExtra(extra, provider)
  if (accountTier !== undefined) checkTier(accountTier, provider.id, byok.tiersOf(provider.id))
  checkLasting(byok)
  return secret
}

/** The fields of a key that a change alters. */
async function changedBy(
  managed: ManagedWorkspace,
  key: TypedRecord<'credential'>,
  input: ByokKeyChange,
): Promise<{ readonly name: string; readonly body: BodyChanges<'credential'> }> {
  const { byok, isForSetup } = managed
  const { body, name: hash = '' } = key
  // Another key may have been deleted, which made this one the default.
  const isDefault = (isForSetup && body.isDefault) || (input.isDefault ?? body.isDefault)
  const { name = body.name, disabled = body.disabled, accountTier, apiKey } = input
  if (body.isDefault && !isDefault) throw staysDefaultError()
  const tiers = byok.tiersOf(body.provider)
  if (typeof accountTier === 'string') checkTier(accountTier, body.provider, tiers)
  const secret = apiKey === undefined ? undefined : await resecret(managed, key, apiKey)
  return {
    name: secret?.name ?? hash,
    body: {
      ...(name !== body.name && { name }),
      ...(isDefault !== body.isDefault && { isDefault }),
      ...(disabled !== body.disabled && { disabled }),
      ...(typeof accountTier === 'string' && { accountTier, accountTierSource: 'user_specified' as const }),
      ...(accountTier === null && { accountTier: undefined, accountTierSource: undefined, ...usualTier(tiers) }),
      // Another secret may belong to another account.
      ...(secret && body.accountTierSource !== 'user_specified' && usualTier(tiers)),
      ...secret?.body,
    },
  }
}

/** Undefined in `setup` if another key has this secret: keys that were added since do not decide whether `setup` succeeds. */
async function resecret(managed: ManagedWorkspace, key: TypedRecord<'credential'>, apiKey: string) {
  const { byok, records, isForSetup, logger } = managed
  const provider = byok.providers.get(key.body.provider)
  if (!provider)
    throw new GatewayError('state_precondition_failed', { message: `This gateway no longer has the provider "${key.body.provider}".` })
  checkLasting(byok)
  const secret = secretOf(apiKey, provider)
  const name = await credentialName(key.workspaceId, provider.id, secret)
  const other = isForSetup ? await records.findByName('credential', name) : undefined
  if (other && other.id !== key.id) {
    logger.warn(
      { workspaceId: key.workspaceId, id: key.id, other: other.id },
      'The `apiKey` that `setup` sets stays as it was, because another provider key of the workspace has this one already. Delete one of them.',
    )
    return undefined
  }
  const body = {
    sealed: await byok.vault.seal(secret, key),
    prefix: shownOf(secret),
    validationStatus: 'pending',
    lastValidatedAt: undefined,
  } as const
  return { name, body }
}

const staysDefaultError = (): GatewayError =>
  new GatewayError('state_precondition_failed', {
    message: 'This is the default key of its provider. Make another one the default instead, or disable this one.',
    param: 'isDefault',
  })

const changesOf = ({ prefix, ...body }: BodyChanges<'credential'>): Readonly<Record<string, unknown>> => {
  const { sealed: _, lastValidatedAt: __, ...shown } = body
  return toWire(byokKeyFields, { ...shown, keyPrefix: prefix })
}

const byokKeyOf = ({ id, workspaceId, createdAt, body: { sealed: _, prefix, ...body } }: TypedRecord<'credential'>): ByokKey => ({
  ...body,
  id,
  workspaceId,
  createdAt,
  keyPrefix: prefix,
})

/** The previous default, as a change for the same commit. */
async function steppedDown(
  managed: ManagedWorkspace,
  { workspaceId, id, body }: Pick<TypedRecord<'credential'>, 'workspaceId' | 'id' | 'body'>,
): Promise<readonly RecordPut[]> {
  const all = await managed.records.list('credential', { workspaceId, groups: [body.provider], limit: maxRecordsRead })
  return all.filter(each => each.body.isDefault && each.id !== id).map(each => changedRecord(each, { body: { isDefault: false } }))
}

/** Unique for a secret, since two records of one secret would be one account under two names. */
const credentialName = (workspaceId: string, provider: string, secret: string): Promise<string> =>
  sha256(JSON.stringify([workspaceId, provider, secret]))

function checkLasting({ lasting }: ManagedWorkspace['byok']): void {
  if (lasting) return
  throw new GatewayError('operation_not_allowed', {
    message:
      'This gateway has no sealing key, so a provider key could not be read after a restart. Its operator must set the option `sealingKey`.',
    param: 'apiKey',
  })
}

const duplicateKeyError = (provider: string): GatewayError =>
  new GatewayError('duplicate_resource', {
    message: `This workspace already has this key for "${provider}". Update that key, or add a different one.`,
    param: 'apiKey',
  })

const wrongFieldError = (param: string, message: string, suggestion?: string): GatewayError =>
  new GatewayError('invalid_parameter_value', { message, param, ...(suggestion !== undefined && { suggestion }) })

function providerNamed(id: string, providers: ReadonlyMap<string, Provider>): Provider {
  const found = providers.get(id)
  const takers = [...providers.values()].filter(takesOwnKeys).map(provider => provider.id)
  if (!found) {
    const [near] = similarNames(id, takers)
    const hint = near === undefined ? undefined : `Did you mean "${near}"?`
    const way = hint ?? `Providers that accept BYOK keys: ${takers.join(', ') || 'none'}.`
    throw wrongFieldError('provider', `There is no provider "${id.slice(0, 100)}" here. ${way}`, hint)
  }
  if (!takesOwnKeys(found))
    throw invalidValueError('provider', id, `a provider that accepts BYOK keys: ${takers.join(', ') || 'there is none here'}`)
  return found
}

/** Visible ASCII, 8 to 4,096 characters. Accounts in JSON are normalized. The error never contains the key. */
function secretOf(text: string, { id, account }: Provider): string {
  if (text.trimStart().startsWith('{')) {
    if (!account?.json) throw wrongFieldError('apiKey', `\`apiKey\` is JSON, but a key for "${id}" is a string without spaces.`)
    const secret = text.length > maxJsonLength ? undefined : asOneLine(text)
    if (secret === undefined)
      throw wrongFieldError(
        'apiKey',
        `\`apiKey\` starts like a JSON object, but is not a valid object of up to ${maxJsonLength} ASCII characters.`,
      )
    return secret
  }
  if (!/^[\x21-\x7e]{8,4096}$/.test(text))
    throw wrongFieldError('apiKey', '`apiKey` takes 8 to 4096 visible ASCII characters without spaces.')
  return text
}

const maxJsonLength = 16_384

function asOneLine(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const line = isObject(value) ? JSON.stringify(value) : ''
    return /^[\x20-\x7e]+$/.test(line) ? line : undefined
  } catch {
    return undefined
  }
}

/** The displayable end of a secret, at most a quarter of it. Empty for a secret in JSON. */
const shownOf = (secret: string): string => `${secret.startsWith('{') ? '{' : secret.slice(0, Math.min(8, Math.floor(secret.length / 4)))}…`

/** Checks the additional account fields that the provider needs. */
function checkExtra(extra: Readonly<Record<string, string>>, provider: Provider): void {
  const { id, account, dialects } = provider
  const names = account?.extra ?? []
  for (const [name, value] of Object.entries(extra)) {
    if (!names.includes(name))
      throw wrongFieldError(
        'extra',
        `\`extra\` of a key for "${id}" takes ${names.length === 0 ? 'nothing' : names.join(', ')}; it has no field "${name.slice(0, 60)}".`,
      )
    if (!/^[A-Za-z0-9][\w.:@-]{0,127}$/.test(value))
      throw invalidValueError(`extra.${name}`, value, 'letters, digits and - _ . : @, up to 128')
  }
  const [dialect] = dialects
  const credential: Credential = { id: '', owner: 'workspace', secret: '{}', extra }
  try {
    if (dialect) provider.endpoint({ api: dialect.name, model: 'm', stream: false, credential })
  } catch (error) {
    throw wrongFieldError('extra', error instanceof Error ? error.message : `These fields give no valid address for "${id}".`)
  }
}

function checkTier(tier: string, provider: string, tiers: readonly AccountTier[]): void {
  if (tiers.some(each => each.tier === tier)) return
  if (tiers.length === 0) throw wrongFieldError('accountTier', `"${provider}" has no known account tiers. Remove \`accountTier\`.`)
  throw invalidValueError('accountTier', tier, `a tier of "${provider}": ${tiers.map(each => each.tier).join(', ')}`)
}
