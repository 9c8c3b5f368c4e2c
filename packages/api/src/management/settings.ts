import type { Settings } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { WorkspaceRoute } from '../routes.ts'
import { accepted } from './answers.ts'
import { bodyOf, nameWarnings } from './fields.ts'
import { reading, writing } from './rows.ts'

const path = '/v1/workspaces/:workspace_id/settings'

export const settingsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path,
    needs: ['workspace:read'],
    summary: 'Tell what the workspace demands of every call.',
    reply: 'Settings',
    handler: async (_, { settings }) => json(view(await settings.get())),
  },
  {
    ...writing('PATCH'),
    path,
    needs: ['workspace:write'],
    summary: 'Change what the workspace demands; null takes a demand away.',
    body: 'UpdateSettings',
    reply: 'Settings',
    handler: async (call, { settings }) => accepted(view(await settings.update(bodyOf<typeof updateSettings>(call)))),
  },
]

const view = (settings: Settings) => ({
  name: settings.name,
  data_policy_required: settings.dataPolicyRequired,
  allowed_providers: settings.allowedProviders ?? null,
  blocked_providers: settings.blockedProviders ?? [],
  allowed_models: settings.allowedModels ?? null,
  log_retention_days: settings.logRetentionDays,
  hedge_max_extra_cost: settings.hedgeMaxExtraCost ?? null,
  own_keys_only: settings.ownKeysOnly ?? false,
  warnings: settings.warnings,
})

export const settingsSchemas = () => ({
  Settings: settings(),
  UpdateSettings: updateSettings(),
})

const names = () => z.array(z.string().min(1).max(255)).max(200)
const policy = () =>
  z.enum(['any', 'no_training', 'zdr']).meta({ description: 'How providers may deal with what they are sent, at the least strict.' })
const retention = () => z.int().min(1).max(365).meta({ description: 'Days for which the request log is kept.' })
const hedgeCost = () => z.number().min(0).max(1000).meta({ description: 'USD that a second call beside a silent one may cost.' })

const ownKeysOnly = () =>
  z.boolean().meta({ description: 'Calls go out with provider keys of the workspace alone, never with credentials of the operator.' })

const updateSettings = () =>
  z.strictObject({
    name: z.string().min(1).max(255).optional(),
    data_policy_required: policy().nullable().optional(),
    allowed_providers: names().nullable().optional(),
    blocked_providers: names().nullable().optional(),
    allowed_models: names().nullable().optional(),
    log_retention_days: retention().nullable().optional(),
    hedge_max_extra_cost: hedgeCost().nullable().optional(),
    own_keys_only: ownKeysOnly().nullable().optional(),
  })

const settings = () =>
  z.object({
    name: z.string(),
    data_policy_required: policy(),
    allowed_providers: names().nullable().meta({ description: 'null: all.' }),
    blocked_providers: names(),
    allowed_models: names().nullable().meta({ description: 'null: all.' }),
    log_retention_days: retention(),
    hedge_max_extra_cost: hedgeCost().nullable().meta({ description: 'null: as the gateway says.' }),
    own_keys_only: ownKeysOnly(),
    warnings: nameWarnings(),
  })
