import { type Gateway, isGatewayError } from '@signalbox/core'
import type { Storage } from '@signalbox/storage'
import { invalidField } from './fault.ts'
import type { Config } from './schema.ts'

/** Input for creating the first workspace and key. */
export interface BootstrapContext {
  readonly gateway: Gateway
  readonly storage: Storage
  readonly config: Pick<Config, 'workspace' | 'admin_key'>
}

/** Credit is granted once per reference, so an interrupted start is completed by the next one. */
const creditReference = 'first-start'
/** A fixed id, so that two processes that start together on an empty database create one workspace. */
const firstWorkspace = '01900000-0000-7000-8000-000000000001'

/** Creates the server's workspace with its credit, and the admin key if configured. Idempotent. */
export async function makeWorkspace({ gateway, config }: BootstrapContext): Promise<string> {
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
      throw invalidField('admin_key', secret, 'a key that was not revoked and is not of another workspace')
    throw error
  }
}

/** Creates a key with every scope for a workspace that never had a key, and returns its secret, which is not stored. */
export async function firstKey({ gateway, config }: BootstrapContext, workspaceId: string): Promise<string | undefined> {
  if (config.admin_key !== undefined) return undefined
  const keys = await gateway.workspaces(workspaceId).apiKeys.list({ includeRevoked: true, limit: 1 })
  if (keys.length > 0) return undefined
  const { secret } = await gateway.workspaces(workspaceId).apiKeys.create({ name: 'admin', scopes: '*' })
  return secret
}
