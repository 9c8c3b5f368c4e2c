import { type ByokKey, byokKeyFields, fromWire, toReply } from '@signalbox/core/resources'
import type { Gateway } from '@signalbox/gateway'
import { json } from '../json-reply.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { accepted, listed, pages, propagationOf } from './answers.ts'
import { reading, writing } from './rows.ts'

const byokKeysPath = '/v1/workspaces/:workspace_id/byok-keys'
const byokKeyPath = `${byokKeysPath}/:byok_key_id`
const newByokKey = { fields: byokKeyFields, mode: 'create' } as const
const byokKeyChange = { fields: byokKeyFields, mode: 'update' } as const

export const byokKeyRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: byokKeysPath,
    client: 'byokKeys.create',
    needs: ['byok:write'],
    summary: 'Add a provider key of the workspace. It is validated in the background; the first key of a provider becomes its default.',
    body: 'CreateByokKey',
    input: newByokKey,
    reply: 'ByokKey',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    handler: async (call, { byokKeys }) => accepted(view(call, await byokKeys.create(fromWire(newByokKey, call.body)))),
  },
  {
    ...reading,
    path: byokKeysPath,
    client: 'byokKeys.list',
    needs: ['byok:read'],
    summary: 'List the provider keys, oldest first.',
    query: [{ name: 'provider', description: 'Only keys of this provider.' }, ...pages],
    reply: 'ByokKeyList',
    handler: (call, { byokKeys }) => {
      const { provider } = call.query
      return listed(call, {
        list: page => byokKeys.list({ ...page, ...(provider !== undefined && { provider }) }),
        toView: key => view(call, key),
      })
    },
  },
  {
    ...reading,
    path: byokKeyPath,
    client: 'byokKeys.get',
    needs: ['byok:read'],
    summary: 'Get a provider key.',
    reply: 'ByokKey',
    handler: async (call, { byokKeys }) => json(view(call, await byokKeys.get(byokKeyIdOf(call)))),
  },
  {
    ...writing('PATCH'),
    path: byokKeyPath,
    client: 'byokKeys.update',
    needs: ['byok:write'],
    summary: 'Change the name, secret or account tier of a provider key, disable it, or make it the default.',
    body: 'UpdateByokKey',
    input: byokKeyChange,
    reply: 'ByokKey',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    handler: async (call, { byokKeys }) =>
      accepted(view(call, await byokKeys.update(byokKeyIdOf(call), fromWire(byokKeyChange, call.body)))),
  },
  {
    ...writing('POST'),
    path: `${byokKeyPath}/validate`,
    client: 'byokKeys.validate',
    needs: ['byok:write'],
    summary: 'Validate a provider key with its provider now.',
    reply: 'ByokKey',
    handler: async (call, { byokKeys }) => accepted(view(call, await byokKeys.validate(byokKeyIdOf(call)))),
  },
  {
    ...writing('DELETE'),
    path: byokKeyPath,
    client: 'byokKeys.delete',
    needs: ['byok:write'],
    summary: 'Delete a provider key. If it was the default of its provider, no other key becomes the default.',
    reply: 'Acknowledgement',
    async handler(call, { byokKeys }) {
      const { id } = await byokKeys.delete(byokKeyIdOf(call))
      const propagation_status = propagationOf(call.gateway)
      const message = propagation_status === null ? 'The key is deleted.' : 'The key is deleted, and is used nowhere after 30 seconds.'
      return accepted({ id, propagation_status, message })
    },
  },
]

const byokKeyIdOf = ({ params }: Call): string => params.byok_key_id ?? ''

/** After this time other processes have read the change. */
const heardMs = 30_000

const view = ({ gateway }: Call, key: ByokKey) => ({
  ...toReply(byokKeyFields, key),
  propagation_status: isUnderWay(gateway, key) ? propagationOf(gateway) : null,
})

const isUnderWay = ({ clock }: Gateway, { updatedAt, lastValidatedAt = 0 }: ByokKey): boolean =>
  Math.abs(clock.now() - Math.max(updatedAt, lastValidatedAt)) < heardMs
