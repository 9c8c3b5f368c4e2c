import type { LaidDownDefaults } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { WorkspaceRoute } from '../routes.ts'
import { accepted } from './answers.ts'
import { bodyOf, inCore, nameWarnings } from './fields.ts'
import { reading, writing } from './rows.ts'

const path = '/v1/workspaces/:workspace_id/routing-defaults'

export const routingDefaultsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path,
    needs: ['routing:read'],
    summary: 'Tell how requests are routed that do not say so themselves.',
    reply: 'RoutingDefaults',
    handler: async (_, { routingDefaults }) => json(view(await routingDefaults.get())),
  },
  {
    ...writing('PATCH'),
    path,
    needs: ['routing:write'],
    summary: 'Change the routing defaults; null takes one away. `gateway.routing` of a request takes the same fields, and wins.',
    body: 'UpdateRoutingDefaults',
    reply: 'RoutingDefaults',
    async handler(call, { routingDefaults }) {
      const { maxPrice, ...input } = bodyOf<typeof updateRoutingDefaults>(call)
      const defaults = await routingDefaults.update({ ...input, ...(maxPrice !== undefined && { maxPrice: maxPrice && inCore(maxPrice) }) })
      return accepted(view(defaults))
    },
  },
]

const view = (defaults: LaidDownDefaults) => ({
  strategy: defaults.strategy ?? null,
  allow_fallbacks: defaults.allowFallbacks ?? null,
  order: defaults.order ?? null,
  only: defaults.only ?? null,
  ignore: defaults.ignore ?? null,
  max_price: defaults.maxPrice ?? null,
  timeout_ms: defaults.timeoutMs ?? null,
  deadline_ms: defaults.deadlineMs ?? null,
  byok_first: defaults.byokFirst ?? null,
  warnings: defaults.warnings,
})

export const routingDefaultsSchemas = () => ({
  RoutingDefaults: routingDefaults(),
  UpdateRoutingDefaults: updateRoutingDefaults(),
})

const longestMs = 86_400_000
const providers = () => z.array(z.string().min(1).max(255)).max(200)
const maxPrice = () =>
  z
    .strictObject({ input: z.number().min(0).optional(), output: z.number().min(0).optional() })
    .meta({ description: 'USD per million tokens that an offer may cost at most.' })

const fields = () => ({
  strategy: z
    .string()
    .min(1)
    .max(255)
    .nullable()
    .meta({ description: '`balanced`, `cost`, `latency`, `throughput`, `availability`, `order`, or one of the operator’s own.' }),
  allow_fallbacks: z.boolean().nullable(),
  order: providers().nullable().meta({ description: 'Providers, asked first in this order.' }),
  only: providers().nullable(),
  ignore: providers().nullable(),
  max_price: maxPrice().nullable(),
  timeout_ms: z.int().min(1).max(longestMs).nullable().meta({ description: 'Ceiling of one attempt.' }),
  deadline_ms: z.int().min(1).max(longestMs).nullable().meta({ description: 'Ceiling of the whole request.' }),
  byok_first: z.boolean().nullable().meta({ description: 'Keys of the workspace’s own go before those of the service.' }),
})

const routingDefaults = () => z.object({ ...fields(), warnings: nameWarnings() })
const updateRoutingDefaults = () => z.strictObject(fields()).partial()
