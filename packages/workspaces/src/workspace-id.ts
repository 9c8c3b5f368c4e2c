import { invalidValueError } from '@signalbox/core/resources'

const maxWorkspaceId = 255

/** Throws for an invalid workspace id: without one, a list would include all workspaces. */
export function checkWorkspaceId(id: string): string {
  if (typeof id !== 'string' || id === '' || id.length > maxWorkspaceId || id.includes('\0') || !id.isWellFormed())
    throw invalidValueError('workspaceId', id, `the id of a workspace, 1 to ${maxWorkspaceId} characters without NUL and lone surrogates`)
  return id
}
