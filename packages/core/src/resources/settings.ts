import { dataPolicyDemands, dayMs } from '@signalbox/dialects/protocol'
import type { Endpoints } from './endpoint.ts'
import type { RecordOf, UpdateInput } from './fields.ts'

const names = { kind: 'list', of: { kind: 'string', min: 1, max: 255 }, max: 200, update: 'nullable', reply: 'nullable' } as const

/** The fields of the settings of a workspace: requirements for every request. */
export const settingsFields = {
  name: {
    kind: 'string',
    min: 1,
    max: 255,
    update: 'optional',
    reply: 'always',
    description: 'Name of the workspace.',
    example: 'Acme',
  },
  dataPolicyRequired: {
    kind: 'enum',
    values: dataPolicyDemands,
    update: 'nullable',
    reply: 'always',
    description: 'The least strict data policy that a provider may have.',
    example: 'no_training',
  },
  allowedProviders: { ...names, description: 'Providers that requests may use. null: all.', example: ['example'] },
  blockedProviders: { ...names, reply: 'always', description: 'Providers that requests must not use.', example: ['example'] },
  allowedModels: { ...names, description: 'Models that requests may use. null: all.', example: ['example/small'] },
  logRetentionDays: {
    kind: 'integer',
    min: 1,
    max: 365,
    update: 'nullable',
    reply: 'always',
    description: 'Days for which the request log is kept. Default: 365.',
    example: 30,
  },
  hedgeMaxExtraCost: {
    kind: 'usd',
    unsuffixed: true,
    min: 0,
    max: 1_000_000_000,
    update: 'nullable',
    reply: 'nullable',
    description: 'Maximum cost of a hedged second call, in USD. null: the default of the gateway.',
    example: 0.01,
  },
  ownKeysOnly: {
    kind: 'boolean',
    update: 'nullable',
    reply: 'always',
    description: 'Whether requests use only provider keys of the workspace, never those of the operator. Default: false.',
    example: false,
  },
} as const

const maxMs = dayMs

/** The fields of a workspace's routing defaults, used by requests that do not set them. */
export const routingDefaultsFields = {
  strategy: {
    kind: 'string',
    min: 1,
    max: 255,
    update: 'nullable',
    reply: 'nullable',
    description: 'Routing strategy: `balanced`, `cost`, `latency`, `throughput`, `availability`, `order`, or a custom one of the operator.',
    example: 'latency',
  },
  allowFallbacks: {
    kind: 'boolean',
    update: 'nullable',
    reply: 'nullable',
    description: 'Whether another provider may be tried after a failure.',
    example: true,
  },
  order: { ...names, description: 'Providers to try first, in this order.', example: ['example'] },
  only: { ...names, description: 'Providers that may be used. null: all.', example: ['example'] },
  ignore: { ...names, description: 'Providers that must not be used.', example: ['example'] },
  maxPrice: {
    kind: 'object',
    fields: {
      input: { kind: 'usd', unsuffixed: true, min: 0, update: 'optional', reply: 'optional', description: 'Price of input.', example: 3 },
      output: {
        kind: 'usd',
        unsuffixed: true,
        min: 0,
        update: 'optional',
        reply: 'optional',
        description: 'Price of output.',
        example: 15,
      },
    },
    update: 'nullable',
    reply: 'nullable',
    description: 'Maximum prices, in USD per million tokens.',
    example: { input: 3, output: 15 },
  },
  timeoutMs: {
    kind: 'integer',
    min: 1,
    max: maxMs,
    update: 'nullable',
    reply: 'nullable',
    description: 'Timeout of one attempt, in milliseconds.',
    example: 30_000,
  },
  deadlineMs: {
    kind: 'integer',
    min: 1,
    max: maxMs,
    update: 'nullable',
    reply: 'nullable',
    description: 'Timeout of the whole request, in milliseconds.',
    example: 60_000,
  },
  byokFirst: {
    kind: 'boolean',
    update: 'nullable',
    reply: 'nullable',
    description: 'Whether provider keys of the workspace are used before those of the operator.',
    example: true,
  },
} as const

/** The settings of a workspace. */
export interface SettingsRecord extends RecordOf<typeof settingsFields> {}
/** The input for changing the settings. null removes a requirement. */
export interface SettingsChange extends UpdateInput<typeof settingsFields> {}
/** The settings as they are stored. */
export interface WorkspaceSettings extends Partial<Omit<SettingsRecord, 'name'>> {}
/** How requests of a workspace are routed if they do not set these fields. */
export interface RoutingDefaults extends RecordOf<typeof routingDefaultsFields> {}
/** The input for changing the routing defaults. null removes a default. */
export interface RoutingDefaultsChange extends UpdateInput<typeof routingDefaultsFields> {}

/** The methods of `settings`. */
export const settingsEndpoints = {
  get: { route: ['GET', '/settings'], scopes: ['workspace:read'], summary: 'Get the settings of the workspace.', reply: 'Settings' },
  update: {
    route: ['PATCH', '/settings'],
    scopes: ['workspace:write'],
    summary: 'Change the settings of the workspace. null removes a setting.',
    body: 'UpdateSettings',
    input: { fields: settingsFields, mode: 'update' },
    reply: 'Settings',
  },
} as const satisfies Endpoints

/** The methods of `routingDefaults`. */
export const routingDefaultsEndpoints = {
  get: {
    route: ['GET', '/routing-defaults'],
    scopes: ['routing:read'],
    summary: 'Get the routing defaults, which apply to requests without routing options of their own.',
    reply: 'RoutingDefaults',
  },
  update: {
    route: ['PATCH', '/routing-defaults'],
    scopes: ['routing:write'],
    summary: 'Change the routing defaults. null removes one. `gateway.routing` of a request has the same fields and takes precedence.',
    body: 'UpdateRoutingDefaults',
    input: { fields: routingDefaultsFields, mode: 'update' },
    reply: 'RoutingDefaults',
  },
} as const satisfies Endpoints
