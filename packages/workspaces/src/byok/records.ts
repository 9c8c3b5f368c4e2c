import { changedRecord, maxRecordsRead, type TypedRecord } from '@signalbox/core/access'
import { sha256 } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import type { WorkspaceContext } from '../ports.ts'

/** The previous default, as a change for the same commit. */
export async function steppedDown(
  { ports }: WorkspaceContext,
  { workspaceId, id, body }: Pick<TypedRecord<'credential'>, 'workspaceId' | 'id' | 'body'>,
): Promise<readonly RecordPut[]> {
  const all = await ports.records.list('credential', { workspaceId, groups: [body.provider], limit: maxRecordsRead })
  return all.filter(each => each.body.isDefault && each.id !== id).map(each => changedRecord(each, { body: { isDefault: false } }))
}

/** Unique for a secret, since two records of one secret would be one account under two names. */
export const credentialName = (workspaceId: string, provider: string, secret: string): Promise<string> =>
  sha256(JSON.stringify([workspaceId, provider, secret]))

export function checkLasting({ lasting }: WorkspaceContext['ports']['byok']): void {
  if (lasting) return
  throw new GatewayError('operation_not_allowed', {
    message:
      'This gateway has no sealing key, so a provider key could not be read after a restart. Its operator must set the option `sealingKey`.',
    param: 'apiKey',
  })
}

export const isThere = (provider: string): GatewayError =>
  new GatewayError('duplicate_resource', {
    message: `This workspace already has this key for "${provider}". Update that key, or add a different one.`,
    param: 'apiKey',
  })
