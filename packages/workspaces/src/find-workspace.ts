import type { Records, TypedRecord } from '@signalbox/core/access'
import { GatewayError } from '@signalbox/dialects/errors'

/** The record of a workspace. Throws `resource_not_found` if it was never created. */
export async function findWorkspace(records: Pick<Records, 'find'>, id: string): Promise<TypedRecord<'workspace'>> {
  const found = await records.find('workspace', id, id)
  if (found) return found
  throw new GatewayError('resource_not_found', { message: `There is no workspace "${id}". Create it first with \`workspaces.create\`.` })
}

/** `resource_not_found`: the workspace has no such resource. */
export const notFoundError = (what: string, id: string): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no ${what} "${id.slice(0, 100)}" in this workspace.` })
