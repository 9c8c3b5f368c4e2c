import { GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { Awaitable, CounterStore } from '@signalbox/storage'
import { andThen } from '@signalbox/storage/awaitable'
import type { CounterRefusal, CounterRequest } from '@signalbox/storage/counters'
import type { Caller } from '../../access/caller.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { Plan } from '../../routing/plan.ts'
import { orStoreDown } from '../../runtime/store-down.ts'
import type { Limits } from '../../upstream/limits.ts'

// Limits per minute: requests of a key for one model, requests of its workspace, and the tokens of both. Counter names begin with
// their workspace, so that a store can keep the counters of one request together.

export interface RateContext {
  readonly caller: Caller
  readonly policy: WorkspacePolicy
  readonly plan: Plan
  /** Unix milliseconds. */
  readonly at: number
}

/** Tokens that a request may use: counted at admission, corrected when it ends. */
export interface Tokens {
  readonly keys: readonly string[]
  readonly amount: number
}

export interface Rate extends CounterRequest {
  readonly subject: RateSubject
  /** The counted unit for messages. Undefined for tokens. */
  readonly what: string | undefined
  /** The tokens of the prompt, if `amount` also has those of an answer whose length is only assumed. */
  readonly prompt?: number | undefined
}

/** Tokens that a request may use. */
interface RequestTokens {
  readonly amount: number
  /** The tokens of the prompt, if the length of the answer is only assumed. */
  readonly prompt: number | undefined
}

type RateSubject = keyof typeof subjects

/** The subject of a limit in its message. The limits of `shared` are not shown to an end user. */
const subjects = {
  key: 'this key',
  user: 'this user',
  ancestor: 'a key above this key',
  workspace: 'this workspace',
  shared: 'the workspace of this user',
} as const

const minute = 60_000
/** Output tokens assumed for a request without `max_output_tokens`. */
const assumedAnswer = 1_024

/** The counters that do not depend on the body: the counter of the workspace, if it is limited. */
export function ratesOfWorkspace({ caller, policy }: Pick<RateContext, 'caller' | 'policy'>, limits: Limits): Rate[] {
  const { workspaceId } = caller
  const limit = { ...limits.workspace, ...policy.workspace.body.limits }.requestsPerMinute
  return limit === undefined ? [] : [requestRate(caller.isEndUser ? 'shared' : 'workspace', { key: `${workspaceId}/rpm`, limit })]
}

/**
 * The counter for a request whose body has not been read, so its model is unknown. It is decremented once the body is a valid request, so
 * it limits incomplete and invalid bodies of a key.
 */
export const uploadRate = ({ keyId, workspaceId, isEndUser, limits: own }: Caller, limits: Limits): Rate =>
  requestRate(isEndUser ? 'user' : 'key', {
    key: `${workspaceId}/rpm:uploads:${keyId}`,
    limit: own?.requestsPerMinute ?? limits.inferenceRpm,
    what: 'requests per minute with an incomplete or invalid body',
  })

/** The counters that depend on the model. `tokens` is absent for a request that uses none. */
export function ratesOfModel({ caller, policy, plan, at }: RateContext, limits: Limits, tokens?: RequestTokens): Rate[] {
  const { keyId, workspaceId, isEndUser, limits: own, ancestors = [] } = caller
  const rates = [...requestRatesOf(caller, plan.candidates[0].model.id, limits)]
  if (tokens === undefined) return rates
  const { self, above, all } = isEndUser ? ofUser : ofKey
  const maxTokens = own?.tokensPerMinute ?? limits.tokensPerMinute
  if (maxTokens !== undefined) rates.push(tokenRate(self, { workspaceId, id: keyId, limit: maxTokens, tokens, at }))
  for (const { keyId: id, limits: theirs } of ancestors)
    if (theirs?.tokensPerMinute !== undefined) rates.push(tokenRate(above, { workspaceId, id, limit: theirs.tokensPerMinute, tokens, at }))
  const shared = { ...limits.workspace, ...policy.workspace.body.limits }
  if (shared.tokensPerMinute !== undefined) rates.push(tokenRate(all, { workspaceId, id: '', limit: shared.tokensPerMinute, tokens, at }))
  return rates
}

interface CachedRates {
  readonly limits: Limits
  readonly byModel: Map<string, readonly Rate[]>
}

/** Counters by caller and model. Callers are cached objects, so most requests hit. */
const cachedRates = new WeakMap<Caller, CachedRates>()
/** Per caller. */
const maxCachedModels = 100

/** Requests per minute for a model: the counter of the caller, and of each limited parent key. */
function requestRatesOf(caller: Caller, model: string, limits: Limits): readonly Rate[] {
  let cached = cachedRates.get(caller)
  if (cached?.limits !== limits) {
    cached = { limits, byModel: new Map() }
    cachedRates.set(caller, cached)
  }
  const { byModel } = cached
  const known = byModel.get(model)
  if (known) return known
  if (byModel.size >= maxCachedModels) byModel.clear()
  const rates = createRequestRates(caller, model, limits)
  byModel.set(model, rates)
  return rates
}

function createRequestRates(caller: Caller, model: string, limits: Limits): readonly Rate[] {
  const { keyId, workspaceId, isEndUser, limits: own, ancestors = [] } = caller
  const { self, above } = isEndUser ? ofUser : ofKey
  const what = `requests per minute for "${model}"`
  const rateOf = (subject: RateSubject, id: string, limit: number): Rate =>
    // Escaped: ids of users and of models may contain the separator.
    requestRate(subject, { key: `${workspaceId}/rpm:${id}:${encodeURIComponent(model)}`, limit, what })
  const rates = [rateOf(self, keyId, own?.requestsPerMinute ?? limits.inferenceRpm)]
  for (const { keyId: id, limits: theirs } of ancestors)
    if (theirs?.requestsPerMinute !== undefined) rates.push(rateOf(above, id, theirs.requestsPerMinute))
  return rates
}

/** Subjects of the limits of the caller, its parent keys and its workspace. */
const ofKey = { self: 'key', above: 'ancestor', all: 'workspace' } as const
const ofUser = { self: 'user', above: 'shared', all: 'shared' } as const

/** The input tokens plus the largest output of any candidate. */
export function tokensOfRequest(inputTokens: number, maxOutput: number | undefined, { candidates }: Plan): RequestTokens {
  let most = 0
  for (const { offer } of candidates) most = Math.max(most, Math.min(maxOutput ?? assumedAnswer, offer.maxOutputTokens ?? Infinity))
  return { amount: inputTokens + most, prompt: maxOutput === undefined ? inputTokens : undefined }
}

/** Part of an assumed answer that a request needs room for: fewer tokens are hardly an answer. */
const leastAnswerShare = 1 / 16

/**
 * Increments all counters or none, and returns them as counted. Throws for the first counter at its limit. An assumed answer counts as much
 * as the limit has room for: half of it, and half again, down to the least share. It is corrected when the request ends.
 */
export function takeRates(wanted: readonly Rate[], counters: CounterStore, at: number, share = 1): Awaitable<readonly Rate[]> {
  if (wanted.length === 0) return wanted
  const rates = withinLimits(wanted)
  // A request larger than the limit per minute can never succeed.
  const vain = rates.find(({ amount, limit }) => amount > limit)
  if (vain) throw rateError(vain, { retryAfterMs: minute, at })
  return andThen(
    orStoreDown(() => counters.take(rates, at)),
    refusal => {
      const refusing = refusal && (rates.find(({ key }) => key === refusal.key) ?? rates[0])
      if (!refusing) return rates
      const { prompt, amount } = refusing
      const isAssumed = prompt !== undefined && share > leastAnswerShare
      if (isAssumed) return takeRates(withAmount(rates, prompt + Math.floor((amount - prompt) / 2)), counters, at, share / 2)
      throw rateError(refusing, { retryAfterMs: refusal.retryAfterMs, at })
    },
  )
}

/** The rates with assumed answers lowered to the smallest limit. All token counters have one amount, which is corrected at the end. */
function withinLimits(rates: readonly Rate[]): readonly Rate[] {
  let lowest = Number.POSITIVE_INFINITY
  for (const { prompt, amount, limit } of rates) if (prompt !== undefined && amount > limit) lowest = Math.min(lowest, limit)
  return lowest === Number.POSITIVE_INFINITY ? rates : withAmount(rates, lowest)
}

const withAmount = (rates: readonly Rate[], amount: number): readonly Rate[] =>
  rates.map(rate => (rate.prompt === undefined ? rate : { ...rate, amount: Math.max(rate.prompt, amount) }))

interface RequestLimit extends Pick<CounterRequest, 'key' | 'limit'> {
  /** The counted unit for messages. Default: all requests. */
  readonly what?: string
}

const requestRate = (subject: RateSubject, { key, limit, what = 'requests per minute' }: RequestLimit): Rate => ({
  key,
  amount: 1,
  limit,
  windowMs: minute,
  subject,
  what,
})

interface TokenLimit {
  readonly workspaceId: string
  /** Key id; empty for the workspace. */
  readonly id: string
  readonly limit: number
  readonly tokens: RequestTokens
  readonly at: number
}

/**
 * The minute is part of the counter's name, so that a late correction does not change another minute. The window exceeds a minute
 * because the clocks of the store and this process may differ, and the counter must not restart before the minute ends on both.
 */
const tokenRate = (subject: RateSubject, { workspaceId, id, limit, tokens, at }: TokenLimit): Rate => ({
  key: `${workspaceId}/tpm:${id}:${Math.floor(at / minute)}`,
  amount: tokens.amount,
  prompt: tokens.prompt,
  limit,
  windowMs: 3 * minute,
  subject,
  what: undefined,
})

interface RateRefusal extends Pick<CounterRefusal, 'retryAfterMs'> {
  /** Unix milliseconds. */
  readonly at: number
}

function rateError({ subject, what, amount, prompt, limit }: Rate, { retryAfterMs, at }: RateRefusal): GatewayError {
  const whose = subjects[subject]
  const isHidden = subject === 'shared'
  if (what !== undefined)
    return new GatewayError('requests_per_min_exceeded', {
      message: `Rate limit reached for ${whose}: ${isHidden ? '' : `${limit} `}${what}. Try again in ${seconds(retryAfterMs)} s.`,
      limitedBy: 'routing',
      retryAfterMs,
    })
  const tokenLimit = isHidden ? '' : ` of ${limit} tokens per minute`
  const untilNextMs = minute - (at % minute)
  const isAssumed = prompt !== undefined
  const uses = isAssumed ? 'The prompt has about' : 'The request may use'
  const remedy = isAssumed ? 'Shorten the prompt' : 'Shorten the prompt, or lower `max_output_tokens`'
  return new GatewayError('tokens_per_min_exceeded', {
    message:
      amount > limit
        ? `${uses} ${amount} tokens, more than the limit${tokenLimit} of ${whose}. ${remedy}.`
        : `Token limit reached for ${whose}: fewer tokens are left in this minute than ${isAssumed ? 'the prompt and a short answer need' : 'the request may use'} (${amount}${isHidden ? '' : `; the limit is ${limit} per minute`}). Try again in ${seconds(untilNextMs)} s${isAssumed ? '' : ', or lower `max_output_tokens`'}.`,
    limitedBy: 'routing',
    ...(amount > limit ? { shouldRetry: false } : { retryAfterMs: untilNextMs }),
  })
}

const seconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1_000))

/** The token counters among the rates, to be corrected once usage is known. Undefined if tokens are not limited. */
export function tokensIn(rates: readonly Rate[]): Tokens | undefined {
  const counted = rates.filter(({ what }) => what === undefined)
  return counted[0] && { keys: counted.map(({ key }) => key), amount: counted[0].amount }
}

/** Whether a request was refused by a limit of its key or workspace rather than by a provider. */
export const isOwnRateLimit = (error: unknown): boolean =>
  isGatewayError(error) && error.status === 429 && error.facts.limitedBy === 'routing'
