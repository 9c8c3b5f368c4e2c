import type { RoutingDefaultsRecord } from '@signalbox/core/management'
import { fromWire, routingDefaultsFields, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted } from './answers.ts'
import { nameWarnings, warningsView } from './name-warnings.ts'
import { resourceSchema } from './resource-schemas.ts'
import { reading, writing } from './rows.ts'

const routingDefaultsPath = '/v1/workspaces/:workspace_id/routing-defaults'

export const routingDefaultsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: routingDefaultsPath,
    client: 'routingDefaults.get',
    needs: ['routing:read'],
    summary: 'Tell how requests are routed that do not say so themselves.',
    reply: 'RoutingDefaults',
    handler: async (_, { routingDefaults }) => json(routingDefaultsView(await routingDefaults.get())),
  },
  {
    ...writing('PATCH'),
    path: routingDefaultsPath,
    client: 'routingDefaults.update',
    needs: ['routing:write'],
    summary: 'Change the routing defaults; null takes one away. `gateway.routing` of a request takes the same fields, and wins.',
    body: 'UpdateRoutingDefaults',
    reply: 'RoutingDefaults',
    handler: async (call, { routingDefaults }) =>
      accepted(routingDefaultsView(await routingDefaults.update(fromWire({ fields: routingDefaultsFields, mode: 'update' }, call.body)))),
  },
]

const routingDefaultsView = ({ warnings, ...defaults }: RoutingDefaultsRecord) => ({
  ...toReply(routingDefaultsFields, defaults),
  warnings: warningsView(warnings, routingDefaultsFields),
})

export const routingDefaultsSchemas = () => ({
  RoutingDefaults: resourceSchema(routingDefaultsFields, 'reply').extend({ warnings: nameWarnings() }),
  UpdateRoutingDefaults: resourceSchema(routingDefaultsFields, 'update'),
})
