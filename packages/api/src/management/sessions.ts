import { fromWire, type Session, sessionFields, toReply } from '@signalbox/core/resources'
import type { WorkspaceRoute } from '../route.ts'
import { accepted, listed, pages, propagationOf } from './answers.ts'
import { reading, writing } from './rows.ts'

const sessionsPath = '/v1/workspaces/:workspace_id/sessions'
const newSession = { fields: sessionFields, mode: 'create' } as const

export const sessionRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: sessionsPath,
    client: 'sessions.create',
    needs: ['keys:write'],
    summary: 'Create a session of a user. Its token is returned only in this response.',
    body: 'CreateSession',
    input: newSession,
    reply: 'CreatedSession',
    errors: ['state_precondition_failed'],
    secret: true,
    handler: async (call, { sessions }) => {
      const { token, ...session } = await sessions.create(fromWire(newSession, call.body))
      return accepted({ ...sessionView(session), token })
    },
  },
  {
    ...reading,
    path: sessionsPath,
    client: 'sessions.list',
    needs: ['keys:read'],
    summary: 'List the sessions that have not expired, oldest first.',
    query: [{ name: 'user', description: 'Only sessions of this user.' }, ...pages],
    reply: 'SessionList',
    handler: (call, { sessions }) => {
      const { user } = call.query
      return listed(call, {
        list: page => sessions.list({ ...page, ...(user !== undefined && { user }) }),
        toView: sessionView,
      })
    },
  },
  {
    ...writing('DELETE'),
    path: `${sessionsPath}/:session_id`,
    client: 'sessions.revoke',
    needs: ['keys:write'],
    summary: 'Revoke a session. Its token stops working everywhere within 30 seconds.',
    reply: 'Acknowledgement',
    handler: async (call, { sessions }) => {
      const { id } = await sessions.revoke(call.params.session_id ?? '')
      return accepted({ id, propagation_status: propagationOf(call.gateway), message: 'The session is revoked.' })
    },
  },
]

const sessionView = (session: Session) => toReply(sessionFields, session)
