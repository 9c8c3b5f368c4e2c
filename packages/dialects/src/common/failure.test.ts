import { describe, expect, test } from 'vitest'
import { errorOf } from '../chat/errors.ts'
import { chatProvider } from '../chat/provider.ts'
import type { FailureKind } from '../protocol/failure.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { responsesProvider } from '../responses/provider.ts'
import { parseDelay, parseDelayInMessage } from './parse-retry-after.ts'
import { redact } from './redact.ts'

const now = Date.parse('2026-11-21T10:00:00Z')
const fail = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  chatProvider.decodeFailure({ status, body: typeof body === 'string' ? body : JSON.stringify(body), header: name => headers[name], now })
const error = (fields: object) => ({ error: { message: 'm', type: null, param: null, code: null, ...fields } })

test.each<[FailureKind, number, unknown]>([
  ['out_of_quota', 429, error({ type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota' })],
  ['out_of_quota', 429, error({ code: 'billing_hard_limit_reached' })],
  ['out_of_quota', 402, error({ message: 'Insufficient Balance' })],
  ['out_of_quota', 402, ''],
  ['out_of_quota', 400, error({ message: 'Your credit balance is too low to access the API.' })],
  ['rate_limited', 429, error({ type: 'requests', code: 'rate_limit_exceeded' })],
  ['rate_limited', 429, error({ type: 'tokens', message: 'Too many tokens' })],
  ['rate_limited', 429, ''],
  ['overloaded', 503, error({ code: 'server_is_overloaded' })],
  ['overloaded', 503, error({ type: 'service_unavailable_error' })],
  ['overloaded', 529, ''],
  ['overloaded', 498, error({ code: 'capacity_exceeded' })],
  [
    'overloaded',
    429,
    { object: 'error', message: 'Service tier capacity exceeded for this model.', type: 'service_tier_capacity_exceeded' },
  ],
  ['server_error', 500, error({ type: 'server_error' })],
  ['server_error', 502, ''],
  ['server_error', 424, error({})],
  ['server_error', 400, error({ code: 'tool_use_failed', failed_generation: 'x' })],
  ['timed_out', 504, ''],
  ['timed_out', 408, error({})],
  ['timed_out', 524, 'error code: 524'],
  ['bad_credential', 401, error({ code: 'invalid_api_key' })],
  ['bad_credential', 401, ''],
  ['bad_credential', 403, error({ code: 'unsupported_country_region_territory', message: 'Country, region, or territory not supported' })],
  ['bad_credential', 403, error({ message: 'Your API key was reported as leaked. Please use another API key.' })],
  ['out_of_quota', 403, error({ message: 'Your team has reached its monthly spending limit.' })],
  [
    'out_of_quota',
    403,
    error({ message: 'Your newly created team doesn’t have any credits yet. You can purchase those on https://console.x.ai/team/t.' }),
  ],
  [
    'out_of_quota',
    429,
    { success: false, errors: [{ code: 4006, message: 'You have used up your daily free allocation of 10,000 neurons' }] },
  ],
  [
    'bad_credential',
    403,
    error({ message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key." }),
  ],
  ['forbidden', 403, error({ message: 'You may not use this file.' })],
  ['forbidden', 403, '{"message":"Forbidden"}'],
  ['forbidden', 403, '<html><h1>Access denied by the firewall</h1></html>'],
  ['rejected', 404, error({ message: 'File not found: file_1', type: 'invalid_request_error' })],
  ['rejected', 404, error({ message: 'No such thing.', type: 'invalid_request_error', param: 'input[0]' })],
  ['stale_state', 404, error({ message: "Item with id 'rs_1' not found. Items are not persisted.", param: 'input' })],
  ['bad_credential', 400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xai-1234567890' }],
  ['bad_credential', 412, error({ message: 'Account suspended' })],
  ['unknown_model', 404, error({ code: 'model_not_found' })],
  ['unknown_model', 403, error({ code: 'model_not_found' })],
  ['unknown_model', 404, { error: 'model "x" not found, try pulling it first' }],
  ['unknown_model', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: claude-x' } }],
  ['unknown_address', 404, '{"detail":"Not Found"}'],
  ['unknown_address', 404, '404 page not found'],
  ['unknown_address', 404, { type: 'error', error: { type: 'not_found_error', message: 'Not Found' } }],
  ['unknown_address', 405, '{"detail":"Method Not Allowed"}'],
  ['unknown_model', 400, error({ code: 'model_decommissioned' })],
  ['unknown_model', 404, { status: 404, title: 'Not Found', detail: "Function '23d4f03a-b8a6': Not found for account 'BDnmPUMI2eN_Liw2'" }],
  ['unknown_model', 410, { title: 'Gone', status: 410, detail: "The model 'x/y' has reached its end of life on 2026-08-07." }],
  ['unknown_model', 410, ''],
  ['rejected', 410, error({ message: 'Container is expired.' })],
  ['unsupported', 404, error({ message: 'Could not fetch https://pictures.example/model.png.' })],
  ['unknown_model', 400, { success: false, errors: [{ code: 5007, message: 'AiError: No such model @cf/x/y or task' }] }],
  ['server_error', 421, ''],
  ['server_error', 423, ''],
  ['unknown_model', 400, error({ message: 'The model `x` does not exist or you do not have access to it.' })],
  ['too_long', 400, error({ code: 'context_length_exceeded' })],
  [
    'too_long',
    400,
    { object: 'error', message: "This model's maximum context length is 8192 tokens.", type: 'BadRequestError', code: 400 },
  ],
  ['too_long', 400, error({ type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' })],
  ['too_long', 400, error({ message: 'Prompt too big: 9000 > 8192' })],
  [
    'too_long',
    400,
    { success: false, errors: [{ code: 5021, message: 'AiError: The input of 70000 tokens exceeded this model context window limit.' }] },
  ],
  ['too_long', 413, error({ type: 'request_too_large' })],
  ['too_long', 413, error({ type: 'tokens', code: 'rate_limit_exceeded', message: 'Request too large for model' })],
  ['too_long', 413, ''],
  ['too_long', 413, '<html><h1>413 Request Entity Too Large</h1></html>'],
  ['policy', 400, error({ code: 'content_policy_violation' })],
  ['policy', 400, error({ code: 'content_filter', message: "The response was filtered due to Azure's content management policy" })],
  ['policy', 403, error({ message: 'Content violates usage guidelines. Failed check: safety check' })],
  [
    'policy',
    403,
    {
      code: 'The caller does not have permission to execute the specified operation',
      error: 'Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO',
    },
  ],
  ['policy', 400, error({ code: 'content_policy_violation', message: 'Request too large: Limit 50, Requested 100 tokens' })],
  ['rate_limited', 429, error({ message: 'Requested 100, Limit 50 tokens' })],
  ['rate_limited', 429, error({ code: 'rate_limit_exceeded', message: 'You said: request too large, insufficient funds' })],
  ['bad_credential', 401, error({ message: 'Request too large: Limit 50, Requested 100 tokens' })],
  ['forbidden', 403, error({ message: 'prompt is too long: 2 tokens > 1 maximum' })],
  ['policy', 451, ''],
  ['unsupported', 400, error({ type: 'invalid_request_error', code: 'unsupported_parameter', param: 'max_tokens' })],
  [
    'unsupported',
    400,
    error({ type: 'invalid_request_error', message: "Unsupported parameter: 'temperature' is not supported with this model." }),
  ],
  ['unsupported', 422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], msg: 'Extra inputs are not permitted' }] }],
  ['rejected', 400, error({ type: 'invalid_request_error', message: 'Invalid image' })],
  ['stale_state', 400, error({ code: 'invalid_encrypted_content' })],
  ['rejected', 422, { detail: [{ loc: ['body', 'messages', 0], msg: 'field required' }] }],
  ['rejected', 418, 'teapot'],
  ['unreadable', 502, '<html><body>Bad gateway</body></html>'],
  ['unreadable', 200, '<!DOCTYPE html><p>Log in to the Wi-Fi'],
  ['unreadable', 302, ''],
  ['rate_limited', 200, { error: { message: 'm', code: 429 } }],
])('a failure is %s: %i %j', (kind, status, body) => {
  expect(fail(status, body).kind).toBe(kind)
  expect(
    responsesProvider.decodeFailure({ status, body: typeof body === 'string' ? body : JSON.stringify(body), header: () => undefined, now })
      .kind,
  ).toBe(kind)
})

describe('what a request makes a provider quote', () => {
  const phrases = [
    'insufficient funds',
    'credit balance is too low',
    'Your credit balance is too low.',
    'spending limit',
    'billing hard limit',
    'incorrect api key',
    'api key not valid',
    'Invalid API key provided: x',
    'the server is overloaded',
    'tier capacity exceeded',
    'model x does not exist',
    'The model x does not exist',
    'The provided model identifier is invalid.',
    'on-demand throughput isn’t supported',
    'you don’t have access to the model',
    'the api key was reported as leaked',
    'unregistered callers',
    'your team has used all available credits',
    'No such model x',
  ]
  const quotes: readonly ((phrase: string) => string)[] = [
    phrase => `Unknown field: "${phrase}".`,
    phrase => `${phrase}: Extra inputs are not permitted`,
    phrase => `"a" ${phrase} "b" is no field.`,
    phrase => `Invalid schema for function 'f': In context=('properties', '${phrase}'), 'type' is missing.`,
    phrase => `Unrecognized request argument supplied: ${phrase}`,
    phrase => `Request blocked: ${phrase}`,
    phrase => `Blocked by rule 9: "a" ${phrase} "b"`,
  ]
  const shapes: readonly object[] = [
    {},
    { type: 'invalid_request_error', param: 'tools[0]' },
    { code: 'invalid_value' },
    { type: 'api_error' },
  ]
  /** The kinds that concern the request alone, or that the status of the code decides. */
  const harmless = new Set<FailureKind>(['rejected', 'unsupported', 'forbidden', 'rate_limited', 'server_error'])

  test.each(phrases)('never says anything about the account, the model or the load of the provider: %s', phrase => {
    for (const quote of quotes)
      for (const shape of shapes) {
        const body = error({ ...shape, message: quote(phrase) })
        for (const status of [400, 403, 409, 422])
          expect([status, body, harmless.has(fail(status, body).kind)]).toEqual([status, body, true])
        const inStream = errorOf(body as JsonObject)?.kind
        expect([body, inStream === 'server_error' || inStream === 'rejected' || inStream === 'unsupported']).toEqual([body, true])
      }
  })

  test('does not pause an account in a status of limits either, if it is quoted', () => {
    expect(fail(429, error({ message: 'Slow down. You sent "my spending limit is low".' })).kind).toBe('rate_limited')
    expect(fail(429, error({ message: 'You sent "try again in 9 minutes".' })).retryAfterMs).toBeUndefined()
    expect(fail(403, error({ message: 'Not allowed: "an expired api key".' })).kind).toBe('forbidden')
  })

  test('does not say for how long an offer is left alone in a status that it can cause', () => {
    const failure = fail(500, error({ message: 'Failed on: the model is overloaded, try again in 9 minutes' }))
    expect(failure).toMatchObject({ kind: 'overloaded' })
    expect(failure.retryAfterMs).toBeUndefined()
  })

  test('costs linear time to read', () => {
    const before = process.cpuUsage()
    for (const piece of ['"', "'", '`', '“', " '", 'model ', 'item with id ']) fail(400, error({ message: piece.repeat(100_000) }))
    // Quadratic work would take minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })
})

test.each<[FailureKind, string]>([
  [
    'out_of_quota',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  ['bad_credential', 'API key not valid. Please pass a valid API key.'],
  ['bad_credential', 'Incorrect API key provided: xa***34. You can obtain an API key from https://console.x.ai.'],
  ['unknown_model', 'The model `meta/llama:free` does not exist or you do not have access to it.'],
  ['unknown_model', 'The model gpt-9 does not exist.'],
])('a whole sentence of a vendor about an account or model is %s with status 400: %s', (kind, message) => {
  expect(fail(400, error({ type: 'invalid_request_error', message })).kind).toBe(kind)
})

test('a failure has the provider’s type, code and parameter', () => {
  expect(fail(400, error({ type: 'invalid_request_error', code: 'unsupported_value', param: 'temperature', message: 'No' }))).toEqual({
    kind: 'unsupported',
    status: 400,
    type: 'invalid_request_error',
    code: 'unsupported_value',
    param: 'temperature',
    message: 'No',
  })
  expect(fail(422, { detail: [{ loc: ['body', 'a'], msg: 'x' }, { msg: 'y' }] }).message).toBe('body.a: x; y')
  expect(fail(500, '').message).toBe('The provider answered with status 500.')
  expect(fail(502, '<html>secret page').message).not.toContain('secret')
})

describe('a plain-text error of a provider or a proxy', () => {
  test.each<[FailureKind, number, string]>([
    ['too_long', 400, 'This model has a maximum context length of 8192 tokens.'],
    ['policy', 400, 'The prompt was flagged by the safety system.'],
    ['out_of_quota', 400, 'Your credit balance is too low.'],
    ['unknown_model', 404, 'The model gpt-9 does not exist.'],
    ['overloaded', 503, 'upstream connect error or disconnect/reset before headers'],
    ['rejected', 400, '"Invalid image."'],
  ])('is %s and keeps its text', (kind, status, body) => {
    expect(fail(status, body)).toEqual({ kind, status, message: body.replaceAll('"', '') })
  })

  test('about a wrong key has the kind bad_credential, and is quoted for the operator alone', () => {
    expect(fail(400, 'Invalid API key provided: abc')).toEqual({
      kind: 'bad_credential',
      status: 400,
      message: 'The provider rejected the credential of the gateway.',
      hiddenText: 'Invalid API key provided: abc',
    })
  })
})

test('a message among `errors` reaches the caller', () => {
  expect(fail(400, { success: false, errors: [{ code: 5004, message: 'AiError: Invalid data' }] }).message).toBe('AiError: Invalid data')
  expect(fail(400, { errors: ['no such field'] }).message).toBe('no such field')
})

test('a list of errors is read as its first one', () => {
  const one = { error: { code: 429, message: 'Quota exceeded for the project.', status: 'RESOURCE_EXHAUSTED' } }
  const alone = fail(429, one)
  expect(alone).toMatchObject({ kind: 'rate_limited', message: 'Quota exceeded for the project.', type: 'RESOURCE_EXHAUSTED' })
  expect(fail(429, [one])).toEqual(alone)
  expect(fail(429, [one, { error: { message: 'another' } }])).toEqual(alone)
  expect(fail(400, [{ error: { code: 'context_length_exceeded', message: 'm' } }]).kind).toBe('too_long')
  expect(fail(400, [])).toMatchObject({ kind: 'rejected', message: 'The provider answered with status 400.' })
})

test('a refused credential has the same message, whatever the provider’s message is', () => {
  for (const body of ['', error({ message: 'Incorrect API key provided: sk-abc' }), 'Unauthorized'])
    expect(fail(401, body).message).toBe('The provider rejected the credential of the gateway.')
})

test('an invalid location is left out of the message, and the rest is kept', () => {
  const nested = { detail: [{ loc: [{ toString: 1 }, ['x'], 'body', 3, null], msg: 'm' }] }
  expect(fail(429, nested)).toMatchObject({ kind: 'rate_limited', message: 'body.3: m' })
})

test('a provider’s message about credentials is never quoted', () => {
  for (const [status, message] of [
    [401, 'Incorrect API key provided: sk-abc'],
    [403, 'org-secret may not'],
    [400, 'Incorrect API key provided: abc'],
  ] as const) {
    const { message: shown } = fail(status, error({ message }))
    expect(shown).not.toMatch(/sk-abc|org-secret|abc/)
  }
})

describe('redaction', () => {
  test.each([
    ['key sk-proj-abcDEF1234567890 wrong', 'key [redacted] wrong'],
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['token eyJhbGciOi.eyJzdWIiOi.sig_nature', 'token [redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['AIzaSyA1234567890abcdefghijk', '[redacted]'],
    ['GET /v1?key=topsecret&x=1', 'GET /v1?key=[redacted]&x=1'],
    ['ak_0123456789abcdef', '[redacted]'],
    ['line\r\nevent: x\u0000', 'line event: x'],
    ['a risk-free asking for skill', 'a risk-free asking for skill'],
  ])('of %j', (text, expected) => expect(redact(text)).toBe(expected))

  test('leaves at most 500 characters, no half characters, and no part of a secret', () => {
    expect(redact('x'.repeat(9000))).toHaveLength(500)
    expect(redact('😀'.repeat(600))).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
    expect(redact(`${'x '.repeat(246)}sk-abcdefghijklmnop`)).not.toContain('abc')
  })

  test('stays fast on hostile text', () => {
    const before = process.cpuUsage()
    for (const piece of ['sk-', 'eyJ', 'Bearer ', 'key=', 'AKIA', 'a.b.', 'sk-sk-_-']) redact(piece.repeat(300_000))
    // Quadratic work would take minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })
})

describe('the retry delay', () => {
  const limited = (headers: Readonly<Record<string, string>>, message = 'm') => fail(429, error({ message }), headers).retryAfterMs
  test.each<[string, number | undefined]>([
    ['5', 5000],
    ['5.289', 5289],
    ['0', 1000],
    ['0.2', 1000],
    ['86400', 600_000],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['NaN', undefined],
    ['1e9', undefined],
    ['12ms', 1000],
    ['1s', 1000],
    ['6m0s', 360_000],
    ['2m59.56s', 179_560],
    ['1h2m3.5s', 600_000],
    ['34.4s', 34_400],
    ['2026-11-21T10:00:30Z', 30_000],
    ['Sat, 21 Nov 2026 10:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2020 10:01:00 GMT', 1000],
    ['Sat, 21 Nov 2099 10:01:00 GMT', 600_000],
    [String(now / 1000 + 20), 20_000],
    [String(now + 20_000), 20_000],
    ['9'.repeat(400), undefined],
  ])('is read from the header %s', (value, expected) => {
    expect(parseDelay(value, now)).toBe(expected)
    expect(limited({ 'retry-after': value })).toBe(expected)
  })

  test.each<[string, number | undefined]>([
    ['Rate limit reached. Please try again in 5.289s. Visit', 5289],
    ['Please try again in 7m12s', 432_000],
    ['please retry after 20 seconds', 20_000],
    ['Try again in 1.5s.', 1500],
    ['try again in 250ms', 1000],
    ['try again in 2 minutes', 120_000],
    ['try again later', undefined],
  ])('is read from the message %s', (message, expected) => {
    expect(parseDelayInMessage(message, now)).toBe(expected)
    expect(limited({}, message)).toBe(expected)
  })

  test('is taken from milliseconds before seconds, from headers before the message, from the message before rate limits', () => {
    expect(limited({ 'retry-after-ms': '2500', 'retry-after': '9' })).toBe(2500)
    expect(limited({ 'retry-after': '9' }, 'try again in 3s')).toBe(9000)
    expect(limited({ 'x-ratelimit-reset-tokens': '40s' }, 'try again in 3s')).toBe(3000)
  })
  test('is that of the exhausted rate limit', () => {
    expect(
      limited({
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '40s',
        'x-ratelimit-remaining-tokens': '99',
        'x-ratelimit-reset-tokens': '2s',
      }),
    ).toBe(40_000)
    expect(limited({ 'x-ratelimit-reset-requests': '40s', 'x-ratelimit-reset-tokens': '2s' })).toBe(2000)
    expect(fail(500, '', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '40s' }).retryAfterMs).toBeUndefined()
    expect(fail(503, '', { 'retry-after': '7' }).retryAfterMs).toBe(7000)
  })
  test('is read from the body', () => {
    expect(fail(429, { error: { message: 'm', details: [{ '@type': 'RetryInfo', retryDelay: '34.4s' }] } }).retryAfterMs).toBe(34_400)
  })
})
