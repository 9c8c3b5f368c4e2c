import { immutableNames } from '@signalbox/core/resources'
import { codeRow, type ErrorCode } from '@signalbox/dialects/errors'
import { errorHeaderNames } from '../headers.ts'
import { type HeaderName, responseHeaders } from '../response-headers.ts'
import type { Route } from '../route.ts'
import { refusesUnknownParameters, takesIdempotencyKey } from '../route.ts'
import { errorExample, errorExampleName } from './error-examples.ts'
import { type Components, exampleOf, refTo } from './json-schema.ts'

/** The header objects of the document, without duplicates. */
export const headerComponents = (): object =>
  Object.fromEntries(
    Object.entries(responseHeaders).map(([name, { description, example }]) => [name, { description, schema: { type: 'string' }, example }]),
  )

const headersOf = (names: readonly HeaderName[]): object =>
  Object.fromEntries([...new Set(names)].map(name => [name, { $ref: `#/components/headers/${name}` }]))

/** Headers of every response of a route. */
const commonNames = ({ idHeader }: Route): readonly HeaderName[] => [
  'X-Request-ID',
  'X-Client-Request-ID',
  ...(idHeader === undefined ? [] : [idHeader]),
]

const successNames = (route: Route): readonly HeaderName[] => [
  ...commonNames(route),
  ...(route.stream === undefined ? [] : (['X-Warnings'] as const)),
  ...(route.cache === undefined ? [] : (['ETag', 'Cache-Control'] as const)),
  ...(route.of === 'workspace' ? (['Cache-Control'] as const) : []),
  ...(takesIdempotencyKey(route) ? (['Idempotent-Replayed'] as const) : []),
  ...(route.replyHeaders ?? []),
]

const mediaType = (name: string, components: Components): object => ({
  schema: refTo(name),
  example: exampleOf(refTo(name), components),
})

const successOf = (route: Route, components: Components): object => ({
  [route.status ?? 200]: {
    description: route.status === undefined ? 'Success.' : 'The change is accepted.',
    headers: headersOf(successNames(route)),
    content: {
      [route.media ?? 'application/json']: mediaType(route.reply, components),
      ...(route.stream !== undefined && { 'text/event-stream': mediaType(route.stream, components) }),
    },
  },
  ...(route.orStatus !== undefined && {
    [route.orStatus]: {
      description: 'Not ready.',
      headers: headersOf(commonNames(route)),
      content: {
        'application/json': { schema: refTo(route.reply), example: { status: 'not_ready', problems: ['The storage is unavailable.'] } },
      },
    },
  }),
  ...(route.cache !== undefined && {
    304: {
      description: 'Not modified: `If-None-Match` contains the current `ETag`. No body.',
      headers: headersOf([...commonNames(route), 'ETag', 'Cache-Control']),
    },
  }),
})

/** Dialects with their own error shape. */
const errorSchemas: ReadonlyMap<string | undefined, string> = new Map<string | undefined, string>([
  ['messages', 'MessagesError'],
  ['ai-sdk', 'AiGatewayError'],
])

/** Name of the schema of a route's errors. */
export const errorSchemaOf = ({ dialect }: Route): string => errorSchemas.get(dialect) ?? 'Error'

/** Components that several operations refer to. */
export interface SharedComponents {
  readonly schemas: Components
  /** Error responses by name. */
  readonly responses: Map<string, object>
  readonly examples: Map<string, object>
}

function errorResponse(route: Route, codesOfStatus: readonly ErrorCode[], examples: Map<string, object>): object {
  const example = (code: ErrorCode): [string, object] => {
    const name = errorExampleName(code, route.dialect)
    examples.set(name, errorExample(code, route.dialect))
    return [code, { $ref: `#/components/examples/${name}` }]
  }
  return {
    description: codesOfStatus.map(code => `\`${code}\``).join(', '),
    headers: headersOf([...commonNames(route), ...codesOfStatus.flatMap(errorHeaderNames)]),
    content: { 'application/json': { schema: refTo(errorSchemaOf(route)), examples: Object.fromEntries(codesOfStatus.map(example)) } },
  }
}

/** The responses of an operation by status: success, then errors with their codes. */
export function responsesOf(route: Route, { schemas, responses, examples }: SharedComponents): object {
  const byStatus = Map.groupBy(errorsOf(route), code => codeRow(code).status)
  const failures = [...byStatus]
    .sort(([one], [other]) => one - other)
    .map(([status, ofStatus]) => [status, shareResponse(responses, status, errorResponse(route, ofStatus, examples))] as const)
  return { ...successOf(route, schemas), ...Object.fromEntries(failures) }
}

/** A reference to the response, which is shared by many operations. */
function shareResponse(responses: Map<string, object>, status: number, response: object): object {
  const text = JSON.stringify(response)
  for (let number = 1; ; number += 1) {
    const name = `Error${status}${number === 1 ? '' : `_${number}`}`
    const known = responses.get(name)
    if (known === undefined) responses.set(name, response)
    if (known === undefined || JSON.stringify(known) === text) return { $ref: `#/components/responses/${name}` }
  }
}

/** The error codes of a route without duplicates: those that follow from its other facts, then its own. */
export const errorsOf = (row: Route): readonly ErrorCode[] => [
  ...new Set([...facts.flatMap(({ when, codes }) => (when(row) ? codes : [])), ...row.errors, 'internal_error' as const]),
]

interface Fact {
  readonly when: (row: Route) => boolean
  readonly codes: readonly ErrorCode[]
}

const facts: readonly Fact[] = [
  { when: () => true, codes: ['method_not_allowed'] },
  {
    when: ({ webSocket }) => webSocket === true,
    codes: ['upgrade_required', 'previous_response_not_found', 'websocket_connection_limit_reached'],
  },
  { when: ({ needs }) => needs !== 'nothing', codes: ['invalid_api_key'] },
  { when: ({ needs }) => typeof needs !== 'string', codes: ['operation_not_allowed'] },
  { when: ({ rate }) => rate !== 'none', codes: ['requests_per_min_exceeded'] },
  { when: ({ of }) => of === 'workspace', codes: ['resource_not_found'] },
  { when: refusesUnknownParameters, codes: ['unknown_parameter'] },
  { when: ({ of }) => of === 'workspace', codes: ['service_unavailable'] },
  { when: ({ of, query = [] }) => of === 'workspace' && query.length > 0, codes: ['invalid_parameter_value'] },
  {
    when: ({ input }) => input !== undefined,
    codes: [
      'invalid_request',
      'unknown_field',
      'missing_required_parameter',
      'invalid_parameter_value',
      'request_too_large',
      'unsupported_media_type',
      'concurrent_requests_exceeded',
      'service_unavailable',
    ],
  },
  { when: ({ input }) => input !== undefined && immutableNames(input).length > 0, codes: ['field_immutable'] },
  { when: row => takesIdempotencyKey(row), codes: ['invalid_parameter_value', 'duplicate_resource', 'idempotency_replay_unavailable'] },
]
