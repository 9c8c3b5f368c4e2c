import type { Invite } from '@signalbox/core'
import * as z from 'zod'
import type { Call, PublicRoute, WorkspaceRoute } from '../routes.ts'
import { accepted, dateTime, listed, pageSchema, pages } from './answers.ts'
import { bodyOf } from './fields.ts'
import { member, memberView, roleSchema } from './members.ts'
import { reading, writing } from './rows.ts'

const all = '/v1/workspaces/:workspace_id/invites'

export const inviteRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: all,
    needs: ['invites:read'],
    summary: 'List the invites in the order of their making.',
    query: pages,
    reply: 'InviteList',
    handler: (call, { invites }) => listed(call, { list: invites.list, view }),
  },
  {
    ...writing('POST'),
    path: all,
    needs: ['invites:write'],
    summary: 'Invite somebody, for 7 days. The token is in this answer, and nowhere else ever after.',
    body: 'CreateInvite',
    reply: 'CreatedInvite',
    errors: ['duplicate_resource'],
    secret: true,
    async handler(call, { invites }) {
      const { token, ...invite } = await invites.create(bodyOf<typeof createInvite>(call))
      return accepted({ ...view(invite), token })
    },
  },
  {
    ...writing('DELETE'),
    path: `${all}/:invite_id`,
    needs: ['invites:write'],
    summary: 'Revoke an invite that was not accepted yet.',
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    async handler(call, { invites }) {
      const { id } = await invites.revoke(call.params.invite_id ?? '')
      return accepted({ id, propagation_status: null, message: 'The invite is revoked.' })
    },
  },
]

/** Whoever has the token is asked for no key. */
export const acceptInviteRoute: PublicRoute = {
  method: 'POST',
  path: '/v1/invites/accept',
  needs: 'nothing',
  rate: 'none',
  tier: 'preview',
  summary: 'Become a member by the token of an invite.',
  query: [],
  body: 'AcceptInvite',
  strict: true,
  status: 202,
  reply: 'AcceptedInvite',
  errors: ['resource_not_found', 'duplicate_resource', 'state_precondition_failed'],
  async handler(call: Call) {
    const member = await call.gateway.workspaces.acceptInvite({
      ...bodyOf<typeof acceptInvite>(call),
      requestId: call.requestId,
      ...(call.request.ip !== undefined && { ip: call.request.ip }),
    })
    return accepted({ ...memberView(member), workspace_id: member.workspaceId })
  },
}

const view = ({ id, email, role, status, expiresAt }: Invite) => ({ id, email, role, status, expires_at: dateTime(expiresAt) })

export const inviteSchemas = () => ({
  Invite: invite(),
  InviteList: pageSchema(invite()),
  CreateInvite: createInvite(),
  CreatedInvite: invite().extend({ token: z.string().meta({ description: 'The proof. It is shown this once.' }) }),
  AcceptInvite: acceptInvite(),
  AcceptedInvite: z.object({ ...member(), workspace_id: z.string() }),
})

const createInvite = () => z.strictObject({ email: z.string().min(3).max(254), role: roleSchema() })
const acceptInvite = () => z.strictObject({ token: z.string().min(1).max(255), name: z.string().min(1).max(255) })

const invite = () =>
  z.object({
    id: z.uuid(),
    email: z.string(),
    role: roleSchema(),
    status: z.enum(['pending', 'accepted', 'revoked', 'expired']),
    expires_at: z.iso.datetime(),
  })
