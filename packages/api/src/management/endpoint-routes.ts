import {
  type Endpoint,
  type Fields,
  fromWire,
  type InputSpec,
  optionsOf,
  type ResourcePath,
  type RoutedEndpoint,
  resourceAt,
  resources,
  wireName,
} from '@signalbox/core/resources'
import { own } from '@signalbox/dialects/protocol'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import { type QueryParameter, timeOf } from '../query.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { type Acknowledgement, propagationOf, replies } from './replies/index.ts'
import { replyOf } from './replies/reply-table.ts'

const limitParameter: QueryParameter = {
  name: 'limit',
  description: 'Number of entries per page. Default: 20.',
  whole: { min: 1, max: 100 },
}
const afterParameter: QueryParameter = { name: 'after', description: 'Id of the entry to continue after: `next` of the previous page.' }

const wireValue = ({ wireValues = {} }: Extract<Fields[string], { kind: 'enum' }>, value: string): string => own(wireValues, value) ?? value

const parameterOf = (name: string, field: Fields[string]): QueryParameter => {
  const { kind, description = '' } = field
  const parameter = { name: wireName(name, field), description }
  if (kind === 'boolean') return { ...parameter, values: ['true', 'false'] }
  if (kind === 'enum') return { ...parameter, values: field.values.map(value => wireValue(field, value)) }
  if (kind === 'integer') return { ...parameter, whole: { min: field.min ?? 0, max: field.max ?? Number.MAX_SAFE_INTEGER } }
  return kind === 'milliseconds' ? { ...parameter, date: true } : parameter
}

/** The query parameters of a method: its options, unless it has a body. */
export function queryOf({ options = {}, page, body }: RoutedEndpoint): readonly QueryParameter[] {
  const own = body === undefined ? Object.entries(options).map(([name, field]) => parameterOf(name, field)) : []
  return page ? [...own, limitParameter, page.anyId ? afterParameter : { ...afterParameter, uuid: true }] : own
}

function valueIn(field: Fields[string], text: string): unknown {
  if (field.kind === 'boolean') return text === 'true'
  if (field.kind === 'integer') return Number(text)
  if (field.kind === 'enum') return field.values.find(value => wireValue(field, value) === text)
  return field.kind === 'milliseconds' ? timeOf(text) : text
}

/** The options of a call, from a query that was checked. */
export const optionsIn = (options: Fields, query: Call['query']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, field]) => {
      const text = own(query, wireName(name, field))
      return text === undefined ? [] : [[name, valueIn(field, text)]]
    }),
  )

/** The fields of a method's body. */
const inputOf = ({ body, input, options = {} }: RoutedEndpoint): InputSpec | undefined =>
  body === undefined ? undefined : (input ?? { fields: options, mode: 'options' })

/** The JSON of a result. A schema without a table of fields describes the result as it is. */
const viewOf = (name: string, result: unknown, call: Call): unknown => {
  const reply = own(replies, name)
  return reply ? replyOf(reply.fields, result as never, call) : result
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

async function answer(method: Method, endpoint: RoutedEndpoint, call: Call): Promise<ApiReply> {
  const { route, id, body, page, reply, done } = endpoint
  const input = inputOf(endpoint)
  const idName = /:(\w+)/.exec(route[1])?.[1] ?? ''
  const ids = id ? [own(call.params, idName) ?? ''] : []
  if (page) return listed(options => method(...ids, options), endpoint, call)
  const options = optionsOf(endpoint)
  const argument = input ? fromWire(input, call.body) : options && body === undefined ? optionsIn(options, call.query) : undefined
  const result = await method(...ids, ...(argument ? [argument] : []))
  const shown = done ? acknowledgementOf(done, result as { readonly id: string }, call) : result
  return json(viewOf(reply, shown, call), { status: route[0] === 'GET' ? 200 : 202 })
}

/** A page. One more entry is read than returned, to find out whether there is a next page. */
async function listed(list: (options: object) => Promise<unknown>, { options = {}, reply }: RoutedEndpoint, call: Call): Promise<ApiReply> {
  const limit = Number(call.query.limit ?? 20)
  const { after } = call.query
  const entries = (await list({ ...optionsIn(options, call.query), limit: limit + 1, after })) as readonly { readonly id: string }[]
  const shown = entries.slice(0, limit)
  const more = entries.length > limit
  return json({
    object: 'list',
    data: shown.map(entry => viewOf(reply, entry, call)),
    count: shown.length,
    has_more: more,
    next: more ? (shown.at(-1)?.id ?? null) : null,
  })
}

function acknowledgementOf(
  { message, pending = message, isImmediate }: NonNullable<RoutedEndpoint['done']>,
  { id }: { readonly id: string },
  { gateway }: Call,
): Acknowledgement {
  const propagationStatus = isImmediate ? null : propagationOf(gateway)
  return { id, propagationStatus, message: propagationStatus === null ? message : pending }
}

/** The facts that the routes of a workspace have in common. */
export const workspaceFacts = (method: WorkspaceRoute['method']) =>
  ({
    of: 'workspace',
    method,
    rate: method === 'GET' ? 'reads' : 'writes',
    tier: 'preview',
    status: method === 'GET' ? undefined : 202,
  }) as const

/** The routes of a resource, in the order of its endpoints. */
export const routesOf = (resource: ResourcePath): readonly WorkspaceRoute[] =>
  Object.entries<Endpoint>(resources[resource]).flatMap(([name, endpoint]) => {
    if (!endpoint.route) return []
    const { route, scopes, summary, body, reply, page, errors = [], secret } = endpoint
    return {
      ...workspaceFacts(route[0]),
      path: `/v1/workspaces/:workspace_id${route[1]}`,
      client: `${resource}.${name}`,
      needs: scopes,
      summary,
      query: queryOf(endpoint),
      body,
      input: inputOf(endpoint),
      reply: page?.name ?? reply,
      errors,
      secret,
      handler: (call, workspace) => {
        const methods = resourceAt(workspace, resource) as Readonly<Record<string, Method>>
        return answer((...args) => (own(methods, name) as Method)(...args), endpoint, call)
      },
    }
  })
