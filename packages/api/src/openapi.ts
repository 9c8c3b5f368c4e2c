import { codes, type ErrorCode } from '@signalbox/core/errors'
import * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi'
import type { ApiReply } from './exchange.ts'
import type { Call, Route } from './routes.ts'
import { errorsOf, takesIdempotencyKey } from './row-errors.ts'
import type { SchemaName, Schemas } from './schemas.ts'

export const openapi = ({ site }: Call): ApiReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: site.document(),
})

interface Publisher {
  readonly operator: string
  readonly basePath: string
}

/** The route table as an OpenAPI 3.1 document. */
export function makeDocument(routes: readonly Route[], schemas: Schemas, { operator, basePath }: Publisher): object {
  const paths: ZodOpenApiPathsObject = {}
  for (const row of routes) {
    const path = row.path.replace(/:([a-z_]+)\+?/g, '{$1}')
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row, schemas) }
  }
  const components = { schemas: namedBy(routes, schemas), securitySchemes }
  const info = { title: `${operator} API`, version: '1.1.0', description: 'One API for many model providers.' }
  // Without a host: whatever name the client knows us by is the right one.
  const servers = [{ url: basePath === '' ? '/' : basePath }]
  return createDocument({ openapi: '3.1.0', info, servers, paths, components }, { override: leaveRoom })
}

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key; it begins with `ak_`.' },
  'x-api-key': {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The same key; looked at where there is no Authorization.',
  },
} as const

/** Answers may get more fields with time. Only what is said to be strict is closed. */
const leaveRoom: ZodOpenApiOverride = ({ jsonSchema, zodSchema }) => {
  if (zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined) delete jsonSchema.additionalProperties
}

/** Those that the rows speak of. */
function namedBy(routes: readonly Route[], schemas: Schemas): Partial<Schemas> {
  const named = new Set<string>(routes.flatMap(row => [row.body ?? row.reply, row.reply, errorSchemaOf(row)]))
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => named.has(name)))
}

function operationOf(row: Route, schemas: Schemas): ZodOpenApiOperationObject {
  const path = [...row.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name ?? '')
  return {
    operationId: nameOf(row),
    summary: row.summary,
    tags: [tagOf(row)],
    security: row.needs === 'nothing' ? [] : [{ key: [] }, ...(row.keyHeader === undefined ? [] : [{ [row.keyHeader]: [] }])],
    'x-stability': row.tier,
    ...(typeof row.needs !== 'string' && { 'x-scopes': row.needs }),
    ...(row.deprecated && { deprecated: true, 'x-deprecation-date': row.deprecated.from, 'x-removal-date': row.deprecated.removal }),
    requestParams: {
      ...(path.length > 0 && { path: z.object(Object.fromEntries(path.map(name => [name, z.string()]))) }),
      ...headersOf(row),
      ...((row.query?.length ?? 0) > 0 && { query: z.object(Object.fromEntries((row.query ?? []).map(parameter))) }),
    },
    ...(row.body !== undefined && { requestBody: { required: true, content: { 'application/json': { schema: schemas[row.body] } } } }),
    responses: { ...successOf(row, schemas), ...failuresOf(row, schemas) },
  }
}

/** Of a workspace: the resource. */
const tagOf = ({ path, dialect, cache }: Route): string => {
  const [, resource] = /^\/v1\/(?:workspaces\/:workspace_id\/)?(invites|(?<=:workspace_id\/)[a-z-]+)/.exec(path) ?? []
  return resource ?? (dialect !== undefined ? 'inference' : cache !== undefined ? 'catalog' : 'service')
}

const headersOf = (row: Route) => ({
  ...(row.cache !== undefined && {
    header: z.object({ 'If-None-Match': z.string().optional().meta({ description: 'An `ETag` of before.' }) }),
  }),
  ...(takesIdempotencyKey(row) && { header: z.object({ 'Idempotency-Key': idempotencyKey() }) }),
})

const idempotencyKey = () =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .optional()
    .meta({ description: 'The same key and body again within 24 hours: nothing is done, and the first answer is given again.' })

/** `GET /v1/models/:model_id+` → `getModelsModelId`. */
const nameOf = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path.replace(/^\/v1/, '').replace(/[^a-z]+([a-z])?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '')

const parameter = ({ name, description, values, whole, date }: NonNullable<Route['query']>[number]): [string, z.ZodType] => {
  const text = values === undefined ? (date ? z.union([z.iso.date(), z.iso.datetime()]) : z.string()) : z.enum(values)
  return [name, (whole === undefined ? text : z.int().min(whole.min).max(whole.max)).optional().meta({ description })]
}

const successOf = (row: Route, schemas: Schemas): ZodOpenApiResponsesObject => ({
  [row.status ?? 200]: {
    description: row.status === undefined ? 'Success.' : 'The change is made.',
    headers: z.object({
      'X-Request-ID': z.string(),
      ...(row.idHeader !== undefined && { [row.idHeader]: z.string() }),
      'X-Warnings': z.string().optional(),
      ...(row.cache !== undefined && { ETag: z.string(), 'Cache-Control': z.string() }),
      ...(takesIdempotencyKey(row) && { 'Idempotent-Replayed': z.literal('true').optional() }),
      ...Object.fromEntries((row.replyHeaders ?? []).map(name => [name, z.string().optional()])),
    }),
    content: {
      [row.media ?? 'application/json']: { schema: schemas[row.reply] },
      ...(row.endpoint !== undefined && {
        'text/event-stream': {
          schema: z.string().meta({ description: 'With `stream: true`: server-sent events, the last of them tells the outcome.' }),
        },
      }),
    },
  },
  ...(row.orStatus !== undefined && {
    [row.orStatus]: { description: 'Not now.', content: { 'application/json': { schema: schemas[row.reply] } } },
  }),
  ...(row.cache !== undefined && { 304: { description: 'As it was: the `ETag` is among those of `If-None-Match`. No body.' } }),
})

/** The errors of a row by status, each with its codes. */
function failuresOf(row: Route, schemas: Schemas): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorsOf(row)) {
    const { status } = codes[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const responses: ZodOpenApiResponsesObject = {}
  for (const [status, ofStatus] of [...byStatus].sort(([one], [other]) => one - other)) {
    responses[`${status}` as `${1 | 2 | 3 | 4 | 5}${string}`] = {
      description: ofStatus.map(code => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: schemas[errorSchemaOf(row)] } },
    }
  }
  return responses
}

/** Languages whose errors have a shape of their own. */
const errorOf: Readonly<Record<string, SchemaName>> = { messages: 'MessagesError' }

const errorSchemaOf = ({ dialect = '' }: Route): SchemaName => errorOf[dialect] ?? 'Error'
