import { fromWire, type Member, memberFields, toReply } from '@signalbox/core/resources'
import type { Call, WorkspaceRoute } from '../route.ts'
import { accepted, listed, pages } from './answers.ts'
import { reading, writing } from './rows.ts'

const membersPath = '/v1/workspaces/:workspace_id/members'
const memberPath = `${membersPath}/:member_id`
const memberChange = { fields: memberFields, mode: 'update' } as const

export const memberRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: membersPath,
    client: 'members.list',
    needs: ['members:read'],
    summary: 'List the members in the order in which they joined.',
    query: pages,
    reply: 'MemberList',
    handler: (call, { members }) => listed(call, { list: members.list, toView: memberView }),
  },
  {
    ...writing('PATCH'),
    path: memberPath,
    client: 'members.update',
    needs: ['members:write'],
    summary: 'Change the role of a member. The last owner must stay an owner.',
    body: 'UpdateMember',
    input: memberChange,
    reply: 'Member',
    errors: ['state_precondition_failed'],
    handler: async (call, { members }) => accepted(memberView(await members.update(memberIdOf(call), fromWire(memberChange, call.body)))),
  },
  {
    ...writing('DELETE'),
    path: memberPath,
    client: 'members.remove',
    needs: ['members:write'],
    summary: 'Remove a member. The last owner cannot be removed.',
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    async handler(call, { members }) {
      const { id } = await members.remove(memberIdOf(call))
      return accepted({ id, propagation_status: null, message: 'The member is removed.' })
    },
  },
]

const memberIdOf = ({ params }: Call): string => params.member_id ?? ''

const memberView = (member: Member) => toReply(memberFields, member)
