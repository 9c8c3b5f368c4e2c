import type { Endpoints } from './endpoint.ts'
import type { CreateInput, RecordOf, UpdateInput } from './fields.ts'

/** The fields of a provider key of a workspace (BYOK: bring your own key). */
export const byokKeyFields = {
  id: { kind: 'string', format: 'uuid', reply: 'always', description: 'Id of the key.', example: '0199aa00-0000-7000-8000-000000000004' },
  workspaceId: { kind: 'string', reply: 'always', description: 'The workspace that the key belongs to.', example: 'acme' },
  provider: {
    kind: 'string',
    create: 'required',
    reply: 'always',
    description: 'Id of the provider, as in `GET /v1/byok/providers`.',
    example: 'example',
  },
  apiKey: {
    kind: 'string',
    create: 'required',
    update: 'optional',
    description: 'The API key of the provider. It is never returned.',
    example: 'sk-…',
  },
  name: {
    kind: 'string',
    min: 1,
    max: 255,
    create: 'required',
    update: 'optional',
    reply: 'always',
    description: 'Name of the key.',
    example: 'production',
  },
  keyPrefix: { kind: 'string', reply: 'always', description: 'First characters of the secret.', example: 'sk-proj…' },
  isDefault: {
    kind: 'boolean',
    create: 'optional',
    update: 'optional',
    reply: 'always',
    description:
      'Whether this is the default key of its provider, which requests use first, before its other keys in order of creation. true replaces the current default; false is refused for the default key.',
    example: true,
  },
  disabled: {
    kind: 'boolean',
    update: 'optional',
    reply: 'always',
    description: 'Whether the key is disabled. Requests do not use a disabled key.',
    example: false,
  },
  validationStatus: {
    kind: 'enum',
    values: ['valid', 'pending', 'invalid', 'error'],
    reply: 'always',
    description: 'Whether the provider accepts the key. `error`: the check could not be completed.',
    example: 'valid',
  },
  createdAt: { kind: 'time', reply: 'always', description: 'When the key was created.', example: '2026-11-01T09:30:00.000Z' },
  updatedAt: { kind: 'time', reply: 'always', description: 'When the key was last changed.', example: '2026-11-01T09:30:00.000Z' },
  accountTier: {
    kind: 'string',
    create: 'optional',
    update: 'nullable',
    reply: 'optional',
    description: 'Account tier, as in `GET /v1/byok/providers/{provider}/tiers`. Default: detected from responses of the provider.',
    example: 'tier-2',
  },
  accountTierSource: {
    kind: 'enum',
    values: ['auto_detected', 'user_specified', 'fallback'],
    reply: 'nullable',
    description: 'How the tier was determined. `fallback`: the lowest tier, until a response of the provider shows another.',
    example: 'auto_detected',
  },
  lastValidatedAt: {
    kind: 'time',
    reply: 'nullable',
    description: 'When the key was last validated with its provider. null: never.',
    example: '2026-11-01T09:30:02.000Z',
  },
  extra: {
    kind: 'map',
    create: 'optional',
    description: 'Details of the account that some providers need: `region`, `resource`, `project`, `location`, `account_id`.',
    example: { region: 'eu-central-1' },
  },
} as const

/** A provider key of a workspace, without its secret. Times are Unix milliseconds. */
export interface ByokKey extends RecordOf<typeof byokKeyFields> {
  readonly extra?: Readonly<Record<string, string>>
}
/** The input for creating a provider key. */
export interface NewByokKey extends CreateInput<typeof byokKeyFields> {}
/** The input for changing a provider key. `apiKey` replaces the secret, which is then validated again. */
export interface ByokKeyChange extends UpdateInput<typeof byokKeyFields> {}

/** The methods of `byokKeys`. */
export const byokKeyEndpoints = {
  create: {
    route: ['POST', '/byok-keys'],
    scopes: ['byok:write'],
    summary: 'Add a provider key of the workspace. It is validated in the background; the first key of a provider becomes its default.',
    body: 'CreateByokKey',
    input: { fields: byokKeyFields, mode: 'create' },
    reply: 'ByokKey',
    errors: ['duplicate_resource', 'state_precondition_failed'],
  },
  list: {
    route: ['GET', '/byok-keys'],
    scopes: ['byok:read'],
    summary: 'List the provider keys, oldest first.',
    options: { provider: { kind: 'string', description: 'Only keys of this provider.' } },
    reply: 'ByokKey',
    page: { name: 'ByokKeyList' },
  },
  get: { route: ['GET', '/byok-keys/:byok_key_id'], id: true, scopes: ['byok:read'], summary: 'Get a provider key.', reply: 'ByokKey' },
  update: {
    route: ['PATCH', '/byok-keys/:byok_key_id'],
    id: true,
    scopes: ['byok:write'],
    summary: 'Change the name, secret or account tier of a provider key, disable it, or make it the default.',
    body: 'UpdateByokKey',
    input: { fields: byokKeyFields, mode: 'update' },
    reply: 'ByokKey',
    errors: ['duplicate_resource', 'state_precondition_failed'],
  },
  validate: {
    route: ['POST', '/byok-keys/:byok_key_id/validate'],
    id: true,
    scopes: ['byok:write'],
    summary: 'Validate a provider key with its provider now.',
    reply: 'ByokKey',
  },
  delete: {
    route: ['DELETE', '/byok-keys/:byok_key_id'],
    id: true,
    scopes: ['byok:write'],
    summary: 'Delete a provider key. If it was the default of its provider, no other key becomes the default.',
    reply: 'Acknowledgement',
    done: { message: 'The key is deleted.', pending: 'The key is deleted, and is used nowhere after 30 seconds.' },
  },
} as const satisfies Endpoints
