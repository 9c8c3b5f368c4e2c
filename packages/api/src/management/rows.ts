import type { WorkspaceRoute } from '../route.ts'

/** The common facts of all rows that read in a workspace. */
export const reading = {
  of: 'workspace',
  method: 'GET',
  rate: 'reads',
  tier: 'preview',
  query: [],
  errors: [],
} as const satisfies Partial<WorkspaceRoute>

/** The facts of rows whose work is the number of rows that a workspace has made. */
export const reporting = { ...reading, errors: ['concurrent_requests_exceeded'] } as const satisfies Partial<WorkspaceRoute>

export const writing = <M extends 'POST' | 'PATCH' | 'DELETE'>(method: M) =>
  ({ of: 'workspace', method, rate: 'writes', tier: 'preview', query: [], errors: [], status: 202 }) as const
