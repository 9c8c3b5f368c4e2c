import type { CreateInput } from './fields.ts'

/** The fields of a new workspace. Not available over HTTP. */
export const workspaceFields = {
  id: { kind: 'string', create: 'optional' },
  name: { kind: 'string', min: 1, max: 255, create: 'required' },
  billing: { kind: 'enum', values: ['prepaid', 'postpaid'], create: 'optional' },
} as const

const limit = { kind: 'integer', min: 1, update: 'nullable' } as const

/** The fields of the limits of a workspace. Not available over HTTP. */
export const workspaceLimitFields = { requestsPerMinute: limit, tokensPerMinute: limit, concurrentRequests: limit } as const

/** The input for creating a workspace. `billing`: `prepaid` (the default) needs credit, `postpaid` only records usage. */
export interface NewWorkspace extends CreateInput<typeof workspaceFields> {}
