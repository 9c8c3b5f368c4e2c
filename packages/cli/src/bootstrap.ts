import type { Logger } from '@signalbox/core/runtime'
import { type Gateway, isGatewayError } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import type { Config } from './schema.ts'

/** Input for creating the first workspace and key. */
export interface BootstrapContext {
  readonly gateway: Gateway
  readonly storage: Storage
  readonly config: Pick<Config, 'workspace' | 'admin_key'>
  readonly logger: Logger
}

/** Credit is granted once per reference, so an interrupted start is completed by the next one. */
const creditReference = 'first-start'
/** A fixed id, so that two processes that start together on an empty database create one workspace. */
const firstWorkspace = '01900000-0000-7000-8000-000000000001'

/**
 * Creates the server's workspace with its credit, and the admin key if configured. Idempotent. What a key of the workspace can change
 * does not stop the server from starting: it is logged.
 */
export async function makeWorkspace({ gateway, config, logger }: BootstrapContext): Promise<string> {
  const { workspace, admin_key } = config
  const [first] = await gateway.workspaces.list()
  const { id } = first ?? (await gateway.workspaces.create({ id: firstWorkspace, name: workspace.name }))
  const amount = Math.round(workspace.credit_usd * 1_000_000)
  const { billing, apiKeys } = gateway.workspaces(id)
  if (amount > 0)
    await unlessTaken(
      () => billing.credit({ reference: creditReference, amount }),
      () =>
        logger.error(
          { workspaceId: id },
          '`workspace.credit_usd` adds no credit: it counts at the first start, and the workspace has had its first credit, or has the maximum. Add credit with `POST …/billing/credits`.',
        ),
    )
  if (admin_key !== undefined)
    await unlessTaken(
      () => apiKeys.create({ name: 'admin', scopes: '*', secret: admin_key }),
      () =>
        logger.error(
          { workspaceId: id },
          '`admin_key` was revoked or rotated, or is of another workspace, and opens nothing. Choose another `admin_key` and restart.',
        ),
    )
  return id
}

/** Runs a call that may find that the workspace has something else in its place, or no room for it. */
async function unlessTaken(call: () => Promise<unknown>, taken: () => void): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (!isGatewayError(error) || error.status !== 409) throw error
    taken()
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
