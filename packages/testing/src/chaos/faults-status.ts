import type { AnswerError } from '../answers/answer.ts'
import { type HeaderFields, type Respond, refusing, whole } from './acts.ts'
import { alike, type Expected, e400, e429, e502, e503, type Fault, faultOf, type Row } from './expect.ts'

const trouble = (type: string, code: string | null, message: string): AnswerError => ({ type, code, message })
const invalid = (code: string | null, message: string, param?: string): AnswerError => ({
  ...trouble('invalid_request_error', code, message),
  ...(param !== undefined && { param }),
})

const serverError = trouble('server_error', 'server_error', 'The server had an error while processing your request.')
const limited = trouble('requests', 'rate_limit_exceeded', 'Rate limit reached for requests per minute. Please slow down.')
const overloaded = trouble('overloaded_error', 'server_is_overloaded', 'The engine is currently overloaded, please try again later.')
const quota = trouble(
  'insufficient_quota',
  'insufficient_quota',
  'You exceeded your current quota, please check your plan and billing details.',
)
const billing = trouble('insufficient_quota', 'billing_hard_limit_reached', 'Billing hard limit has been reached.')
const policy = invalid('content_policy_violation', 'Your request was rejected as a result of our safety system.')
const tooLong = invalid(
  'context_length_exceeded',
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  'messages',
)
const badTool = invalid(
  'invalid_function_parameters',
  "Invalid schema for function 'get_weather': schema must be of type object.",
  'tools[0].function.parameters',
)
const badImage = invalid('invalid_image_url', 'The image could not be read.', 'messages[0].content[1].image_url')
const noSuchParameter = invalid('unsupported_parameter', "Unsupported parameter: 'top_p' is not supported with this model.", 'top_p')
const tooLarge = invalid('request_too_large', 'Request body too large.')
const unprocessable = invalid(null, 'body.messages.0.content: field required')

/** Secrets as providers echo them, none of which may ever reach a client. */
export const leakedSecret = 'sk-proj-CANARY0123456789abcdefABCDEF'
const badKey = invalid(
  'invalid_api_key',
  `Incorrect API key provided: ${leakedSecret}. You can find your API key at https://platform.example.com.`,
)
const forbidden = trouble('permission_error', 'model_not_allowed', `Project of key ${leakedSecret} does not have access to this model.`)
const gone = invalid('model_not_found', 'The model `gpt-gone` does not exist or you do not have access to it.')

interface Refusal {
  readonly row: number
  readonly name: string
  readonly status: number
  readonly trouble: AnswerError
  readonly expect: Expected
  /** Created when it is sent, because dates are relative to then. */
  readonly headers?: () => HeaderFields
  readonly needs?: NonNullable<Fault['needs']>
}

const inDate = (seconds: number) => (): HeaderFields => ({ 'retry-after': new Date(Date.now() + seconds * 1000).toUTCString() })
const limitedBy = (row: number, name: string, headers: () => HeaderFields): Refusal => ({
  row,
  name,
  status: 429,
  trouble: limited,
  expect: e429,
  headers,
})
/** The client receives about this `Retry-After`. */
const waiting = (retryAfter: readonly [number, number], row: Refusal): Refusal => ({ ...row, expect: { ...e429, retryAfter } })

const e502or400: Expected = { ...e502, status: [400, 502], code: [] }
const e502or504: Expected = { ...e502, status: [502, 504], code: ['provider_error', 'provider_timeout'] }
const year = 365 * 86_400

const refusals: readonly Refusal[] = [
  {
    row: 20,
    name: 'context-length',
    status: 400,
    trouble: tooLong,
    expect: { ...e400, code: ['context_length_exceeded'], fallback: 'maybe' },
  },
  { row: 20, name: 'bad-tool-schema', status: 400, trouble: badTool, expect: e400 },
  { row: 20, name: 'bad-image', status: 400, trouble: badImage, expect: e400 },
  { row: 21, name: 'unsupported-parameter', status: 400, trouble: noSuchParameter, expect: e502or400 },
  { row: 22, name: 'status-401', status: 401, trouble: badKey, expect: e502 },
  { row: 22, name: 'status-403', status: 403, trouble: forbidden, expect: e502 },
  { row: 23, name: 'own-key-401', status: 401, trouble: badKey, expect: { ...e502, fallback: 'maybe' }, needs: 'workspace credential' },
  { row: 23, name: 'own-key-403', status: 403, trouble: forbidden, expect: { ...e502, fallback: 'maybe' }, needs: 'workspace credential' },
  {
    row: 24,
    name: 'status-402',
    status: 402,
    trouble: trouble('billing_error', 'insufficient_balance', 'Insufficient Balance'),
    expect: e502,
  },
  { row: 24, name: 'insufficient-quota', status: 429, trouble: quota, expect: e502 },
  { row: 25, name: 'status-404', status: 404, trouble: gone, expect: { ...e503, code: ['provider_error', 'routing_failed'] } },
  ...[408, 504].map((status): Refusal => ({ row: 26, name: `status-${status}`, status, trouble: serverError, expect: e502or504 })),
  ...[409, 425, 500, 502].map((status): Refusal => ({ row: 26, name: `status-${status}`, status, trouble: serverError, expect: e502 })),
  { row: 26, name: 'status-503', status: 503, trouble: overloaded, expect: e503 },
  { row: 27, name: 'status-413', status: 413, trouble: tooLarge, expect: { ...e400, status: [400, 413], fallback: 'maybe' } },
  { row: 28, name: 'status-422', status: 422, trouble: unprocessable, expect: e400 },
  waiting(
    [1, 2],
    limitedBy(29, 'retry-after-seconds', () => ({ 'retry-after': '2' })),
  ),
  waiting(
    [1, 1],
    limitedBy(29, 'retry-after-zero', () => ({ 'retry-after': '0' })),
  ),
  waiting(
    [1, 2],
    limitedBy(29, 'retry-after-fraction', () => ({ 'retry-after': '1.2' })),
  ),
  waiting([1, 20], limitedBy(30, 'retry-after-date', inDate(20))),
  waiting([1, 1], limitedBy(30, 'retry-after-past-date', inDate(-3600))),
  waiting([1, 600], limitedBy(30, 'retry-after-far-date', inDate(3 * year))),
  limitedBy(31, 'no-retry-after', () => ({})),
  limitedBy(31, 'retry-after-garbage', () => ({ 'retry-after': 'soon, please' })),
  limitedBy(31, 'retry-after-negative', () => ({ 'retry-after': '-5' })),
  waiting(
    [1, 2],
    limitedBy(31, 'retry-after-ms', () => ({ 'retry-after-ms': '1500' })),
  ),
  limitedBy(31, 'reset-duration', () => ({
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '6m0s',
    'x-ratelimit-reset-tokens': '12ms',
  })),
  limitedBy(31, 'reset-epoch', () => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 30) })),
  limitedBy(31, 'reset-epoch-ms', () => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.now() + 30_000) })),
  { row: 32, name: 'billing-limit', status: 429, trouble: billing, expect: e502 },
  ...[529, 598].map(
    (status): Refusal => ({
      row: 33,
      name: `status-${status}`,
      status,
      trouble: overloaded,
      expect: { ...e503, status: [502, 503, 504], code: [] },
    }),
  ),
  ...[520, 521, 522, 523, 524, 525, 526, 527].map(
    (status): Refusal => ({
      row: 33,
      name: `status-${status}`,
      status,
      trouble: serverError,
      expect: { ...e503, status: [502, 503, 504], code: [] },
    }),
  ),
  { row: 34, name: 'status-451', status: 451, trouble: policy, expect: { ...e400, code: ['content_policy_violation'] } },
  { row: 34, name: 'content-policy', status: 400, trouble: policy, expect: { ...e400, code: ['content_policy_violation'] } },
]

const page = (size: number): string =>
  `<!DOCTYPE html><html><head><title>Bad gateway</title></head><body><h1>${leakedSecret}</h1>${'<p>cloudy</p>'.repeat(size / 13)}</body></html>`

const htmlUnder =
  (status: number, size: number): Respond =>
  exchange =>
    whole(status, { 'content-type': 'text/html; charset=utf-8' }, page(size))(exchange)

const pages: readonly Row[] = [
  { row: 37, name: 'html-200', respond: htmlUnder(200, 2_000), expect: alike(e502) },
  { row: 38, name: 'html-502', respond: htmlUnder(502, 100_000), expect: alike(e502) },
  { row: 38, name: 'html-504', respond: htmlUnder(504, 100_000), expect: alike(e502or504) },
]

const asRow = ({ status, trouble, headers, expect, ...row }: Refusal): Row => ({
  ...row,
  respond: refusing(status, trouble, headers),
  expect: alike(expect),
})

export const statusFaults: readonly Fault[] = [...refusals.map(asRow), ...pages].map(faultOf)

/** Errors that other tables use with status 200 or inside a stream. */
export const troubles = { serverError, limited, overloaded, policy, quota } as const
