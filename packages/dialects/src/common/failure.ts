import type { FailedAnswer } from '../protocol/dialect.ts'
import type { Failure, FailureKind } from '../protocol/failure.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { isContextOverflow, isLargerThanRateLimit } from './context-overflow.ts'
import { objects } from './json.ts'
import { parseBounded } from './parse-frame.ts'
import { retryAfter } from './parse-retry-after.ts'
import { redact } from './redact.ts'

/** The details of a provider's error, in whatever format it came. */
export interface ErrorDetails {
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly message: string
}

interface FailureRule {
  readonly kind: FailureKind
  /** All given conditions must match. Unless `strictly`, a row with statuses also matches an error inside a stream, which has no status. */
  readonly status?: readonly number[]
  readonly strictly?: true
  /** Matched against the whole code and the whole type. */
  readonly names?: RegExp
  /** Matched against the message without the texts that it quotes. */
  readonly message?: RegExp
  /** Matched against the message as it came. Must be anchored at both ends, so that no text of a request can make an error match. */
  readonly sentence?: RegExp
  /** Reads the meaning of a message whose words differ between servers. */
  readonly when?: (details: ErrorDetails) => boolean
}

/** Statuses of a request that is at fault by its content. */
const faulty = [400, 403, 413, 422]
const tooLarge = [400, 413, 422]

// Sentences of vendors that say something about an account or model with status 400. Each is matched from its start to its end: an error
// that quotes a request has words of its own beside them.

/** Anthropic: anthropics/claude-code#1321. */
const lowCredit =
  /^Your credit balance is too low(?: to access the (?:Anthropic |Claude )?API)?\.(?: Please go to Plans & Billing(?: to upgrade or purchase credits)?\.)?$/i

/** xAI: "Incorrect API key provided: xa***34. You can obtain an API key from https://console.x.ai." Gemini: "API key not valid. Please …". */
const wrongKey =
  /^(?:(?:incorrect|invalid|expired|missing) api[- ]?key(?: provided(?:: [\w*.-]{1,200})?)?\.?(?: You can (?:find|obtain) (?:an|your) API key (?:at|from|on) https:\/\/[\w./-]{1,100})?|API key (?:is )?(?:not valid|invalid|expired)\.?(?: Please (?:pass a valid|renew the) API key\.)?)$/i

/** Gemini: "Your API key was reported as leaked. Please use another API key." and "Method doesn't allow unregistered callers (…). Please …". */
const refusedKey =
  /^(?:(?:your|this|the) API key (?:is |was |has been )?(?:not valid|invalid|expired|revoked|disabled|reported as leaked)\b[^"`“:]{0,200}|Method doesn.t allow unregistered callers\b[^"`“:]{0,300})$/i

/** xAI: "Your team … has either used all available credits or reached its monthly spending limit. …" A sentence that begins with the account. */
const emptyAccount =
  /^(?:(?:sorry, )?(?:your|this|the)(?: [\w-]{1,40}){0,3} (?:team|account|organization|project|workspace)s?\b[^"`“:]{0,300}\b(?:credits?|balance|funds|spend(?:ing)? limit|billing hard limit)\b(?:[^"`“:]|https:\/\/){0,300}|insufficient (?:account )?(?:balance|credits?|funds)[.!]?)$/i

/** OpenAI's sentence and those made like it; Bedrock's about models, profiles and routes; Cloudflare's. */
const noSuchModel = new RegExp(
  `^(?:${[
    '(?:(?:the|this) )?(?:requested )?model:? (?:[\'"`]?[\\w.:/@-]{1,200}[\'"`]? )?(?:does not exist|(?:is |was )?not found|has been decommissioned|is (?:not|no longer) available|isn.t supported on this route)(?: or you do not have access to it)?',
    'Invocation of model ID [\\w.:/-]{1,200} with on-demand throughput isn.t supported\\. Retry (?:your request )?with (?:the ID or ARN of )?an inference profile(?: that contains this model)?',
    'The provided model identifier is invalid',
    'You don.t have access to the model with the specified model ID',
    '(?:AiError: )*No such model [\\w.:/@-]{1,200}(?: or task)?',
  ].join('|')})\\.?$`,
  'i',
)

/** What providers call something that a request names by its id. */
const storedThing = /^(the |no such )?(file|item|container|skill|response|conversation|vector store|cached ?content|image)s?\b/i

/**
 * The first match wins: codes, statuses that say all, texts, general statuses.
 *
 * Providers quote requests in their errors, and the kinds of credentials, quota, models and overload pause an offer or an account for all its
 * users. Such a kind needs a code, a status that a request cannot cause by its content, or a whole sentence of the vendor. A part of a text
 * decides only between kinds that concern the request alone.
 */
const failureRules: readonly FailureRule[] = [
  // OpenAI with 429 and Groq with 413 send the code of an ordinary rate limit.
  { kind: 'too_long', status: [413, 429], names: /^(rate_limit_exceeded|rate_limit_error|tokens)$/i, when: isLargerThanRateLimit },
  {
    kind: 'out_of_quota',
    names:
      /^(insufficient_quota|exceeded_current_quota_error|credit_balance_exhausted|(organization|project)_(spend|usage)_limit_exceeded|billing_hard_limit_reached|billing_not_active|billing_error|billing_disabled|insufficient_(balance|credits|funds)|enforced_spend_limit_reached|usage_limit_reached|payment_required|servicequotaexceededexception)$/i,
  },
  // A quota that resets daily.
  { kind: 'out_of_quota', names: /^\w*PerDay/ },
  { kind: 'out_of_quota', status: [402], strictly: true },
  {
    kind: 'rate_limited',
    names: /^(rate_limit(ed|_error|_exceeded)?|too_many_requests|slow_down|throttlingexception)$/i,
  },
  {
    kind: 'overloaded',
    names:
      /^(server_is_overloaded|overloaded(_error)?|engine_overloaded(_error)?|(service_tier_)?capacity_exceeded|service_unavailable(_error)?|insufficient_system_resource|unavailable|serviceunavailableexception|modelnotreadyexception)$/i,
  },
  { kind: 'stale_state', names: /^invalid_encrypted_content$/ },
  {
    kind: 'policy',
    names:
      /^(content_policy_violation|content_filter|invalid_prompt|cyber_policy|bio_policy|responsibleaipolicyviolation|moderation(_blocked)?|safety)$/i,
  },
  {
    kind: 'unknown_model',
    names: /^(model_not_found|model_decommissioned|deploymentnotfound|model_not_available|resourcenotfoundexception)$/i,
  },
  // The reasons of Google: cloud.google.com/docs/reference/rest, google.api.ErrorReason.
  {
    kind: 'bad_credential',
    names:
      /^(invalid_api_key|api_key_(invalid|service_blocked|http_referrer_blocked|ip_address_blocked)|service_disabled|consumer_(invalid|suspended)|authentication_error|unauthenticated|account_deactivated|invalid_authentication|unsupported_country_region_territory|unrecognizedclientexception|expiredtokenexception|invalidsignatureexception)$/i,
  },
  // Google has one code for what an account may not do and for the state of a file. ai.google.dev/gemini-api/docs/troubleshooting
  {
    kind: 'bad_credential',
    names: /^failed_precondition$/i,
    sentence:
      /^(User location is not supported for the API use\b[\w ]*\.?|Gemini API free tier is not available in your country\. Please enable billing [^"]{0,200})$/i,
  },
  { kind: 'bad_credential', status: [401, 412], strictly: true },
  { kind: 'policy', status: [451], strictly: true },
  // Reasoning that OpenAI did not store, named by its id: openai/openai-agents-python#919.
  { kind: 'stale_state', status: [404], strictly: true, message: /^item with id \S{1,200} not found/i },
  // An id that the request names was not found; the model and the address were.
  { kind: 'rejected', status: [404], strictly: true, when: ({ param }) => param !== undefined && param !== 'model' },
  { kind: 'rejected', status: [404, 410], strictly: true, message: storedThing },
  // An address in the request, which another provider may reach.
  {
    kind: 'unsupported',
    status: [404],
    strictly: true,
    message: /\b(could not|couldn.t|cannot|can.t|unable to|failed to) (fetch|download|retrieve|load)\b/i,
  },
  { kind: 'unknown_model', names: /^not_found_error$/, message: /\bmodel|\bdeployment/i },
  // NVIDIA: "Function '…': Not found for account '…'", and 410 after the end of life of a model (NVIDIA/NemoClaw#11902).
  {
    kind: 'unknown_model',
    status: [404],
    strictly: true,
    message: /\bmodel|\bdeployment|\bengine\b|^function \S{1,200} not found for account\b/i,
  },
  { kind: 'unknown_model', status: [410], strictly: true },
  // A wrong path: a model that does not exist is named.
  { kind: 'unknown_address', names: /^not_found_error$/ },
  { kind: 'unknown_address', status: [404, 405], strictly: true },
  { kind: 'too_long', names: /^(context_length_exceeded|request_too_large)$/i },
  // The same code is sent for a name of a tool that is too long.
  { kind: 'too_long', names: /^string_above_max_length$/, message: /^(?!.{0,400}maximum length \d{1,5}\b)/ },
  { kind: 'timed_out', names: /^(timeout(_error)?|deadline_exceeded|gateway_timeout|modeltimeoutexception)$/i },
  {
    kind: 'unsupported',
    names: /^(unsupported_(parameter|value|model)|unknown_parameter|extra_forbidden|not_supported|operationnotsupported)$/i,
  },

  { kind: 'out_of_quota', status: [400, 403, 422], strictly: true, sentence: lowCredit },
  { kind: 'out_of_quota', status: [403], strictly: true, sentence: emptyAccount },
  { kind: 'bad_credential', status: [400, 403, 422], strictly: true, sentence: wrongKey },
  { kind: 'bad_credential', status: [403], strictly: true, sentence: refusedKey },
  { kind: 'unknown_model', status: [400, 403, 422], strictly: true, sentence: noSuchModel },

  { kind: 'stale_state', status: faulty, message: /thought[ _]signature/i },
  // Signed reasoning that was changed or moved.
  {
    kind: 'stale_state',
    status: faulty,
    message:
      /invalid .?signature.? in .{0,40}thinking|thinking.? blocks?\b.{0,80}\b(cannot be modified|must match|prefix|invalid|signature)|prefix mismatch/i,
  },
  {
    kind: 'policy',
    status: faulty,
    message: /content (management )?policy|usage guidelines|safety[_ ](check|system)|flagged (as|for|by)|moderation/i,
  },
  {
    kind: 'out_of_quota',
    status: [429],
    strictly: true,
    // Cloudflare: "you have used up your daily free allocation of 10,000 neurons"
    message: /credit balance is too low|insufficient (balance|credits|funds)|billing hard limit|spend(ing)? limit|daily free allocation/i,
  },
  {
    kind: 'overloaded',
    status: [429, 498, 500, 502, 503, 529],
    strictly: true,
    message: /tier capacity exceeded|(server|engine|model) is (currently )?overloaded/i,
  },
  // Google has one code for rate limits and accounts without quota.
  { kind: 'rate_limited', names: /^resource_exhausted$/i },
  { kind: 'unsupported', status: [400, 403], message: /did not allow prompt caching/i },
  {
    kind: 'too_long',
    status: tooLarge,
    message:
      /context_length_exceeded|maximum context length|(prompt|input) is too long|exceeds? the (maximum|max) number of (input )?tokens|too many (input )?tokens|context (window|length|limit)|(prompt|input) exceeds max length|reduce the length of the (messages|prompt|input)/i,
  },
  { kind: 'too_long', status: [...tooLarge, 500], when: isContextOverflow },
  { kind: 'too_long', status: [413], strictly: true },
  { kind: 'rate_limited', status: [429], strictly: true },
  {
    kind: 'server_error',
    names:
      /^(tool_use_failed|server_error|internal(_server)?_error|api_error|internal|internalserverexception|model(stream)?errorexception)$/i,
  },
  {
    kind: 'unsupported',
    status: faulty,
    message:
      /unsupported (parameter|value)|unknown parameter|unrecognized (request )?argument|extra inputs are not permitted|(is|are) (not supported|unsupported)|does ?n[o']t support/i,
  },
  // One file, object or model may be refused, or a firewall dislikes the content: it says nothing about the account.
  { kind: 'forbidden', names: /^(permission_error|permission_denied|accessdeniedexception)$/i },
  { kind: 'forbidden', status: [403], strictly: true },
  { kind: 'overloaded', status: [498, 503, 529], strictly: true },
  { kind: 'timed_out', status: [408, 504, 522, 524, 598], strictly: true },
  { kind: 'server_error', status: [409, 421, 423, 424, 425, 499], strictly: true },
  { kind: 'rejected', names: /^(invalid_request(_error)?|bad_request|invalid_argument|failed_precondition|validationexception)$/i },
]

/** Longest part of a message that is read, in characters. */
const maxReadLength = 2000

/** Removes quoted texts of several words, which may be the client's. A quoted name stays. */
const withoutQuotes = (text: string): string =>
  text.replace(/"[^"]*"|`[^`]*`|“[^”]*”|(?<!\w)'[^']*'(?!\w)/g, quoted => (/^.[\w.[\]-]{1,64}.$/u.test(quoted) ? quoted : '""'))

const matchesRule = (row: FailureRule, details: ErrorDetails, sentence: string): boolean => {
  const { status, type, code, message } = details
  return (
    (!row.status || (status === undefined ? !row.strictly : row.status.includes(status))) &&
    (!row.names || (code !== undefined && row.names.test(code)) || (type !== undefined && row.names.test(type))) &&
    (!row.message || row.message.test(message)) &&
    (!row.sentence || row.sentence.test(sentence)) &&
    (!row.when || row.when(details))
  )
}

function classify(details: ErrorDetails): FailureKind {
  const sentence = details.message.slice(0, maxReadLength).trim()
  const read = { ...details, message: withoutQuotes(sentence) }
  const row = failureRules.find(each => matchesRule(each, read, sentence))
  if (row) return row.kind
  const { status } = details
  if (status !== undefined && status < 400) return 'unreadable'
  return status !== undefined && status < 500 ? 'rejected' : 'server_error'
}

/** A failure whose message may be shown. Messages about credentials are never repeated, because they tend to quote them. */
export function failureFrom(details: ErrorDetails): Failure {
  const kind = classify(details)
  const { status, code, type, param } = details
  const text = redact(details.message)
  const isHidden = kind === 'bad_credential' || kind === 'forbidden' || status === 401 || status === 403
  return {
    kind,
    message: isHidden || text === '' ? defaultMessage(kind, status) : text,
    hiddenText: isHidden && text !== '' ? text : undefined,
    code: code === undefined ? undefined : redact(code),
    type: type === undefined ? undefined : redact(type),
    param: param === undefined ? undefined : redact(param),
    status,
  }
}

const defaultMessage = (kind: FailureKind, status: number | undefined): string => {
  if (kind === 'bad_credential') return 'The provider rejected the credential of the gateway.'
  return status === undefined ? 'The provider reported an error without a message.' : `The provider answered with status ${status}.`
}

export const unreadable = (message: string): Failure => ({ kind: 'unreadable', message })

/** Decodes the error response of a provider with the usual error formats. */
export function decodeFailedAnswer({ status, body, header, now }: FailedAnswer): Failure {
  if (looksLikePage(body, header('content-type'))) {
    const kind = pageKinds.get(status) ?? 'unreadable'
    const page: Failure = { kind, message: `The provider returned a web page instead of an API response (status ${status}).`, status }
    return withDelay(page, retryAfter({ header, now, message: '', body: undefined, limited: kind === 'rate_limited' }))
  }
  const parsed = parseBounded(body)
  const error = readErrorDetails(parsed ?? body)
  const details = { ...error, status: status >= 400 ? status : (error.status ?? status) }
  const failure = failureFrom(details)
  // The content of a request can cause a 500, so no text of one says how long an offer is to be left alone.
  const limited = (failure.kind === 'rate_limited' || failure.kind === 'overloaded') && details.status !== 500
  return withDelay(
    failure,
    retryAfter({ header, now, message: withoutQuotes(details.message.slice(0, maxReadLength)), body: parsed, limited }),
  )
}

/** What the status of a web page says: 413 is the body limit of a proxy, 403 a firewall. */
const pageKinds: ReadonlyMap<number, FailureKind> = new Map([
  [403, 'forbidden'],
  [413, 'too_long'],
  [429, 'rate_limited'],
])

const withDelay = (failure: Failure, retryAfterMs: number | undefined): Failure =>
  retryAfterMs === undefined ? failure : { ...failure, retryAfterMs }

const looksLikePage = (body: string, type: string | undefined): boolean =>
  /^\s*<(!doctype|html|head|body|\?xml)/i.test(body.slice(0, 200)) ||
  (/^text\/html/i.test(type ?? '') && !/^\s*[{[]/.test(body.slice(0, 200)))

/** Reads `{error: {…}}`, `{error: "text"}`, a flat `{message, code}`, `{detail}`, `{errors: […]}`, a list of any of these, or plain text. */
export function readErrorDetails(wire: Json): ErrorDetails {
  if (typeof wire === 'string') return { message: wire }
  if (Array.isArray(wire)) return readErrorDetails((wire as readonly Json[])[0] ?? '')
  if (!isObject(wire)) return { message: '' }
  // Cloudflare: {"success": false, "errors": [{"code": 5021, "message": "AiError: …"}]}
  if (!wire.error && Array.isArray(wire.errors) && wire.errors.length > 0) return readErrorDetails(wire.errors)
  const inner = wire.error ?? wire
  const error = isObject(inner) ? inner : wire
  const message = typeof inner === 'string' ? inner : (filledText(error.message) ?? filledText(error.msg) ?? detailOf(error.detail) ?? '')
  return {
    message,
    type: shortName(error.type) ?? shortName(error.status),
    code: shortName(error.code) ?? (isObject(error.innererror) ? shortName(error.innererror.code) : undefined) ?? reasonIn(error.details),
    param: shortName(error.param),
    status: statusOf(error.code),
  }
}

const filledText = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const shortName = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined

/** A more specific code in the details: a code, the name of an exhausted daily quota (Google), or a reason. */
function reasonIn(details: Json | undefined): string | undefined {
  if (isObject(details)) return shortName(details.error_code)
  const entries = objects(details)
  const quotas = entries.flatMap(({ violations }) => objects(violations)).map(({ quotaId }) => shortName(quotaId))
  return (
    quotas.find(quota => quota?.includes('PerDay')) ?? entries.map(({ reason }) => shortName(reason)).find(reason => reason !== undefined)
  )
}

/** The HTTP status, which some providers send as the code. */
const statusOf = (code: Json | undefined): number | undefined => {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined
}

/** Reads `detail: "text"`, or a list of validation errors. */
function detailOf(detail: Json | undefined): string | undefined {
  if (!Array.isArray(detail)) return filledText(detail)
  const messages = (detail as readonly Json[])
    .slice(0, 5)
    .map(entry => (isObject(entry) ? `${locationOf(entry)}${filledText(entry.msg) ?? ''}` : ''))
  return filledText(messages.filter(message => message !== '').join('; '))
}

const locationOf = ({ loc }: JsonObject): string => (Array.isArray(loc) ? `${(loc as readonly Json[]).filter(isStep).join('.')}: ` : '')

/** Whether a path step is a name or number. Anything else cannot be shown as text. */
const isStep = (step: Json): step is string | number => typeof step === 'string' || typeof step === 'number'
