import { GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { Limit } from '@signalbox/storage/admission'
import type { Caller } from '../../access/caller.ts'
import { nounOf } from '../../access/end-user.ts'
import type { CallLimits } from '../../access/kinds.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Limits } from '../../upstream/limits.ts'

// Limits per minute: requests of a key for one model, requests of its workspace, and the tokens of both; and of concurrent requests. Names
// begin with their workspace, so that a store can keep what one request takes together.

/** A limit of a request, with the error of a request that it refuses. */
export interface RequestLimit extends Limit {
  /** `left` as in `LimitRefusal`. */
  readonly refuse: (left: number) => GatewayError
}

/** A concurrency slot that a request has of a key, or of its workspace if that is limited. */
export type SlotKey = Pick<Limit, 'key'>

/** Tokens that a request may use: counted at admission, corrected when it ends. */
export interface Tokens {
  readonly keys: readonly string[]
  readonly amount: number
}

/** Tokens that a request may use. */
interface RequestTokens {
  readonly amount: number
  /** The tokens of the prompt, if the length of the answer is only assumed. */
  readonly prompt: number | undefined
}

/** Subjects of limits in messages: of a rate, and of slots. The limits of `shared` are not shown to an end user. */
const subjects = {
  key: ['this key', 'This key'],
  user: ['this user', 'This user'],
  ancestor: ['a key above this key', 'A key above this one'],
  workspace: ['this workspace', 'This workspace'],
  shared: ['the workspace of this user', 'The workspace of this user'],
} as const

/** Limits that a caller's requests count against together. */
interface LimitScope {
  /** Key id; empty for the workspace. */
  readonly id: string
  readonly subject: keyof typeof subjects
  readonly limits: CallLimits
}

const minute = 60_000
/** Lease of a slot in milliseconds: renewed while the request runs, so that the slot is free soon after a crash. */
export const slotMs = 90_000

/** The limits of a caller, of the keys above it and of its workspace. */
export class CallerLimits {
  readonly #caller: Caller
  readonly #keys: readonly LimitScope[]
  readonly #workspace: LimitScope
  /** Requests per minute of the caller itself, for each model. */
  readonly #requestsPerMinute: number

  constructor(caller: Caller, { workspace: { body } }: WorkspacePolicy, usual: Limits) {
    const { keyId, isEndUser, limits: own, ancestors = [] } = caller
    this.#caller = caller
    this.#requestsPerMinute = own?.requestsPerMinute ?? usual.inferenceRpm
    const limits = {
      requestsPerMinute: this.#requestsPerMinute,
      tokensPerMinute: own?.tokensPerMinute ?? usual.tokensPerMinute,
      concurrentRequests: own?.concurrentRequests ?? usual.concurrentRequests,
    }
    this.#keys = [
      { id: keyId, subject: isEndUser ? 'user' : 'key', limits },
      ...ancestors.map(above => ({ id: above.keyId, subject: isEndUser ? 'shared' : 'ancestor', limits: above.limits ?? {} }) as const),
    ]
    this.#workspace = { id: '', subject: isEndUser ? 'shared' : 'workspace', limits: { ...usual.workspace, ...body.limits } }
  }

  /** Requests per minute for a model: of the caller, and of each limited key above it. */
  requests(model: string): readonly RequestLimit[] {
    const what = `requests per minute for "${model}"`
    // Escaped: ids of users and of models may contain the separator.
    return this.#each(this.#keys, 'requestsPerMinute', ({ subject, id }, limit) =>
      this.#rate(subject, { name: `rpm:${id}:${encodeURIComponent(model)}`, limit, what }),
    )
  }

  /** Requests per minute of the workspace, which do not depend on the body. */
  workspaceRequests(): readonly RequestLimit[] {
    return this.#each([this.#workspace], 'requestsPerMinute', ({ subject }, limit) => this.#rate(subject, { name: 'rpm', limit }))
  }

  /**
   * Requests whose body has not been read, so their model is unknown. The counter is decremented once the body is a valid request, so it
   * limits incomplete and invalid bodies of a key.
   */
  upload(): RequestLimit {
    const { keyId, isEndUser } = this.#caller
    const what = 'requests per minute with an incomplete or invalid body'
    return this.#rate(isEndUser ? 'user' : 'key', { name: `rpm:uploads:${keyId}`, limit: this.#requestsPerMinute, what })
  }

  /**
   * Tokens per minute at a time. The minute is part of the counter's name, so that a late correction does not change another minute. The
   * window exceeds a minute because the clocks of the store and this process may differ, and the counter must not restart before the minute
   * ends on both. All have one amount, which is corrected at the end: an assumed answer counts as much as the lowest limit has room for.
   */
  tokens({ amount, prompt }: RequestTokens, at: number): readonly RequestLimit[] {
    const scopes = [...this.#keys, this.#workspace]
    const lowest = Math.min(...scopes.map(({ limits }) => limits.tokensPerMinute ?? Number.POSITIVE_INFINITY))
    const counted = prompt === undefined ? amount : Math.max(prompt, Math.min(amount, lowest))
    return this.#each(scopes, 'tokensPerMinute', ({ subject, id }, limit) => ({
      kind: 'tokens',
      key: this.#name(`tpm:${id}:${Math.floor(at / minute)}`),
      amount: counted,
      limit,
      windowMs: 3 * minute,
      refuse: () => tokenError(subject, limit, { amount: counted, prompt }, minute - (at % minute)),
    }))
  }

  /** Concurrent requests of the caller, of each limited key above it, and of the workspace. */
  slots(): readonly RequestLimit[] {
    return this.#each([...this.#keys, this.#workspace], 'concurrentRequests', ({ subject, id }, limit) => ({
      kind: 'slot',
      key: this.#name(id === '' ? 'slots' : `slots:${id}`),
      amount: 1,
      limit,
      windowMs: slotMs,
      refuse: () =>
        new GatewayError('concurrent_requests_exceeded', {
          message: `${subjects[subject][1]} has reached its limit of ${subject === 'shared' ? '' : `${limit} `}concurrent requests. Wait for one to finish.`,
          limitedBy: 'routing',
          retryAfterMs: 1_000,
        }),
    }))
  }

  #each(
    scopes: readonly LimitScope[],
    field: keyof CallLimits,
    toLimit: (scope: LimitScope, limit: number) => RequestLimit,
  ): readonly RequestLimit[] {
    const made: RequestLimit[] = []
    for (const scope of scopes) {
      const limit = scope.limits[field]
      if (limit !== undefined) made.push(toLimit(scope, limit))
    }
    return made
  }

  #name(name: string): string {
    return `${this.#caller.workspaceId}/${name}`
  }

  #rate(
    subject: keyof typeof subjects,
    { name, limit, what = 'requests per minute' }: { readonly name: string; readonly limit: number; readonly what?: string },
  ): RequestLimit {
    return {
      kind: 'rate',
      key: this.#name(name),
      amount: 1,
      limit,
      windowMs: minute,
      refuse: left =>
        new GatewayError('requests_per_min_exceeded', {
          message: `Rate limit reached for ${subjects[subject][0]}: ${subject === 'shared' ? '' : `${limit} `}${what}. Try again in ${seconds(left)} s.`,
          limitedBy: 'routing',
          retryAfterMs: left,
        }),
    }
  }
}

/** Requests of a key to the management API. */
export function managementLimit({ workspaceId, keyId }: Caller, kind: 'reads' | 'writes', limits: Limits): RequestLimit {
  const limit = kind === 'reads' ? limits.managementReadsRpm : limits.managementWritesRpm
  return {
    kind: 'rate',
    key: `${workspaceId}/${kind}:${keyId}`,
    amount: 1,
    limit,
    windowMs: minute,
    refuse: left =>
      new GatewayError('requests_per_min_exceeded', {
        message: `Rate limit reached for this ${nounOf(keyId)}: ${limit} management ${kind} per minute. Try again later.`,
        limitedBy: 'routing',
        retryAfterMs: left,
      }),
  }
}

/** Output tokens assumed for a request without `max_output_tokens`. */
const assumedAnswer = 1_024

/** The input tokens plus the largest output of any candidate. */
export function tokensOfRequest(inputTokens: number, maxOutput: number | undefined, { candidates }: Plan): RequestTokens {
  let most = 0
  for (const { offer } of candidates) most = Math.max(most, Math.min(maxOutput ?? assumedAnswer, offer.maxOutputTokens ?? Infinity))
  return { amount: inputTokens + most, prompt: maxOutput === undefined ? inputTokens : undefined }
}

function tokenError(subject: keyof typeof subjects, limit: number, { amount, prompt }: RequestTokens, untilNextMs: number): GatewayError {
  const [whose] = subjects[subject]
  const isHidden = subject === 'shared'
  const isAssumed = prompt !== undefined
  if (amount > limit)
    return new GatewayError('tokens_per_min_exceeded', {
      message: `${isAssumed ? 'The prompt has about' : 'The request may use'} ${amount} tokens, more than the limit${isHidden ? '' : ` of ${limit} tokens per minute`} of ${whose}. ${isAssumed ? 'Shorten the prompt' : 'Shorten the prompt, or lower `max_output_tokens`'}.`,
      limitedBy: 'routing',
      shouldRetry: false,
    })
  return new GatewayError('tokens_per_min_exceeded', {
    message: `Token limit reached for ${whose}: fewer tokens are left in this minute than ${isAssumed ? 'the prompt and a short answer need' : 'the request may use'} (${amount}${isHidden ? '' : `; the limit is ${limit} per minute`}). Try again in ${seconds(untilNextMs)} s${isAssumed ? '' : ', or lower `max_output_tokens`'}.`,
    limitedBy: 'routing',
    retryAfterMs: untilNextMs,
  })
}

const seconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1_000))

/** Whether a request was refused by a limit of its key or workspace rather than by a provider. */
export const isOwnRateLimit = (error: unknown): boolean =>
  isGatewayError(error) && error.status === 429 && error.facts.limitedBy === 'routing'
