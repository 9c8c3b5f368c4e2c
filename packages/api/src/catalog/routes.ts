import { capabilities } from '@signalbox/dialects/protocol'
import type { Caller } from '@signalbox/gateway'
import { beta, type QueryParameter } from '../query.ts'
import type { Call, Route } from '../route.ts'

const filters: readonly QueryParameter[] = [
  { name: 'provider', description: 'Only models that this provider offers.' },
  { name: 'capability', description: 'Only models with this capability, as in `supports_…`.', values: capabilities },
  { name: 'author', description: 'Only models of this author.' },
]

const pages: readonly QueryParameter[] = [
  { name: 'endpoint', description: 'Only models that this endpoint serves.', values: ['responses', 'chat_completions', 'messages'] },
  { name: 'limit', description: 'Number of models per page. Default: all.', whole: { min: 1, max: 1000 } },
  { name: 'after_id', description: 'Id of the model to continue after: `last_id` of the previous page.' },
  { name: 'before_id', description: 'Id of the model to go back from: `first_id` of the next page.' },
]

/** Clients of both APIs list models, each with the key in its own header. */
const callable = { method: 'GET', needs: 'any key', keyHeader: 'x-api-key', rate: 'reads', tier: 'stable', cache: 'private' } as const

const open = { method: 'GET', needs: 'nothing', rate: 'none', tier: 'preview', cache: 'public' } as const

/** The rows that read the gateway's models and providers. */
export const catalogRoutes: readonly Route[] = [
  {
    ...callable,
    path: '/v1/models',
    client: 'models.list',
    summary: 'List the models that can be called.',
    query: [...pages, beta],
    reply: 'ModelList',
    errors: ['invalid_parameter_value'],
    handler: async (call: Call, caller: Caller) => (await import('../lazy-imports.ts')).listModels(call, caller),
  },
  {
    ...callable,
    path: '/v1/models/:model_id+',
    client: 'models.get',
    summary: 'Get a model by its id or an alias. Ids may contain slashes.',
    query: [beta],
    reply: 'Model',
    errors: ['invalid_parameter_value', 'model_not_found'],
    handler: async (call: Call, caller: Caller) => (await import('../lazy-imports.ts')).getModel(call, caller),
  },
  {
    ...open,
    path: '/v1/registry/models',
    client: 'registry.models',
    summary: 'List all models with their capabilities and providers.',
    query: [],
    reply: 'RegistryModelList',
    errors: [],
    handler: async (call: Call) => (await import('../lazy-imports.ts')).registryModels(call),
  },
  {
    ...open,
    path: '/v1/registry/providers',
    client: 'registry.providers',
    summary: 'List the providers with their data policies. With filters, only providers that offer a matching model.',
    query: filters,
    reply: 'RegistryProviderList',
    errors: ['invalid_parameter_value'],
    handler: async (call: Call) => (await import('../lazy-imports.ts')).registryProviders(call),
  },
  {
    ...open,
    path: '/v1/directory/models',
    client: 'directory.models',
    summary: 'List the models with all their details, including prices.',
    query: filters,
    reply: 'DirectoryModelList',
    errors: ['invalid_parameter_value'],
    handler: async (call: Call) => (await import('../lazy-imports.ts')).directoryModels(call),
  },
  {
    ...open,
    path: '/v1/byok/providers',
    client: 'byokProviders.list',
    summary: 'List the providers for which a workspace can add its own keys.',
    query: [],
    reply: 'ByokProviderList',
    errors: [],
    handler: async (call: Call) => (await import('../lazy-imports.ts')).byokProviders(call),
  },
  {
    ...open,
    path: '/v1/byok/providers/:provider/tiers',
    client: 'byokProviders.tiers',
    summary: 'List the account tiers of a provider, which determine its data policy.',
    query: [],
    reply: 'ProviderTierList',
    errors: ['resource_not_found'],
    handler: async (call: Call) => (await import('../lazy-imports.ts')).providerTiers(call),
  },
]
