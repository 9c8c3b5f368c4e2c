import { expect, test } from 'vitest'
import { chatProvider } from '../chat/provider.ts'
import type { FailureKind } from '../protocol/failure.ts'
import { bedrockProvider } from './provider.ts'

const fail = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  bedrockProvider.decodeFailure({
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    header: name => headers[name],
    now: 0,
  })
const typeHeader = (type: string) => ({ 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` })

const rows: readonly (readonly [FailureKind, number, string, string])[] = [
  ['rate_limited', 429, 'ThrottlingException', 'Too many tokens, please wait before trying again.'],
  ['overloaded', 429, 'ModelNotReadyException', 'The model is not ready for inference requests.'],
  ['out_of_quota', 400, 'ServiceQuotaExceededException', 'Your request exceeds the service quota for your account.'],
  ['overloaded', 503, 'ServiceUnavailableException', 'Unavailable'],
  ['server_error', 500, 'InternalServerException', 'Internal'],
  ['server_error', 424, 'ModelErrorException', 'The request failed due to an error while processing the model.'],
  ['server_error', 424, 'ModelStreamErrorException', 'An error occurred while streaming the response.'],
  ['timed_out', 408, 'ModelTimeoutException', 'Processing of the model timed out.'],
  ['forbidden', 403, 'AccessDeniedException', 'User is not authorized to perform: bedrock:InvokeModel on resource: x'],
  [
    'forbidden',
    403,
    'AccessDeniedException',
    'Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions.',
  ],
  ['bad_credential', 403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'],
  ['bad_credential', 403, 'ExpiredTokenException', 'The security token included in the request is expired'],
  ['bad_credential', 403, 'InvalidSignatureException', 'The request signature we calculated does not match.'],
  ['unknown_model', 403, 'AccessDeniedException', "You don't have access to the model with the specified model ID."],
  ['unsupported', 403, 'AccessDeniedException', 'You invoked an unsupported model or your request did not allow prompt caching.'],
  ['unknown_model', 404, 'ResourceNotFoundException', 'Could not resolve the foundation model.'],
  [
    'unknown_model',
    400,
    'ValidationException',
    'Invocation of model ID anthropic.claude-sonnet-4 with on-demand throughput isn’t supported. Retry with an inference profile.',
  ],
  ['unknown_model', 400, 'ValidationException', 'The provided model identifier is invalid.'],
  ['too_long', 400, 'ValidationException', 'Input is too long for requested model.'],
  ['too_long', 400, 'ValidationException', 'The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum'],
  ['unsupported', 400, 'ValidationException', "This model doesn't support the temperature field. Remove temperature and try again."],
  [
    'unsupported',
    400,
    'ValidationException',
    'The model returned the following errors: output_config.format: Extra inputs are not permitted',
  ],
  ['rejected', 400, 'ValidationException', 'The content field in the Message object at messages.1 is empty.'],
]

test.each(rows.map(([kind, status, type, message]) => ({ kind, status, type, message })))(
  'a failure is $kind: $status $type, $message',
  ({ kind, status, type, message }) => {
    expect(fail(status, { message }, typeHeader(type))).toMatchObject({ kind, status, code: type })
    expect(fail(status, { Message: message }, typeHeader(type)).kind).toBe(kind)
    expect(fail(status, { __type: `com.amazon.coral.service#${type}`, message }).kind).toBe(kind)
  },
)

test('the error type in the header suffices without a body', () => {
  expect(fail(400, '', typeHeader('ServiceQuotaExceededException'))).toMatchObject({
    kind: 'out_of_quota',
    code: 'ServiceQuotaExceededException',
  })
  expect(fail(429, '', typeHeader('ModelNotReadyException')).kind).toBe('overloaded')
})

test('an error that is not from Bedrock is read as any other', () => {
  expect(fail(502, '<html>Bad gateway</html>')).toMatchObject({ kind: 'unreadable', status: 502 })
  expect(fail(500, '')).toMatchObject({ kind: 'server_error', message: 'The provider answered with status 500.' })
  expect(fail(429, { message: 'm' }, { 'retry-after': '7' })).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7000 })
})

test('a message about credentials is not quoted', () => {
  expect(fail(403, { message: 'Key AKIAIOSFODNN7EXAMPLE is not known' }, typeHeader('UnrecognizedClientException')).message).not.toContain(
    'AKIA',
  )
})

test.each<[FailureKind, number, object]>([
  ['policy', 400, { code: 'content_filter', message: 'Filtered.', innererror: { code: 'ResponsibleAIPolicyViolation' } }],
  ['policy', 400, { code: null, message: 'm', innererror: { code: 'ResponsibleAIPolicyViolation' } }],
  ['unknown_model', 404, { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' }],
  ['unsupported', 400, { code: 'OperationNotSupported', message: 'The chatCompletion operation does not work with the specified model.' }],
  ['rate_limited', 429, { code: '429', message: 'Requests have exceeded the call rate limit.' }],
  ['bad_credential', 401, { code: '401', message: 'Access denied due to invalid subscription key.' }],
])('an Azure error is %s: %i %j', (kind, status, error) => {
  const answer = { status, body: JSON.stringify({ error }), header: () => undefined, now: 0 }
  expect(chatProvider.decodeFailure(answer).kind).toBe(kind)
})
