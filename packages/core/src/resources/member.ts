import type { Endpoints } from './endpoint.ts'
import type { CreateInput, RecordOf, UpdateInput } from './fields.ts'

/** The roles of members. */
export const roles = ['owner', 'admin', 'developer', 'viewer', 'billing'] as const
/** What a member may do in a workspace. */
export type Role = (typeof roles)[number]

const email = {
  kind: 'string',
  min: 3,
  max: 254,
  create: 'required',
  reply: 'always',
  description: 'E-mail address.',
  example: 'ada@example.com',
} as const
const role = {
  kind: 'enum',
  values: roles,
  create: 'required',
  update: 'optional',
  reply: 'always',
  description: 'Role of the member, which determines what the member may do.',
  example: 'developer',
} as const
const nameField = {
  kind: 'string',
  min: 1,
  max: 255,
  create: 'required',
  reply: 'always',
  description: 'Name of the member.',
  example: 'Ada',
} as const

/** The fields of a member of a workspace. */
export const memberFields = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the member.',
    example: '0199aa00-0000-7000-8000-000000000005',
  },
  email,
  name: nameField,
  role,
  joinedAt: {
    kind: 'time',
    immutable: true,
    reply: 'always',
    description: 'When the member joined.',
    example: '2026-11-01T09:30:00.000Z',
  },
} as const

/** The fields of an invite to a workspace. */
export const inviteFields = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the invite.',
    example: '0199aa00-0000-7000-8000-000000000006',
  },
  email,
  role,
  status: {
    kind: 'enum',
    values: ['pending', 'accepted', 'revoked', 'expired'],
    reply: 'always',
    description: 'Status of the invite. Only a pending invite can be accepted.',
    example: 'pending',
  },
  expiresAt: { kind: 'time', reply: 'always', description: 'When the invite expires.', example: '2026-11-08T09:30:00.000Z' },
} as const

/** The fields for accepting an invite. */
export const acceptanceFields = {
  token: {
    kind: 'string',
    min: 1,
    max: 255,
    create: 'required',
    description: 'The token of the invite.',
    example: 'inv_Jf0…',
  },
  name: nameField,
  requestId: { kind: 'string', create: 'optional', inProcess: true },
  ip: { kind: 'string', create: 'optional', inProcess: true },
} as const

/** A member of a workspace. */
export interface Member extends RecordOf<typeof memberFields> {}
/** The input for adding a member. */
export interface NewMember extends CreateInput<typeof memberFields> {}
/** The input for changing a member. */
export interface MemberChange extends UpdateInput<typeof memberFields> {}
/** An invite to a workspace, without its token. */
export interface Invite extends RecordOf<typeof inviteFields> {}
/** The input for creating an invite. */
export interface NewInvite extends CreateInput<typeof inviteFields> {}
/** The input for accepting an invite. `requestId` and `ip` are for the audit log. */
export interface Acceptance extends CreateInput<typeof acceptanceFields> {}

/** The methods of `members`. */
export const memberEndpoints = {
  list: {
    route: ['GET', '/members'],
    scopes: ['members:read'],
    summary: 'List the members in the order in which they joined.',
    reply: 'Member',
    page: { name: 'MemberList' },
  },
  add: { input: { fields: memberFields, mode: 'create' } },
  update: {
    route: ['PATCH', '/members/:member_id'],
    id: true,
    scopes: ['members:write'],
    summary: 'Change the role of a member. The last owner must stay an owner.',
    body: 'UpdateMember',
    input: { fields: memberFields, mode: 'update' },
    reply: 'Member',
    errors: ['state_precondition_failed'],
  },
  remove: {
    route: ['DELETE', '/members/:member_id'],
    id: true,
    scopes: ['members:write'],
    summary: 'Remove a member. The last owner cannot be removed.',
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    done: { message: 'The member is removed.', isImmediate: true },
  },
} as const satisfies Endpoints

/** The methods of `invites`. */
export const inviteEndpoints = {
  list: {
    route: ['GET', '/invites'],
    scopes: ['invites:read'],
    summary: 'List the invites, oldest first.',
    reply: 'Invite',
    page: { name: 'InviteList' },
  },
  create: {
    route: ['POST', '/invites'],
    scopes: ['invites:write'],
    summary: 'Create an invite, valid for 7 days. Its token is returned only in this response.',
    body: 'CreateInvite',
    input: { fields: inviteFields, mode: 'create' },
    reply: 'CreatedInvite',
    errors: ['duplicate_resource'],
    secret: true,
  },
  revoke: {
    route: ['DELETE', '/invites/:invite_id'],
    id: true,
    scopes: ['invites:write'],
    summary: 'Revoke a pending invite.',
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    done: { message: 'The invite is revoked.', isImmediate: true },
  },
} as const satisfies Endpoints
