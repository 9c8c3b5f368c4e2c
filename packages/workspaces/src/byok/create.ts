import type { CredentialBody } from '@signalbox/core/access'
import { maxRecordsOfKind, maxRecordsRead, newRecord, type TypedRecord } from '@signalbox/core/access'
import type { NewByokKey } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import { findWorkspace } from '../find-workspace.ts'
import type { WorkspaceContext } from '../ports.ts'
import { checkExtra, checkTier, providerNamed, secretOf, shownOf } from './input.ts'
import { checkLasting, credentialName, isThere, steppedDown } from './records.ts'
import { usualTier } from './tiers.ts'

export async function createByokKey(context: WorkspaceContext, input: NewByokKey): Promise<TypedRecord<'credential'>> {
  const { ports, workspaceId, actor } = context
  const { records, commitWithAudit, byok, clock, ids } = ports
  const secret = check(context, input)
  const { provider, name, isDefault = false, accountTier, extra } = input
  const id = ids.uuid()
  const place = { workspaceId, id, body: { provider, ...(extra && { extra }) } }
  const [hash, sealed] = await Promise.all([credentialName(workspaceId, provider, secret), byok.vault.seal(secret, place)])
  const created = await commitWithAudit(workspaceId, actor, async () => {
    await findWorkspace(records, workspaceId)
    const all = await records.list('credential', { workspaceId, limit: maxRecordsRead })
    const old = ports.isForSetup && all.find(each => each.name === hash)
    if (old) return { events: [], result: old }
    if (all.length >= maxRecordsOfKind && !ports.isForSetup) throw tooManyCredentials()
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
      puts: [...(body.isDefault ? await steppedDown(context, record) : []), newRecord('credential', record)],
      events: [{ event: 'byok_key.created', subject: { type: 'byok_key', id }, changes }],
      result: { ...record, kind: 'credential' as const, version: 1 },
      taken: isThere(provider),
    }
  })
  if (created.id === id) byok.begin(workspaceId, id)
  return created
}

function check({ ports: { byok } }: WorkspaceContext, { provider: named, apiKey, accountTier, extra = {} }: NewByokKey): string {
  const provider = providerNamed(named, byok.providers)
  const secret = secretOf(apiKey, provider)
  checkExtra(extra, provider)
  if (accountTier !== undefined) checkTier(accountTier, provider.id, byok.tiersOf(provider.id))
  checkLasting(byok)
  return secret
}

const tooManyCredentials = (): GatewayError =>
  new GatewayError('state_precondition_failed', { message: `A workspace has at most ${maxRecordsOfKind} BYOK keys. Delete one first.` })
