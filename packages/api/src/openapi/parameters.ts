import type { QueryParameter } from '../query.ts'
import { type RequestHeaderName, requestHeaders } from '../request-headers.ts'
import type { Route } from '../route.ts'
import { takesIdempotencyKey } from '../route-facts.ts'

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
export const parametersOf = (route: Route): readonly object[] => [
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
