import { codes, type ErrorCode } from '@signalbox/core/errors'
import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject, type ZodOpenApiResponsesObject } from 'zod-openapi'
import type { ApiReply } from './exchange.ts'
import type { Call, Route } from './routes.ts'
import { makeSchemas, type SchemaName } from './schemas.ts'

export const openapi = ({ site }: Call): ApiReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: site.document(),
})

type Schemas = ReturnType<typeof makeSchemas>

/** The route table as an OpenAPI 3.1 document. */
export function makeDocument(routes: readonly Route[], operator: string): object {
  const schemas = makeSchemas()
  const paths: ZodOpenApiPathsObject = {}
  for (const row of routes) {
    const path = row.path.replace(/:([a-z_]+)\+?/g, '{$1}')
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row, schemas) }
  }
  return createDocument({
    openapi: '3.1.0',
    info: { title: `${operator} API`, version: '1.1.0', description: 'One API for many model providers.' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key; it begins with `ak_`.' },
        'x-api-key': {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key; looked at where there is no Authorization.',
        },
      },
    },
  })
}

function operationOf(row: Route, schemas: Schemas): ZodOpenApiOperationObject {
  const path = [...row.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name ?? '')
  return {
    operationId: nameOf(row),
    summary: row.summary,
    security: row.needs === 'nothing' ? [] : [{ key: [] }, ...(row.keyHeader === undefined ? [] : [{ [row.keyHeader]: [] }])],
    'x-stability': row.tier,
    ...(typeof row.needs !== 'string' && { 'x-scopes': row.needs }),
    ...(row.deprecated && { deprecated: true, 'x-deprecation-date': row.deprecated.from, 'x-removal-date': row.deprecated.removal }),
    requestParams: {
      ...(path.length > 0 && { path: z.object(Object.fromEntries(path.map(name => [name, z.string()]))) }),
      ...(row.cache !== undefined && {
        header: z.object({ 'If-None-Match': z.string().optional().meta({ description: 'An `ETag` of before.' }) }),
      }),
      ...((row.query?.length ?? 0) > 0 && { query: z.object(Object.fromEntries((row.query ?? []).map(parameter))) }),
    },
    ...(row.body !== undefined && { requestBody: { required: true, content: { 'application/json': { schema: schemas[row.body] } } } }),
    responses: { ...successOf(row, schemas), ...failuresOf(row, schemas) },
  }
}

/** `GET /v1/models/:model_id+` → `getModelsModelId`. */
const nameOf = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path.replace(/^\/v1/, '').replace(/[^a-z]+([a-z])?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '')

const parameter = ({ name, description, values, whole }: NonNullable<Route['query']>[number]): [string, z.ZodType] => {
  const text = values === undefined ? z.string() : z.enum(values)
  return [name, (whole === undefined ? text : z.int().min(whole.min).max(whole.max)).optional().meta({ description })]
}

const successOf = (row: Route, schemas: Schemas): ZodOpenApiResponsesObject => ({
  200: {
    description: 'Success.',
    headers: z.object({
      'X-Request-ID': z.string(),
      ...(row.idHeader !== undefined && { [row.idHeader]: z.string() }),
      'X-Warnings': z.string().optional(),
      ...(row.cache !== undefined && { ETag: z.string(), 'Cache-Control': z.string() }),
      ...Object.fromEntries((row.replyHeaders ?? []).map(name => [name, z.string().optional()])),
    }),
    content: {
      'application/json': { schema: schemas[row.reply] },
      ...(row.endpoint !== undefined && {
        'text/event-stream': {
          schema: z.string().meta({ description: 'With `stream: true`: server-sent events, the last of them tells the outcome.' }),
        },
      }),
    },
  },
  ...(row.cache !== undefined && { 304: { description: 'As it was: the `ETag` is among those of `If-None-Match`. No body.' } }),
})

/** The errors of a row by status, each with its codes. */
function failuresOf(row: Route, schemas: Schemas): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...commonErrors(row), ...row.errors]) {
    const { status } = codes[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const responses: ZodOpenApiResponsesObject = {}
  for (const [status, ofStatus] of [...byStatus].sort(([one], [other]) => one - other)) {
    responses[`${status}` as `${1 | 2 | 3 | 4 | 5}${string}`] = {
      description: ofStatus.map(code => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: schemas[errorOf[row.dialect ?? ''] ?? 'Error'] } },
    }
  }
  return responses
}

/** Languages whose errors have a shape of their own. */
const errorOf: Readonly<Record<string, SchemaName>> = { messages: 'MessagesError' }

const commonErrors = (row: Route): readonly ErrorCode[] => [
  ...(row.needs === 'nothing' ? [] : (['invalid_api_key'] as const)),
  ...(typeof row.needs === 'string' ? [] : (['operation_not_allowed'] as const)),
  ...(row.rate === 'none' ? [] : (['requests_per_min_exceeded'] as const)),
  'internal_error',
]
