import { type Gateway, isGatewayError } from '@signalbox/core'
import type { Storage } from '@signalbox/storage'
import { wrong } from './fault.ts'
import type { Config } from './schema.ts'

export interface Bootstrapping {
  readonly gateway: Gateway
  readonly storage: Storage
  readonly config: Pick<Config, 'workspace' | 'admin_key'>
}

/** Credit happens once per reference, so a start that was cut short is made good by the next one. */
const creditReference = 'first-start'
/** The same in every process: two that start at once on an empty database make one workspace. */
const firstWorkspace = '01900000-0000-7000-8000-000000000001'

/** The server's workspace with its credit, and the admin key where one was given. Safe to repeat. */
export async function makeWorkspace({ gateway, config }: Bootstrapping): Promise<string> {
  const { workspace, admin_key } = config
  const [first] = await gateway.workspaces.list()
  const { id } = first ?? (await gateway.workspaces.create({ id: firstWorkspace, name: workspace.name }))
  const amount = Math.round(workspace.credit_usd * 1_000_000)
  if (amount > 0) await gateway.workspaces(id).billing.credit({ reference: creditReference, amount })
  if (admin_key !== undefined) await useKey(gateway, id, admin_key)
  return id
}

async function useKey(gateway: Gateway, workspaceId: string, secret: string): Promise<void> {
  try {
    await gateway.workspaces(workspaceId).apiKeys.create({ name: 'admin', scopes: '*', secret })
  } catch (error) {
    if (isGatewayError(error) && error.facts.param === 'secret')
      throw wrong('admin_key', secret, 'a key that was not revoked and is not of another workspace')
    throw error
  }
}

/** A key with every scope, for a workspace that never had a key. Its secret is known only here and now. */
export async function firstKey({ gateway, config }: Bootstrapping, workspaceId: string): Promise<string | undefined> {
  if (config.admin_key !== undefined) return undefined
  const keys = await gateway.workspaces(workspaceId).apiKeys.list({ includeRevoked: true, limit: 1 })
  if (keys.length > 0) return undefined
  const { secret } = await gateway.workspaces(workspaceId).apiKeys.create({ name: 'admin', scopes: '*' })
  return secret
}
