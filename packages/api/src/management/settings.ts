import type { Settings } from '@signalbox/core/management'
import { fromWire, settingsFields, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted } from './answers.ts'
import { nameWarnings, warningsView } from './name-warnings.ts'
import { resourceSchema } from './resource-schemas.ts'
import { reading, writing } from './rows.ts'

const settingsPath = '/v1/workspaces/:workspace_id/settings'

export const settingsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: settingsPath,
    client: 'settings.get',
    needs: ['workspace:read'],
    summary: 'Tell what the workspace demands of every call.',
    reply: 'Settings',
    handler: async (_, { settings }) => json(settingsView(await settings.get())),
  },
  {
    ...writing('PATCH'),
    path: settingsPath,
    client: 'settings.update',
    needs: ['workspace:write'],
    summary: 'Change what the workspace demands; null takes a demand away.',
    body: 'UpdateSettings',
    reply: 'Settings',
    handler: async (call, { settings }) =>
      accepted(settingsView(await settings.update(fromWire({ fields: settingsFields, mode: 'update' }, call.body)))),
  },
]

const settingsView = ({ warnings, ...settings }: Settings) => ({
  ...toReply(settingsFields, settings),
  warnings: warningsView(warnings, settingsFields),
})

export const settingsSchemas = () => ({
  Settings: resourceSchema(settingsFields, 'reply').extend({ warnings: nameWarnings() }),
  UpdateSettings: resourceSchema(settingsFields, 'update'),
})
