import { type ApiKey, apiKeyFields, fromWire, profileOf, rotateKeyFields, toReply } from '@signalbox/core/resources'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { accepted, listed, pages, propagationOf } from './answers.ts'
import { reading, writing } from './rows.ts'

const apiKeysPath = '/v1/workspaces/:workspace_id/api-keys'
const apiKeyPath = `${apiKeysPath}/:api_key_id`
const newApiKey = { fields: apiKeyFields, mode: 'create' } as const
const rotation = { fields: rotateKeyFields, mode: 'create' } as const
const apiKeyChange = { fields: apiKeyFields, mode: 'update' } as const

export const apiKeyRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: apiKeysPath,
    client: 'apiKeys.create',
    needs: ['keys:write'],
    summary: 'Create an API key. Its secret is returned only in this response.',
    body: 'CreateApiKey',
    input: newApiKey,
    reply: 'CreatedApiKey',
    errors: ['state_precondition_failed'],
    secret: true,
    async handler(call, { apiKeys }) {
      const { secret, ...key } = await apiKeys.create(fromWire(newApiKey, call.body))
      return accepted({ ...apiKeyView(key), api_key: secret, propagation_status: propagationOf(call.gateway) })
    },
  },
  {
    ...reading,
    path: apiKeysPath,
    client: 'apiKeys.list',
    needs: ['keys:read'],
    summary: 'List the API keys that are not revoked, oldest first.',
    query: [
      { name: 'include_revoked', description: 'Whether to include revoked keys. Default: false.', values: ['true', 'false'] },
      ...pages,
    ],
    reply: 'ApiKeyList',
    handler: (call, { apiKeys }) =>
      listed(call, {
        list: page => apiKeys.list({ ...page, includeRevoked: call.query.include_revoked === 'true' }),
        toView: apiKeyView,
      }),
  },
  {
    ...reading,
    path: apiKeyPath,
    client: 'apiKeys.get',
    needs: ['keys:read'],
    summary: 'Get an API key.',
    reply: 'ApiKey',
    handler: async (call, { apiKeys }) => json(apiKeyView(await apiKeys.get(apiKeyIdOf(call)))),
  },
  {
    ...writing('PATCH'),
    path: apiKeyPath,
    client: 'apiKeys.update',
    needs: ['keys:write'],
    summary: 'Change the name, rate limit, expiry or budget of an API key. null removes a value.',
    body: 'UpdateApiKey',
    input: apiKeyChange,
    reply: 'ApiKey',
    errors: ['state_precondition_failed'],
    handler: async (call, { apiKeys }) => accepted(apiKeyView(await apiKeys.update(apiKeyIdOf(call), fromWire(apiKeyChange, call.body)))),
  },
  {
    ...writing('POST'),
    path: `${apiKeyPath}/rotate`,
    client: 'apiKeys.rotate',
    needs: ['keys:write'],
    summary: 'Replace the secret of an API key. The new one is returned only in this response; the old one stays valid for a grace period.',
    body: 'RotateApiKey',
    input: rotation,
    reply: 'CreatedApiKey',
    errors: ['state_precondition_failed'],
    secret: true,
    async handler(call, { apiKeys }) {
      const { secret, ...key } = await apiKeys.rotate(apiKeyIdOf(call), fromWire(rotation, call.body))
      return accepted({ ...apiKeyView(key), api_key: secret, propagation_status: propagationOf(call.gateway) })
    },
  },
  {
    ...writing('DELETE'),
    path: apiKeyPath,
    client: 'apiKeys.revoke',
    needs: ['keys:write'],
    summary:
      'Revoke an API key and the keys created with it. They stop working everywhere within 30 seconds. Revoking a key twice changes nothing.',
    query: [
      {
        name: 'keep_made',
        description: 'Whether to keep the keys created with it; they move below the keys above it. Default: false.',
        values: ['true', 'false'],
      },
    ],
    reply: 'Acknowledgement',
    handler: revoke,
  },
]

async function revoke(call: Call, { apiKeys }: Parameters<WorkspaceRoute['handler']>[1]): Promise<ApiReply> {
  const { id } = await apiKeys.revoke(apiKeyIdOf(call), { keepMade: call.query.keep_made === 'true' })
  const propagation_status = propagationOf(call.gateway)
  const message =
    propagation_status === null ? 'The key is revoked.' : 'The key is revoked, and stops working everywhere within 30 seconds.'
  return accepted({ id, propagation_status, message })
}

const apiKeyIdOf = ({ params }: Call): string => params.api_key_id ?? ''

const apiKeyView = (key: ApiKey) => ({ ...toReply(apiKeyFields, key), profile: profileOf(key.scopes) })
