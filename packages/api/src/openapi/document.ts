import { immutableNames } from '@signalbox/core/resources'
import { own } from '@signalbox/dialects/protocol'
import type { QueryParameter } from '../query.ts'
import { type RequestHeaderName, requestHeaders } from '../request-headers.ts'
import type { Route } from '../route.ts'
import { takesIdempotencyKey } from '../route.ts'
import { makeSchemas } from '../schemas.ts'
import { addComponent, exampleOf, refTo } from './json-schema.ts'
import { errorSchemaOf, headerComponents, responsesOf, type SharedComponents } from './responses.ts'

/** What differs between the documents of two gateways. */
export interface DocumentOptions {
  readonly ownedBy: string
  /** Lets other requests run. Called between pieces of the document. */
  readonly pause?: () => Promise<void>
}

/** Creates the OpenAPI 3.1 document of the routes. This takes a quarter of a second, in pieces of a few milliseconds. */
export async function makeDocument(routes: readonly Route[], { ownedBy, pause }: DocumentOptions): Promise<object> {
  const shared: SharedComponents = { schemas: new Map(), responses: new Map(), examples: new Map() }
  const named = new Set<string>(
    routes.flatMap(route => [route.body ?? route.reply, route.reply, route.stream ?? route.reply, errorSchemaOf(route)]),
  )
  const schemas = makeSchemas()
  for (const name of named) {
    const schema = own(schemas, name)
    if (schema === undefined) throw new Error(`A route names the schema "${name}", and there is no such schema.`)
    await pause?.()
    addComponent(shared.schemas, name, schema)
  }
  await pause?.()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)\+?/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, shared) }
  }
  const used = new Set(routes.map(tagOf))
  return {
    openapi: '3.1.0',
    info: {
      title: `${ownedBy} API`,
      version: '1.1.0',
      description: 'One API for the models of many providers, and for the workspaces that use them.',
    },
    // Without a host, because clients may reach the gateway under several names. index.ts adds the mount point.
    servers: [{ url: '/' }],
    tags: [...tags].filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(shared.schemas),
      responses: Object.fromEntries(shared.responses),
      headers: headerComponents(),
      examples: Object.fromEntries(shared.examples),
      securitySchemes,
    },
  }
}

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key, which begins with `ak_`.' },
  'x-api-key': {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The same API key, as clients of the Messages API send it. Ignored if there is an `Authorization` header.',
  },
} as const

const tags: ReadonlyMap<string, string> = new Map([
  ['inference', 'Responses of models, in three formats.'],
  ['catalog', 'Models, their providers, prices and capabilities.'],
  ['service', 'The service itself: its document, its health, and the key of the request.'],
  ['api-keys', 'API keys of the workspace and their usage.'],
  ['byok-keys', 'Keys of the workspace’s own at providers (bring your own key).'],
  ['sessions', 'Short-lived tokens for pages, each of one user.'],
  ['budgets', 'Spending limits of the workspace and its keys.'],
  ['billing', 'Prepaid credit: balance, ledger, top-ups and automatic reload.'],
  ['subscription', 'The plan of the workspace.'],
  ['settings', 'Settings of the workspace, data policy included.'],
  ['routing-defaults', 'Routing options for requests that do not set them.'],
  ['members', 'People of the workspace and their roles.'],
  ['invites', 'Invitations to the workspace.'],
  ['audit-events', 'The log of changes, with a verifiable chain of hashes.'],
  ['analytics', 'Usage, cost and latency over time; the request log and its export.'],
])

/** The resource of a workspace route, otherwise the kind of endpoint. */
function tagOf({ path, dialect }: Route): string {
  const [, resource] = /^\/v1\/(?:workspaces\/:workspace_id\/)?(invites|(?<=:workspace_id\/)[a-z-]+)/.exec(path) ?? []
  if (resource !== undefined) return resource
  if (dialect !== undefined) return 'inference'
  return /^\/v1\/(models|registry|directory|byok)\b/.test(path) ? 'catalog' : 'service'
}

/** `GET /v1/models/:model_id+` → `getModelsModelId`. */
const operationIdOf = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path.replace(/^\/v1/, '').replace(/[^a-z]+([a-z])?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '')

const operationOf = (route: Route, shared: SharedComponents): object => ({
  operationId: operationIdOf(route),
  summary: route.summary,
  description: descriptionOf(route),
  tags: [tagOf(route)],
  security: route.needs === 'nothing' ? [] : [{ key: [] }, ...(route.keyHeader === undefined ? [] : [{ [route.keyHeader]: [] }])],
  'x-stability': route.tier,
  ...(typeof route.needs !== 'string' && { 'x-scopes': route.needs }),
  ...(route.deprecated && { deprecated: true, 'x-deprecation-date': route.deprecated.from, 'x-removal-date': route.deprecated.removal }),
  parameters: parametersOf(route),
  ...(route.body !== undefined && {
    requestBody: {
      required: true,
      content: { 'application/json': { schema: refTo(route.body), example: exampleOf(refTo(route.body), shared.schemas) } },
    },
  }),
  responses: responsesOf(route, shared),
})

/** Sentences derived from the facts of a route. */
function descriptionOf({ summary, needs, rate, tier, secret, stream, input }: Route): string {
  const immutable = input ? immutableNames(input) : []
  const scopes = typeof needs === 'string' ? '' : `It needs a key with the scope ${needs.map(scope => `\`${scope}\``).join(' or ')}.`
  const access = needs === 'nothing' ? 'It needs no key.' : needs === 'any key' ? 'Any key may call it.' : scopes
  return [
    summary,
    access,
    ...(rate === 'none' ? [] : [`It counts against the ${rate === 'inference' ? 'inference' : `management ${rate}`} limit of the key.`]),
    ...(stream === undefined ? [] : ['With `stream: true` it answers with server-sent events.']),
    ...(secret ? ['The response contains a secret that is not shown again.'] : []),
    ...(immutable.length > 0 ? [`These fields cannot be changed: ${immutable.map(field => `\`${field}\``).join(', ')}.`] : []),
    `Stability: ${tier}.`,
  ].join(' ')
}

interface PathParameter {
  readonly description: string
  readonly schema: { readonly type: 'string'; readonly format?: 'uuid' }
  readonly example: string
}

const id = (what: string): PathParameter => ({
  description: `Id of the ${what}.`,
  schema: { type: 'string', format: 'uuid' },
  example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4',
})

/** The path parameters of all routes. */
const pathParameters: ReadonlyMap<string, PathParameter> = new Map([
  ['workspace_id', id('workspace, which must be that of the key')],
  ['api_key_id', id('API key')],
  ['byok_key_id', id('provider key')],
  ['budget_id', id('budget')],
  ['session_id', id('session')],
  ['invite_id', id('invite')],
  ['member_id', id('member')],
  ['request_id', { ...id('request'), description: 'Id of the request: the `X-Request-ID` of its response.' }],
  ['model_id', { description: 'Id or alias of the model. It may contain slashes.', schema: { type: 'string' }, example: 'gpt-5-mini' }],
  ['provider', { description: 'Id of the provider.', schema: { type: 'string' }, example: 'groq' }],
])

const queryParameter = ({ name, description, values, whole, date }: QueryParameter): object => ({
  name,
  in: 'query',
  description,
  schema: whole
    ? { type: 'integer', minimum: whole.min, maximum: whole.max }
    : date
      ? {
          anyOf: [
            { type: 'string', format: 'date' },
            { type: 'string', format: 'date-time' },
          ],
        }
      : { type: 'string', ...(values && { enum: values }) },
})

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier response. If it is still current, the response is 304 without a body.',
  schema: { type: 'string' },
  example: '"k3v9x1-8wq2"',
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Repeating the request with the same key and body within 24 hours does nothing and returns the first response.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  example: 'order-42',
}

const headerParameter = (name: RequestHeaderName): object => {
  const { description, isRequired, example } = requestHeaders[name]
  return { name, in: 'header', required: isRequired, description, schema: { type: 'string' }, example }
}

/** The path, header and query parameters of an operation. */
const parametersOf = (route: Route): readonly object[] => [
  ...[...route.path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(pathParameters.get(name) ?? { schema: { type: 'string' } }),
  })),
  ...(route.headers ?? []).map(headerParameter),
  ...(route.cache === undefined ? [] : [ifNoneMatch]),
  ...(takesIdempotencyKey(route) ? [idempotencyKey] : []),
  ...(route.query ?? []).map(queryParameter),
]
