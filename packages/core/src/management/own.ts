import type { Kept, Records } from '../access/records.ts'
import { GatewayError } from '../errors/gateway-error.ts'

/** The workspace that all of this is about. Throws `resource_not_found`: what nobody made can own nothing. */
export async function ownWorkspace(records: Pick<Records, 'find'>, id: string): Promise<Kept<'workspace'>> {
  const found = await records.find('workspace', id, id)
  if (found) return found
  throw new GatewayError('resource_not_found', { message: `There is no workspace "${id}". Make it first, with workspaces.create.` })
}
