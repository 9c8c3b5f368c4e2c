import { subscriptionFields, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { reading } from './rows.ts'

export const subscriptionRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: '/v1/workspaces/:workspace_id/subscription',
    client: 'subscription.get',
    needs: ['billing:read'],
    summary: 'Get the plan of the workspace.',
    reply: 'Subscription',
    handler: async (_, { subscription }) => json(toReply(subscriptionFields, await subscription.get())),
  },
]
