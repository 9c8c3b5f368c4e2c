import { invalidValue } from '../resources/invalid-value.ts'

const maxWorkspaceId = 255

/** Throws for what cannot be the id of a workspace: without an id that is one, a list would be of all workspaces. */
export function checkWorkspaceId(id: string): string {
  if (typeof id !== 'string' || id === '' || id.length > maxWorkspaceId)
    throw invalidValue('workspaceId', id, `the id of a workspace, 1 to ${maxWorkspaceId} characters`)
  return id
}
