import { type Member, roles } from '@signalbox/core'
import * as z from 'zod'
import type { Call, WorkspaceRoute } from '../routes.ts'
import { accepted, dateTime, listed, pageSchema, pages } from './answers.ts'
import { bodyOf } from './fields.ts'
import { reading, writing } from './rows.ts'

const all = '/v1/workspaces/:workspace_id/members'
const one = `${all}/:member_id`

export const memberRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: all,
    needs: ['members:read'],
    summary: 'List the members in the order of their joining.',
    query: pages,
    reply: 'MemberList',
    handler: (call, { members }) => listed(call, { list: members.list, view: memberView }),
  },
  {
    ...writing('PATCH'),
    path: one,
    needs: ['members:write'],
    summary: 'Change the role of a member. The last owner stays one.',
    body: 'UpdateMember',
    immutable: ['email', 'name', 'joined_at'],
    reply: 'Member',
    errors: ['state_precondition_failed'],
    handler: async (call, { members }) => accepted(memberView(await members.update(idOf(call), bodyOf<typeof updateMember>(call)))),
  },
  {
    ...writing('DELETE'),
    path: one,
    needs: ['members:write'],
    summary: 'Remove a member. The last owner stays.',
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    async handler(call, { members }) {
      const { id } = await members.remove(idOf(call))
      return accepted({ id, propagation_status: null, message: 'The member is removed.' })
    },
  },
]

const idOf = ({ params }: Call): string => params.member_id ?? ''

export const memberView = ({ id, email, name, role, joinedAt }: Member) => ({ id, email, name, role, joined_at: dateTime(joinedAt) })

export const memberSchemas = () => ({
  Member: z.object(member()),
  MemberList: pageSchema(z.object(member())),
  UpdateMember: updateMember(),
})

export const roleSchema = () => z.enum(roles)

export const member = () => ({
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  role: roleSchema(),
  joined_at: z.iso.datetime(),
})

const updateMember = () => z.strictObject({ role: roleSchema().optional() })
