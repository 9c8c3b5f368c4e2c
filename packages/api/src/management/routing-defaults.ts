import { fromWire, routingDefaultsFields, toReply } from '@signalbox/core/resources'
import type { RoutingDefaultsRecord } from '@signalbox/workspaces'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted } from './answers.ts'
import { warningsView } from './name-warnings.ts'
import { reading, writing } from './rows.ts'

const routingDefaultsPath = '/v1/workspaces/:workspace_id/routing-defaults'
const routingDefaultsChange = { fields: routingDefaultsFields, mode: 'update' } as const

export const routingDefaultsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: routingDefaultsPath,
    client: 'routingDefaults.get',
    needs: ['routing:read'],
    summary: 'Get the routing defaults, which apply to requests without routing options of their own.',
    reply: 'RoutingDefaults',
    handler: async (_, { routingDefaults }) => json(routingDefaultsView(await routingDefaults.get())),
  },
  {
    ...writing('PATCH'),
    path: routingDefaultsPath,
    client: 'routingDefaults.update',
    needs: ['routing:write'],
    summary: 'Change the routing defaults. null removes one. `gateway.routing` of a request has the same fields and takes precedence.',
    body: 'UpdateRoutingDefaults',
    input: routingDefaultsChange,
    reply: 'RoutingDefaults',
    handler: async (call, { routingDefaults }) =>
      accepted(routingDefaultsView(await routingDefaults.update(fromWire(routingDefaultsChange, call.body)))),
  },
]

const routingDefaultsView = ({ warnings, ...defaults }: RoutingDefaultsRecord) => ({
  ...toReply(routingDefaultsFields, defaults),
  warnings: warningsView(warnings, routingDefaultsFields),
})
