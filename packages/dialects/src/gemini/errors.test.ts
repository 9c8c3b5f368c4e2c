import { expect, test } from 'vitest'
import type { FailureKind } from '../protocol/failure.ts'
import { geminiProvider } from './provider.ts'

const fail = (status: number, body: unknown) =>
  geminiProvider.decodeFailure({
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    header: () => undefined,
    now: Date.parse('2026-11-21T10:00:00Z'),
  })
const error = (code: number, status: string, more: object = {}) => ({ error: { code, status, message: 'm', ...more } })
const info = (reason: string) => ({ details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' }] })
const quota = (...quotaIds: readonly string[]) => ({
  details: [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'RATE_LIMIT_EXCEEDED' },
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: quotaIds.map(quotaId => ({ quotaId })) },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
  ],
})

test.each<[FailureKind, number, unknown]>([
  ['rejected', 400, error(400, 'INVALID_ARGUMENT')],
  ['bad_credential', 400, error(400, 'INVALID_ARGUMENT', { message: 'Bad request.', ...info('API_KEY_INVALID') })],
  ['bad_credential', 400, error(400, 'FAILED_PRECONDITION', { message: 'User location is not supported for the API use.' })],
  ['bad_credential', 401, error(401, 'UNAUTHENTICATED')],
  [
    'bad_credential',
    400,
    error(400, 'FAILED_PRECONDITION', {
      message: 'Gemini API free tier is not available in your country. Please enable billing on your project.',
    }),
  ],
  ['rejected', 400, error(400, 'FAILED_PRECONDITION', { message: 'The File files/billing-location is not in an ACTIVE state.' })],
  ['forbidden', 403, error(403, 'PERMISSION_DENIED', { message: 'You do not have permission to access the File x or it may not exist.' })],
  ['bad_credential', 403, error(403, 'PERMISSION_DENIED', info('SERVICE_DISABLED'))],
  ['out_of_quota', 402, error(402, 'RESOURCE_EXHAUSTED')],
  ['unknown_model', 404, error(404, 'NOT_FOUND', { message: 'models/x is not found for API version v1beta.' })],
  ['rate_limited', 429, error(429, 'RESOURCE_EXHAUSTED', quota('GenerateRequestsPerMinutePerProjectPerModel-FreeTier'))],
  [
    'out_of_quota',
    429,
    error(429, 'RESOURCE_EXHAUSTED', quota('GenerateRequestsPerMinute', 'GenerateRequestsPerDayPerProjectPerModel-FreeTier')),
  ],
  ['server_error', 499, error(499, 'CANCELLED')],
  ['server_error', 500, error(500, 'INTERNAL')],
  ['overloaded', 503, error(503, 'UNAVAILABLE')],
  ['timed_out', 504, error(504, 'DEADLINE_EXCEEDED')],
  [
    'too_long',
    400,
    error(400, 'INVALID_ARGUMENT', { message: 'The input token count (2) exceeds the maximum number of tokens allowed (1).' }),
  ],
  ['stale_state', 400, error(400, 'INVALID_ARGUMENT', { message: 'Function call is missing a thought_signature in functionCall parts.' })],
  ['stale_state', 400, error(400, 'INVALID_ARGUMENT', { message: 'Corrupted thought signature.' })],
  ['rate_limited', 429, [error(429, 'RESOURCE_EXHAUSTED')]],
  ['unreadable', 502, '<html>Bad gateway</html>'],
])('is %s: %i %j', (kind, status, body) => {
  expect(fail(status, body)).toMatchObject({ kind, status })
})

test('the retry delay of a provider is used', () => {
  expect(fail(429, error(429, 'RESOURCE_EXHAUSTED', quota('PerMinute'))).retryAfterMs).toBe(34_400)
})
