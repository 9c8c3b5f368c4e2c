import { fromWire, settingsFields, toReply } from '@signalbox/core/resources'
import type { Settings } from '@signalbox/workspaces'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted } from './answers.ts'
import { warningsView } from './name-warnings.ts'
import { reading, writing } from './rows.ts'

const settingsPath = '/v1/workspaces/:workspace_id/settings'
const settingsChange = { fields: settingsFields, mode: 'update' } as const

export const settingsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: settingsPath,
    client: 'settings.get',
    needs: ['workspace:read'],
    summary: 'Get the settings of the workspace.',
    reply: 'Settings',
    handler: async (_, { settings }) => json(settingsView(await settings.get())),
  },
  {
    ...writing('PATCH'),
    path: settingsPath,
    client: 'settings.update',
    needs: ['workspace:write'],
    summary: 'Change the settings of the workspace. null removes a setting.',
    body: 'UpdateSettings',
    input: settingsChange,
    reply: 'Settings',
    handler: async (call, { settings }) => accepted(settingsView(await settings.update(fromWire(settingsChange, call.body)))),
  },
]

const settingsView = ({ warnings, ...settings }: Settings) => ({
  ...toReply(settingsFields, settings),
  warnings: warningsView(warnings, settingsFields),
})
