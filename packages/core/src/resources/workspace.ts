import type { Endpoints } from './endpoint.ts'
import type { CreateInput } from './fields.ts'
import { acceptanceFields } from './member.ts'

/** The fields of a new workspace. Not available over HTTP. */
const workspaceFields = {
  id: { kind: 'string', create: 'optional' },
  name: { kind: 'string', min: 1, max: 255, create: 'required' },
  billing: { kind: 'enum', values: ['prepaid', 'postpaid'], create: 'optional' },
} as const

const limit = { kind: 'integer', min: 1, update: 'nullable' } as const

/** The fields of the limits of a workspace. Not available over HTTP. */
export const workspaceLimitFields = { requestsPerMinute: limit, tokensPerMinute: limit, concurrentRequests: limit } as const

/** The input for creating a workspace. `billing`: `prepaid` (the default) needs credit, `postpaid` only records usage. */
export interface NewWorkspace extends CreateInput<typeof workspaceFields> {}

/** The methods of `limits`, which are not available over HTTP. */
export const limitEndpoints = {
  get: {},
  update: { input: { fields: workspaceLimitFields, mode: 'update' } },
} as const satisfies Endpoints

/** The methods of `gateway.workspaces` itself, which are not available over HTTP. */
export const workspaceEndpoints = {
  create: { input: { fields: workspaceFields, mode: 'create' } },
  acceptInvite: { input: { fields: acceptanceFields, mode: 'create' } },
  list: { page: { name: 'WorkspaceList' } },
} as const satisfies Endpoints
