import { codes, type ErrorCode, GatewayError } from '@signalbox/dialects/errors'
import type { FailedAttempt, Failure, FailureKind } from '@signalbox/dialects/protocol'
import type { Excluded } from '../routing/plan.ts'
import { failurePolicies, mostInformative } from './failure-policy.ts'

/** Messages for failures whose provider message is missing or must not reach the client. `{provider}` is replaced. */
const gatewayMessages: Readonly<Record<FailureKind, string>> = {
  client_left: 'The client disconnected before the response ended.',
  shut_down: 'The gateway is shutting down.',
  no_memory: 'The gateway has no memory left for the images and files of the request. Try again in a moment.',
  out_of_credit: 'The response was cut off because it would exceed the credit of the workspace. Add credit, or lower `max_output_tokens`.',
  out_of_budget: 'The response was cut off because it would exceed a budget. Lower `max_output_tokens` so that it fits.',
  stale_state: '{provider} rejected the reasoning state of the conversation.',
  rejected: '{provider} rejected the request.',
  policy: '{provider} rejected the content of the request.',
  too_long: 'The request is longer than {provider} accepts.',
  unsupported: '{provider} does not support a parameter of the request.',
  rate_limited: '{provider} rate limited the request.',
  deadline: 'The request exceeded its deadline.',
  timed_out: '{provider} did not respond in time.',
  overloaded: '{provider} is overloaded.',
  server_error: '{provider} failed.',
  unreadable: '{provider} sent a response that was incomplete or invalid.',
  unreachable: '{provider} could not be reached.',
  out_of_quota: 'The account at {provider} has no quota left.',
  forbidden: '{provider} does not allow this request.',
  bad_credential: '{provider} rejected the credential.',
  unknown_model: '{provider} no longer serves this model.',
  unknown_address: 'The address of {provider} was not found ({status}): check its base URL (`baseURL`, or `base_url` in the config).',
}

/** Provider error codes that clients act on and the policy of no failure has. All others are replaced by that of the policy. */
const passedCodes: ReadonlySet<string> = new Set(['insufficient_quota', 'slow_down', 'invalid_prompt'])

const messageOf = (failure: Failure): string => {
  const message = gatewayMessages[failure.kind]
    .replace('{provider}', failure.provider ?? 'The provider')
    .replace('{status}', String(failure.status ?? 404))
  if (failure.credential !== undefined)
    return `${message} The credential is your BYOK key "${failure.credential}": check its account, or replace the key.`
  const detail = failurePolicies[failure.kind].detail
  if (failure.message === '' || detail === 'none') return message
  return detail === 'provider' ? `${message} Provider message: ${failure.message}` : `${message} ${failure.message}`
}

/** A failure as the client receives it inside a stream: with message, type, code and provider. */
export function messageInStream(failure: Failure): Failure {
  if (failure.isForClient) return failure
  const code = failure.code !== undefined && passedCodes.has(failure.code) ? failure.code : failurePolicies[failure.kind].code
  const type = codes[failurePolicies[failure.kind].code].type
  return { ...failure, message: messageOf(failure), code, type, isForClient: true }
}

/** Memory is refused for a caller, or for all callers. */
const codeOf = ({ kind, code }: Failure): ErrorCode =>
  kind === 'no_memory' && code === 'service_unavailable' ? code : failurePolicies[kind].code

export interface AllFailedOptions {
  readonly deadlineOver?: boolean
  /** The failure to report. Default: the most informative one. */
  readonly shown?: Failure
  /** Candidates that were not tried. */
  readonly excluded?: readonly Excluded[]
}

/** The error of a request whose candidates have all failed. */
export function allFailedError(failures: readonly Failure[], { deadlineOver, shown, excluded = [] }: AllFailedOptions = {}): GatewayError {
  const failure = shown ?? failures[mostInformative(failures)]
  if (!failure) {
    return deadlineOver
      ? new GatewayError('deadline_exceeded', { message: 'The request exceeded its deadline before a provider could be called.' })
      : new GatewayError('routing_failed', { message: 'No provider could be called.' })
  }
  const code = codeOf(failure)
  const isOurs = failure.kind === 'no_memory'
  const waits = failures.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  const others =
    failures.length > 1 ? ` (${failures.length} attempts: ${failures.map(({ provider, kind }) => `${provider} ${kind}`).join(', ')})` : ''
  return new GatewayError(code, {
    message: (failure.isForClient ? failure.message : messageOf(failure)) + others + excludedText(excluded),
    param: failure.param,
    provider: failure.provider,
    attempts: failures.length > 1 ? failures.map(attemptOf) : undefined,
    limitedBy: codes[code].status === 429 ? (isOurs ? 'routing' : 'provider') : undefined,
    retryAfterMs: codes[code].status === 429 || isOurs ? (waits.length > 0 ? Math.min(...waits) : 1000) : undefined,
  })
}

/** Lists the excluded providers: otherwise one without a key looks like a fallback that failed. */
function excludedText(excluded: readonly Excluded[]): string {
  const reasons = excluded.slice(0, 3).map(({ provider, reason }) => `${provider}: ${reason}`)
  return reasons.length > 0 ? ` Not tried: ${reasons.join('; ')}.` : ''
}

const attemptOf = ({ provider = '', kind, status }: Failure): FailedAttempt => ({ provider, kind, status })

/** Converts a GatewayError to a failure, for a stream whose status line has already been sent. */
export const asFailure = (error: GatewayError): Failure => ({
  kind: 'server_error',
  message: error.message,
  code: error.code,
  type: error.type,
  status: error.status,
  provider: error.facts.provider,
  param: error.facts.param,
})
