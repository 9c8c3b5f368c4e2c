import type { ByokKey, Gateway } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { Call, WorkspaceRoute } from '../routes.ts'
import { accepted, dateTime, listed, pageSchema, pages, propagationOf } from './answers.ts'
import { bodyOf } from './fields.ts'
import { reading, writing } from './rows.ts'

const all = '/v1/workspaces/:workspace_id/byok-keys'
const one = `${all}/:byok_key_id`

export const byokKeyRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: all,
    needs: ['byok:write'],
    summary: 'Bring a key of your own for a provider. It is validated in the background; the first of a provider is its default.',
    body: 'CreateByokKey',
    reply: 'ByokKey',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    handler: async (call, { byokKeys }) => accepted(view(call, await byokKeys.create(bodyOf<typeof createByokKey>(call)))),
  },
  {
    ...reading,
    path: all,
    needs: ['byok:read'],
    summary: 'List the provider keys in the order of their making.',
    query: [{ name: 'provider', description: 'Those of this provider.' }, ...pages],
    reply: 'ByokKeyList',
    handler: (call, { byokKeys }) => {
      const { provider } = call.query
      return listed(call, {
        list: page => byokKeys.list({ ...page, ...(provider !== undefined && { provider }) }),
        view: key => view(call, key),
      })
    },
  },
  {
    ...reading,
    path: one,
    needs: ['byok:read'],
    summary: 'Look up one provider key.',
    reply: 'ByokKey',
    handler: async (call, { byokKeys }) => json(view(call, await byokKeys.get(idOf(call)))),
  },
  {
    ...writing('PATCH'),
    path: one,
    needs: ['byok:write'],
    summary: 'Rename a provider key, disable it, make it the default, name its account tier, or put another secret in its place.',
    body: 'UpdateByokKey',
    immutable: ['provider', 'extra'],
    reply: 'ByokKey',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    handler: async (call, { byokKeys }) => accepted(view(call, await byokKeys.update(idOf(call), bodyOf<typeof updateByokKey>(call)))),
  },
  {
    ...writing('POST'),
    path: `${one}/validate`,
    needs: ['byok:write'],
    summary: 'Show a provider key to its provider now, and tell what came of it.',
    reply: 'ByokKey',
    handler: async (call, { byokKeys }) => accepted(view(call, await byokKeys.validate(idOf(call)))),
  },
  {
    ...writing('DELETE'),
    path: one,
    needs: ['byok:write'],
    summary: 'Delete a provider key. If it was the default of its provider, no other takes its place.',
    reply: 'Acknowledgement',
    async handler(call, { byokKeys }) {
      const { id } = await byokKeys.delete(idOf(call))
      const propagation_status = propagationOf(call.gateway)
      const message = propagation_status === null ? 'The key is deleted.' : 'The key is deleted, and is used nowhere after 30 seconds.'
      return accepted({ id, propagation_status, message })
    },
  },
]

const idOf = ({ params }: Call): string => params.byok_key_id ?? ''

/** Other processes have read it anew by then. */
const heardMs = 30_000

const view = ({ gateway }: Call, key: ByokKey) => ({
  id: key.id,
  workspace_id: key.workspaceId,
  provider: key.provider,
  name: key.name,
  key_prefix: key.prefix,
  is_default: key.isDefault,
  disabled: key.disabled,
  validation_status: key.validationStatus,
  created_at: dateTime(key.createdAt),
  updated_at: dateTime(key.updatedAt),
  account_tier: key.accountTier,
  account_tier_source: key.accountTierSource ?? null,
  last_validated_at: dateTime(key.lastValidatedAt) ?? null,
  propagation_status: isUnderWay(gateway, key) ? propagationOf(gateway) : null,
})

const isUnderWay = ({ clock }: Gateway, { updatedAt, lastValidatedAt = 0 }: ByokKey): boolean =>
  Math.abs(clock.now() - Math.max(updatedAt, lastValidatedAt)) < heardMs

export const byokKeySchemas = (ByokKey = byokKey()) => ({
  CreateByokKey: createByokKey(),
  UpdateByokKey: updateByokKey(),
  ByokKey,
  ByokKeyList: pageSchema(ByokKey),
})

const name = () => z.string().min(1).max(255)
const secret = () => z.string().meta({ description: 'The secret of the provider. No answer ever holds it.' })
const tier = () =>
  z.string().meta({ description: 'A tier of `GET /v1/byok/providers/{provider}/tiers`. Default: as the answers of the provider tell it.' })

const createByokKey = () =>
  z.strictObject({
    provider: z.string().meta({ description: 'As in `GET /v1/byok/providers`.' }),
    api_key: secret(),
    name: name(),
    is_default: z.boolean().optional(),
    account_tier: tier().optional(),
    extra: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'What the provider has to know of the account: `region`, `resource`, `project`, `location`, `account_id`.' }),
  })

const updateByokKey = () =>
  z.strictObject({
    name: name().optional(),
    is_default: z.boolean().optional(),
    disabled: z.boolean().optional(),
    account_tier: tier().nullable().optional(),
    api_key: secret().optional(),
  })

const byokKey = () =>
  z.object({
    id: z.uuid(),
    workspace_id: z.string(),
    provider: z.string(),
    name: z.string(),
    key_prefix: z.string(),
    is_default: z.boolean(),
    disabled: z.boolean(),
    validation_status: z.enum(['valid', 'pending', 'invalid', 'error']),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    account_tier: z.string().optional(),
    account_tier_source: z.enum(['auto_detected', 'user_specified', 'fallback']).nullable(),
    last_validated_at: z.iso.datetime().nullable(),
    propagation_status: z.literal('pending').nullable(),
  })
