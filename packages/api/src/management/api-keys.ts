import { type ApiKey, profileOf, scopes } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { ApiReply } from '../exchange.ts'
import type { Call, WorkspaceRoute } from '../routes.ts'
import { accepted, dateTime, listed, pageSchema, pages, propagationOf } from './answers.ts'
import { bodyOf, inCore } from './fields.ts'
import { reading, writing } from './rows.ts'

const all = '/v1/workspaces/:workspace_id/api-keys'
const one = `${all}/:api_key_id`

export const apiKeyRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: all,
    needs: ['keys:write'],
    summary: 'Create an API key. The secret is in this answer, and nowhere else ever after.',
    body: 'CreateApiKey',
    reply: 'CreatedApiKey',
    errors: ['state_precondition_failed'],
    secret: true,
    async handler(call, { apiKeys }) {
      const { budget, expiresAt, keyType: _, ...input } = bodyOf<typeof createApiKey>(call)
      const { secret, ...key } = await apiKeys.create({
        ...input,
        ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
        ...(budget !== undefined && { budget: inCore(budget) }),
      })
      return accepted({ ...view(key), api_key: secret, propagation_status: propagationOf(call.gateway) })
    },
  },
  {
    ...reading,
    path: all,
    needs: ['keys:read'],
    summary: 'List the API keys in the order of their making, without those that are revoked.',
    query: [{ name: 'include_revoked', description: 'Those that are revoked too. Default: false.', values: ['true', 'false'] }, ...pages],
    reply: 'ApiKeyList',
    handler: (call, { apiKeys }) =>
      listed(call, { list: page => apiKeys.list({ ...page, includeRevoked: call.query.include_revoked === 'true' }), view }),
  },
  {
    ...reading,
    path: one,
    needs: ['keys:read'],
    summary: 'Look up one API key.',
    reply: 'ApiKey',
    handler: async (call, { apiKeys }) => json(view(await apiKeys.get(idOf(call)))),
  },
  {
    ...writing('PATCH'),
    path: one,
    needs: ['keys:write'],
    summary: 'Change the name, the limit, the expiry or the budget of an API key; null takes away.',
    body: 'UpdateApiKey',
    immutable: ['scopes', 'key_type'],
    reply: 'ApiKey',
    errors: ['state_precondition_failed'],
    async handler(call, { apiKeys }) {
      const { budget, expiresAt, ...input } = bodyOf<typeof updateApiKey>(call)
      const key = await apiKeys.update(idOf(call), {
        ...input,
        ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
        ...(budget !== undefined && { budget: budget === null ? null : inCore(budget) }),
      })
      return accepted(view(key))
    },
  },
  {
    ...writing('DELETE'),
    path: one,
    needs: ['keys:write'],
    summary:
      'Revoke an API key. It stops working within 60 seconds everywhere, and so do the keys made with it; a second time changes nothing.',
    query: [
      {
        name: 'keep_made',
        description: 'The keys made with it go on, below the keys above it. Default: false.',
        values: ['true', 'false'],
      },
    ],
    reply: 'Acknowledgement',
    errors: ['state_precondition_failed'],
    handler: revoke,
  },
]

async function revoke(call: Call, { apiKeys }: Parameters<WorkspaceRoute['handler']>[1]): Promise<ApiReply> {
  const { id } = await apiKeys.revoke(idOf(call), { keepMade: call.query.keep_made === 'true' })
  const propagation_status = propagationOf(call.gateway)
  const message =
    propagation_status === null ? 'The key is revoked.' : 'The key is revoked, and stops working everywhere within 60 seconds.'
  return accepted({ id, propagation_status, message })
}

const idOf = ({ params }: Call): string => params.api_key_id ?? ''

const view = (key: ApiKey) => ({
  id: key.id,
  workspace_id: key.workspaceId,
  name: key.name,
  key_prefix: key.prefix,
  profile: profileOf(key.scopes),
  scopes: key.scopes,
  is_active: key.isActive,
  created_at: dateTime(key.createdAt),
  rate_limit_rpm: key.rateLimitRpm,
  expires_at: dateTime(key.expiresAt),
  last_used_at: dateTime(key.lastUsedAt),
  created_by_key_id: key.createdBy,
})

export const apiKeySchemas = () => ({
  CreateApiKey: createApiKey(),
  UpdateApiKey: updateApiKey(),
  ApiKey: apiKey(),
  CreatedApiKey: apiKey().extend({
    api_key: z.string().meta({ description: 'The secret. It is shown this once.' }),
    propagation_status: z.literal('pending').nullable(),
  }),
  ApiKeyList: pageSchema(apiKey()),
})

const name = () => z.string().min(1).max(255)
const rateLimit = () => z.int().min(1).meta({ description: 'Requests a minute, in all and of each model.' })
const expiry = () => z.iso.datetime().meta({ description: 'In the future; from then on the key is not valid.' })

const budget = () =>
  z.strictObject({
    limit_usd: z.number().positive(),
    enforce: z.boolean().optional(),
    include_byok: z.boolean().optional(),
  })

const createApiKey = () =>
  z.strictObject({
    name: name(),
    key_type: z.literal('api').optional(),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Scopes that the key in use has too. Default: `inference:invoke`.' }),
    rate_limit_rpm: rateLimit().optional(),
    expires_at: expiry().optional(),
    budget: budget().optional(),
  })

const updateApiKey = () =>
  z.strictObject({
    name: name().optional(),
    rate_limit_rpm: rateLimit().nullable().optional(),
    expires_at: expiry().nullable().optional(),
    budget: budget().partial().nullable().optional(),
  })

const apiKey = () =>
  z.object({
    id: z.uuid(),
    workspace_id: z.string(),
    name: z.string(),
    key_prefix: z.string(),
    profile: z.enum(['inference', 'management', 'mixed']),
    scopes: z.array(z.string()),
    is_active: z.boolean(),
    created_at: z.iso.datetime(),
    rate_limit_rpm: z.int().optional(),
    expires_at: z.iso.datetime().optional(),
    last_used_at: z.iso.datetime().optional(),
    created_by_key_id: z.string().optional(),
  })
