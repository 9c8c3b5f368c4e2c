import { capabilities } from '@signalbox/core/protocol'
import { beta, type QueryParameter } from '../query.ts'
import type { Call, Route } from '../route.ts'
import { getModel, listModels } from './models.ts'

const filters: readonly QueryParameter[] = [
  { name: 'provider', description: 'Only what this provider sells.' },
  { name: 'capability', description: 'Only what can do this, as in `supports_…`.', values: capabilities },
  { name: 'author', description: 'Only what comes from this maker.' },
]

const pages: readonly QueryParameter[] = [
  { name: 'endpoint', description: 'Only models that this endpoint serves.', values: ['responses', 'chat_completions', 'messages'] },
  { name: 'limit', description: 'Models of a page. Default: all there are.', whole: { min: 1, max: 1000 } },
  { name: 'after_id', description: 'Go on after this id, as in `last_id` of the page before.' },
  { name: 'before_id', description: 'Go back before this id, as in `first_id` of the page before.' },
]

/** Clients of either vendor ask for models, each with the key where it has it. */
const callable = { method: 'GET', needs: 'any key', keyHeader: 'x-api-key', rate: 'reads', tier: 'stable', cache: 'private' } as const

const open = { method: 'GET', needs: 'nothing', rate: 'none', tier: 'preview', cache: 'public' } as const

/** The rows that read the gateway's directory of models and providers. */
export const catalogRoutes: readonly Route[] = [
  {
    ...callable,
    path: '/v1/models',
    client: 'models.list',
    summary: 'List the models that can be called.',
    query: [...pages, beta],
    reply: 'ModelList',
    errors: ['unknown_parameter', 'invalid_parameter_value'],
    handler: listModels,
  },
  {
    ...callable,
    path: '/v1/models/:model_id+',
    client: 'models.get',
    summary: 'Look up one model by its id or an alias. Ids may hold slashes.',
    query: [beta],
    reply: 'Model',
    errors: ['unknown_parameter', 'invalid_parameter_value', 'model_not_found'],
    handler: getModel,
  },
  {
    ...open,
    path: '/v1/registry/models',
    client: 'registry.models',
    summary: 'List all models with what they can do and who sells them.',
    query: [],
    reply: 'RegistryModelList',
    errors: ['unknown_parameter'],
    handler: async (call: Call) => (await import('./registry.ts')).registryModels(call),
  },
  {
    ...open,
    path: '/v1/registry/providers',
    client: 'registry.providers',
    summary: 'List the providers and what becomes of what they are sent. With filters: those that sell a model that fits.',
    query: filters,
    reply: 'RegistryProviderList',
    errors: ['unknown_parameter', 'invalid_parameter_value'],
    handler: async (call: Call) => (await import('./registry.ts')).registryProviders(call),
  },
  {
    ...open,
    path: '/v1/directory/models',
    client: 'directory.models',
    summary: 'List the models with all that is known of them, prices included.',
    query: filters,
    reply: 'DirectoryModelList',
    errors: ['unknown_parameter', 'invalid_parameter_value'],
    handler: async (call: Call) => (await import('./registry.ts')).directoryModels(call),
  },
  {
    ...open,
    path: '/v1/byok/providers',
    client: 'byokProviders.list',
    summary: 'List the providers for which a workspace can bring a key of its own.',
    query: [],
    reply: 'ByokProviderList',
    errors: ['unknown_parameter'],
    handler: async (call: Call) => (await import('./byok.ts')).byokProviders(call),
  },
  {
    ...open,
    path: '/v1/byok/providers/:provider/tiers',
    client: 'byokProviders.tiers',
    summary: 'List what an account at a provider can be: it decides on the data policy.',
    query: [],
    reply: 'ProviderTierList',
    errors: ['unknown_parameter', 'resource_not_found'],
    handler: async (call: Call) => (await import('./byok.ts')).providerTiers(call),
  },
]
