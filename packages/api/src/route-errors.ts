import { immutableNames } from '@signalbox/core/resources'
import type { ErrorCode } from '@signalbox/dialects/errors'
import type { Route } from './route.ts'
import { refusesUnknownParameters, takesIdempotencyKey } from './route-facts.ts'

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
