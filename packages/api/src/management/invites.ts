import { acceptanceFields, fromWire, type Invite, inviteFields, memberFields, toReply } from '@signalbox/core/resources'
import type { Call, PublicRoute, WorkspaceRoute } from '../route.ts'
import { accepted, listed, pages } from './answers.ts'
import { reading, writing } from './rows.ts'

const invitesPath = '/v1/workspaces/:workspace_id/invites'
const newInvite = { fields: inviteFields, mode: 'create' } as const
const acceptance = { fields: acceptanceFields, mode: 'create' } as const

export const inviteRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: invitesPath,
    client: 'invites.list',
    needs: ['invites:read'],
    summary: 'List the invites, oldest first.',
    query: pages,
    reply: 'InviteList',
    handler: (call, { invites }) => listed(call, { list: invites.list, toView: inviteView }),
  },
  {
    ...writing('POST'),
    path: invitesPath,
    client: 'invites.create',
    needs: ['invites:write'],
    summary: 'Create an invite, valid for 7 days. Its token is returned only in this response.',
    body: 'CreateInvite',
    input: newInvite,
    reply: 'CreatedInvite',
    errors: ['duplicate_resource'],
    secret: true,
    async handler(call, { invites }) {
      const { token, ...invite } = await invites.create(fromWire(newInvite, call.body))
      return accepted({ ...inviteView(invite), token })
    },
  },
  {
    ...writing('DELETE'),
    path: `${invitesPath}/:invite_id`,
    client: 'invites.revoke',
    needs: ['invites:write'],
    summary: 'Revoke a pending invite.',
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    async handler(call, { invites }) {
      const { id } = await invites.revoke(call.params.invite_id ?? '')
      return accepted({ id, propagation_status: null, message: 'The invite is revoked.' })
    },
  },
]

/** The token authorizes it, no key is needed. */
export const acceptInviteRoute: PublicRoute = {
  method: 'POST',
  path: '/v1/invites/accept',
  client: 'invites.accept',
  needs: 'nothing',
  rate: 'none',
  tier: 'preview',
  summary: 'Accept an invite: the holder of its token becomes a member.',
  query: [],
  body: 'AcceptInvite',
  input: acceptance,
  status: 202,
  reply: 'AcceptedInvite',
  errors: ['resource_not_found', 'duplicate_resource', 'state_precondition_failed'],
  async handler(call: Call) {
    const member = await call.gateway.workspaces.acceptInvite({
      ...fromWire(acceptance, call.body),
      requestId: call.requestId,
      ...(call.request.ip !== undefined && { ip: call.request.ip }),
    })
    return accepted({ ...toReply(memberFields, member), workspace_id: member.workspaceId })
  },
}

const inviteView = (invite: Invite) => toReply(inviteFields, invite)
