import type { FailedAnswer } from '../protocol/dialect.ts'
import type { Failure, FailureKind } from '../protocol/failure.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { parseBounded } from './frame.ts'
import { objects } from './json.ts'
import { retryAfter } from './parse-retry-after.ts'
import { redact } from './redact.ts'

/** What a provider said about its trouble, whatever the shape it came in. */
export interface ErrorDetails {
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly message: string
}

interface Row {
  readonly kind: FailureKind
  /** Every condition that is named must hold. A row that names statuses also fits an error inside a stream, which has none, unless `strictly`. */
  readonly status?: readonly number[]
  readonly strictly?: true
  /** Against the code and the type, each as a whole. */
  readonly names?: RegExp
  /** Against the message. */
  readonly says?: RegExp
}

const faulty = [400, 403, 413, 422]

/** First fit wins: names that leave no doubt, then words, then the bare status. */
const rows: readonly Row[] = [
  {
    kind: 'out_of_quota',
    names:
      /^(insufficient_quota|credit_balance_exhausted|(organization|project)_(spend|usage)_limit_exceeded|billing_hard_limit_reached|billing_not_active|billing_error|insufficient_(balance|credits|funds)|enforced_spend_limit_reached|usage_limit_reached|payment_required|servicequotaexceededexception)$/i,
  },
  // The name of a quota that is full again tomorrow.
  { kind: 'out_of_quota', names: /^\w*PerDay/ },
  { kind: 'out_of_quota', status: [402], strictly: true },
  { kind: 'out_of_quota', says: /credit balance is too low|insufficient (balance|credits|funds)|billing hard limit|spend(ing)? limit/i },
  {
    kind: 'rate_limited',
    names: /^(rate_limit(ed|_error|_exceeded)?|too_many_requests|slow_down|resource_exhausted|throttlingexception)$/i,
  },
  {
    kind: 'overloaded',
    names:
      /^(server_is_overloaded|overloaded(_error)?|engine_overloaded(_error)?|capacity_exceeded|service_unavailable(_error)?|insufficient_system_resource|unavailable|serviceunavailableexception|modelnotreadyexception)$/i,
  },
  { kind: 'overloaded', says: /tier capacity exceeded|(server|engine|model) is (currently )?overloaded/i },
  { kind: 'stale_state', names: /^invalid_encrypted_content$/ },
  { kind: 'stale_state', status: faulty, says: /thought[ _]signature/i },
  // Signed thoughts that are not as they were, or do not stand where they did.
  {
    kind: 'stale_state',
    status: faulty,
    says: /invalid .?signature.? in .{0,40}thinking|thinking.? blocks?\b.{0,80}\b(cannot be modified|must match|prefix|invalid|signature)|prefix mismatch/i,
  },
  {
    kind: 'policy',
    names:
      /^(content_policy_violation|content_filter|invalid_prompt|cyber_policy|bio_policy|responsibleaipolicyviolation|moderation(_blocked)?|safety)$/i,
  },
  { kind: 'policy', status: faulty, says: /content (management )?policy|safety (check|system)|flagged (as|for|by)|moderation/i },
  { kind: 'policy', status: [451], strictly: true },
  {
    kind: 'unknown_model',
    names: /^(model_not_found|model_decommissioned|deploymentnotfound|model_not_available|not_found_error|resourcenotfoundexception)$/i,
  },
  {
    kind: 'unknown_model',
    status: [400, 404],
    says: /model\b.{0,120}\b(does not exist|not found|decommissioned|is not available|no longer available)/i,
  },
  {
    kind: 'unknown_model',
    status: [400, 403],
    says: /on-demand throughput isn.t supported|model identifier is invalid|don.t have access to the model|isn.t supported on this route/i,
  },
  { kind: 'unsupported', status: [400, 403], says: /did not allow prompt caching/i },
  {
    kind: 'bad_credential',
    names:
      /^(invalid_api_key|api_key_invalid|authentication_error|unauthenticated|permission_error|permission_denied|account_deactivated|invalid_authentication|failed_precondition|accessdeniedexception|unrecognizedclientexception|expiredtokenexception|invalidsignatureexception)$/i,
  },
  { kind: 'bad_credential', says: /(incorrect|invalid|expired|missing) api[- ]?key|api key (is )?(not valid|invalid|expired)/i },
  { kind: 'bad_credential', status: [401, 403, 412], strictly: true },
  { kind: 'unknown_model', status: [404], strictly: true },
  { kind: 'too_long', names: /^(context_length_exceeded|string_above_max_length|request_too_large)$/i },
  {
    kind: 'too_long',
    status: faulty,
    says: /context_length_exceeded|maximum context length|(prompt|input) is too long|exceeds? the (maximum|max) number of (input )?tokens|too many (input )?tokens|context (window|length|limit)/i,
  },
  { kind: 'rate_limited', status: [429], strictly: true },
  {
    kind: 'server_error',
    names:
      /^(tool_use_failed|server_error|internal(_server)?_error|api_error|internal|internalserverexception|model(stream)?errorexception)$/i,
  },
  { kind: 'timed_out', names: /^(timeout(_error)?|deadline_exceeded|gateway_timeout|modeltimeoutexception)$/i },
  {
    kind: 'unsupported',
    names: /^(unsupported_(parameter|value|model)|unknown_parameter|extra_forbidden|not_supported|operationnotsupported)$/i,
  },
  {
    kind: 'unsupported',
    status: faulty,
    says: /unsupported (parameter|value)|unknown parameter|unrecognized (request )?argument|extra inputs are not permitted|(is|are) (not supported|unsupported)|does ?n[o']t support/i,
  },
  { kind: 'overloaded', status: [498, 503, 529], strictly: true },
  { kind: 'timed_out', status: [408, 504, 522, 524, 598], strictly: true },
  { kind: 'server_error', status: [409, 424, 425, 499], strictly: true },
  { kind: 'rejected', names: /^(invalid_request(_error)?|bad_request|invalid_argument|validationexception)$/i },
]

const fits = (row: Row, { status, type, code, message }: ErrorDetails): boolean =>
  (!row.status || (status === undefined ? !row.strictly : row.status.includes(status))) &&
  (!row.names || (code !== undefined && row.names.test(code)) || (type !== undefined && row.names.test(type))) &&
  (!row.says || row.says.test(message.slice(0, 2000)))

function classify(complaint: ErrorDetails): FailureKind {
  const row = rows.find(each => fits(each, complaint))
  if (row) return row.kind
  const { status } = complaint
  if (status !== undefined && status < 400) return 'unreadable'
  return status !== undefined && status < 500 ? 'rejected' : 'server_error'
}

/** A failure with words that may be shown. What a provider says about its credentials is never repeated: it tends to quote them. */
export function failureOf(complaint: ErrorDetails): Failure {
  const kind = classify(complaint)
  const { status, code, type, param } = complaint
  const words = kind === 'bad_credential' || status === 401 || status === 403 ? '' : redact(complaint.message)
  return {
    kind,
    message: words === '' ? silent(kind, status) : words,
    ...(code !== undefined && { code: redact(code) }),
    ...(type !== undefined && { type: redact(type) }),
    ...(param !== undefined && { param: redact(param) }),
    ...(status !== undefined && { status }),
  }
}

const silent = (kind: FailureKind, status: number | undefined): string => {
  if (kind === 'bad_credential') return 'The provider refused our credential.'
  return status === undefined ? 'The provider reported an error without a message.' : `The provider answered with status ${status}.`
}

export const unreadable = (message: string): Failure => ({ kind: 'unreadable', message })

/** An unhappy HTTP answer of a provider that words its errors as most do. */
export function decodeFailedAnswer({ status, body, header, now }: FailedAnswer): Failure {
  if (looksLikePage(body, header('content-type'))) {
    const kind: FailureKind = status === 429 ? 'rate_limited' : 'unreadable'
    const page: Failure = { kind, message: `The provider answered with a web page instead of an answer (status ${status}).`, status }
    return withDelay(page, retryAfter({ header, now, message: '', body: undefined, limited: kind === 'rate_limited' }))
  }
  const parsed = parseBounded(body)
  const said = readErrorDetails(parsed ?? body)
  const complaint = { ...said, status: status >= 400 ? status : (said.status ?? status) }
  const failure = failureOf(complaint)
  const limited = failure.kind === 'rate_limited' || failure.kind === 'overloaded'
  return withDelay(failure, retryAfter({ header, now, message: complaint.message, body: parsed, limited }))
}

const withDelay = (failure: Failure, retryAfterMs: number | undefined): Failure =>
  retryAfterMs === undefined ? failure : { ...failure, retryAfterMs }

const looksLikePage = (body: string, type: string | undefined): boolean =>
  /^\s*<(!doctype|html|head|body|\?xml)/i.test(body.slice(0, 200)) ||
  (/^text\/html/i.test(type ?? '') && !/^\s*[{[]/.test(body.slice(0, 200)))

/** `{error: {…}}`, `{error: "text"}`, a flat `{message, code}`, `{detail}`, a list of any of them, or plain text. */
export function readErrorDetails(wire: Json): ErrorDetails {
  if (typeof wire === 'string') return { message: wire }
  if (Array.isArray(wire)) return readErrorDetails((wire as readonly Json[])[0] ?? '')
  if (!isObject(wire)) return { message: '' }
  const inner = wire.error ?? wire
  const error = isObject(inner) ? inner : wire
  const said = typeof inner === 'string' ? inner : (textOf(error.message) ?? textOf(error.msg) ?? detailOf(error.detail) ?? '')
  return {
    message: said,
    type: nameOf(error.type) ?? nameOf(error.status),
    code: nameOf(error.code) ?? (isObject(error.innererror) ? nameOf(error.innererror.code) : undefined) ?? reasonIn(error.details),
    param: nameOf(error.param),
    status: statusOf(error.code),
  }
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const nameOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined

/** What few codes leave open is said in details: a code, or in a list of Google's services a quota that is used up for the day, or a reason. */
function reasonIn(details: Json | undefined): string | undefined {
  if (isObject(details)) return nameOf(details.error_code)
  const entries = objects(details)
  const quotas = entries.flatMap(({ violations }) => objects(violations)).map(({ quotaId }) => nameOf(quotaId))
  return quotas.find(quota => quota?.includes('PerDay')) ?? entries.map(({ reason }) => nameOf(reason)).find(reason => reason !== undefined)
}

/** Some put the HTTP status where others name a code. */
const statusOf = (code: Json | undefined): number | undefined => {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined
}

/** `detail: "text"` or the list of complaints that a schema check leaves. */
function detailOf(detail: Json | undefined): string | undefined {
  if (!Array.isArray(detail)) return textOf(detail)
  const said = (detail as readonly Json[]).slice(0, 5).map(entry => (isObject(entry) ? `${where(entry)}${textOf(entry.msg) ?? ''}` : ''))
  return textOf(said.filter(words => words !== '').join('; '))
}

const where = ({ loc }: JsonObject): string => (Array.isArray(loc) ? `${(loc as readonly Json[]).filter(isStep).join('.')}: ` : '')

/** A name or a number; the text of anything else is nothing that may be shown, or throws. */
const isStep = (step: Json): boolean => typeof step === 'string' || typeof step === 'number'
