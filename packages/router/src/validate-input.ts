import leven from 'leven'
import type { RouterOffer } from './offer.ts'
import type { Strategy } from './offer-estimate.ts'
import { type Preference, type PreferencePrices, preferences } from './preferences.ts'
import type { AnswerUsage, AttemptFailure, RouterAttempt, RouterChoice, RouterOptions, RouterRequest } from './types.ts'

// Validation of user input: a single NaN would poison the learned state permanently.

const listNames = (name: string, names: readonly string[]): string => {
  const start = name.slice(0, 100).toLowerCase()
  const distanceTo = (other: string): number => leven(start, other) / Math.max(start.length, other.length)
  const close = [...names].sort((a, b) => distanceTo(a) - distanceTo(b)).find(other => distanceTo(other) <= 0.5)
  return `there are ${names.join(', ')}.${close === undefined ? '' : ` Did you mean "${close}"?`}`
}

const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0

/** Formats a value for a message: numbers and short texts unchanged, everything else by type. */
const showValue = (value: unknown): string => {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : `a value of type ${typeof value}`
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

export function checkPreference(preference: Preference | PreferencePrices | Strategy): void {
  if (typeof preference === 'function') return
  const names = Object.keys(preferences)
  if (typeof preference === 'string') {
    if (Object.hasOwn(preferences, preference)) return
    throw new TypeError(`Unknown preference ${showValue(preference)}: ${listNames(preference, names)}`)
  }
  for (const part of ['waiting', 'generation', 'failure'] as const) {
    const value = preference?.[part]
    if (!isCount(value) || value === Number.POSITIVE_INFINITY)
      throw new TypeError(`The \`${part}\` of a preference is ${showValue(value)}; it takes USD, 0 or more.`)
  }
}

/** Microdollars per million tokens, equal to a million USD per token. Larger prices overflow when added up. */
const maxPrice = 1e18

export function checkOffer(offer: RouterOffer): void {
  if (!isObject(offer) || typeof offer.id !== 'string' || offer.id === '')
    throw new TypeError(`The \`id\` of an offer is ${showValue((offer as RouterOffer | undefined)?.id)}; it takes a string.`)
  const { id, price, cacheMs, ...names } = offer
  if (price?.input === undefined || price.output === undefined)
    throw new TypeError(`The offer "${id}" has no \`price\` with \`input\` and \`output\`; use 0 if it is free.`)
  for (const part of ['input', 'output', 'cached', 'cacheWrite', 'cacheWrite1h'] as const) {
    const value = price[part]
    if (value !== undefined && !(isCount(value) && value <= maxPrice))
      throw new TypeError(
        `The \`price.${part}\` of the offer "${id}" is ${showValue(value)}; it takes microdollars per million tokens, from 0 to ${maxPrice}.`,
      )
  }
  if (cacheMs !== undefined && !isCount(cacheMs))
    throw new TypeError(`The \`cacheMs\` of the offer "${id}" is ${showValue(cacheMs)}; it takes milliseconds, 0 or more.`)
  for (const field of ['provider', 'model'] as const)
    if (names[field] !== undefined && typeof names[field] !== 'string')
      throw new TypeError(`The \`${field}\` of the offer "${id}" is ${showValue(names[field])}; it takes a string.`)
}

export function checkOptions(options: RouterOptions): void {
  const { offers, clock, seed } = options
  if (Object.hasOwn(options, 'record')) throw new TypeError('createRouter: there is no option `record`. It is `decisionLog` now.')
  if (!Array.isArray(offers)) throw new TypeError(`createRouter: \`offers\` is ${showValue(offers)}; it takes a list of offers.`)
  if (seed !== undefined && !Number.isFinite(seed)) throw new TypeError(`createRouter: \`seed\` is ${showValue(seed)}; it takes a number.`)
  if (clock === undefined) return
  const { monotonic, now } = (clock ?? {}) as { readonly monotonic?: unknown; readonly now?: unknown }
  if (typeof monotonic !== 'function' && typeof now !== 'function')
    throw new TypeError(`createRouter: \`clock\` has neither a function \`monotonic\` nor \`now\`; it takes an object with one of them.`)
}

const numericFields = [
  'inputTokens',
  'outputTokens',
  'maxOutputTokens',
  'deadlineMs',
  'timeoutMs',
  'newOfferTimeoutMs',
  'minTimeoutMs',
  'maxAttempts',
] as const

const fieldTypes = { stream: 'boolean', hedge: 'boolean', dryRun: 'boolean', cacheKey: 'string', rank: 'function' } as const

/** More tokens than any prompt or response has. */
const maxTokens = 10_000_000
const boundedTokens = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && tokens >= 0 ? Math.min(tokens, maxTokens) : undefined

/**
 * Validates a request and caps its token counts.
 *
 * @throws {TypeError} Names the invalid field.
 */
export function validRequest(request: RouterRequest): RouterRequest {
  if (!isObject(request)) throw new TypeError(`A request is ${showValue(request)}; it takes an object with \`inputTokens\`.`)
  for (const field of numericFields) {
    const value = request[field]
    if (field !== 'inputTokens' && value === undefined) continue
    if (!isCount(value) || (field.endsWith('Tokens') && field !== 'maxOutputTokens' && value === Number.POSITIVE_INFINITY))
      throw new TypeError(`The \`${field}\` of a request is ${showValue(value)}; it takes a number, 0 or more.`)
  }
  for (const [field, type] of Object.entries(fieldTypes) as [keyof typeof fieldTypes, string][]) {
    const value = request[field]
    if (value !== undefined && typeof value !== type)
      throw new TypeError(`The \`${field}\` of a request is ${showValue(value)}; it takes a ${type}.`)
  }
  if (request.offers !== undefined && !Array.isArray(request.offers))
    throw new TypeError(`The \`offers\` of a request is ${showValue(request.offers)}; it takes a list of ids.`)
  if (request.preference !== undefined) checkPreference(request.preference)
  const { inputTokens, outputTokens = 0 } = request
  if (inputTokens <= maxTokens && outputTokens <= maxTokens) return request
  const capped = request.outputTokens === undefined ? {} : { outputTokens: Math.min(outputTokens, maxTokens) }
  return { ...request, inputTokens: Math.min(inputTokens, maxTokens), ...capped }
}

/**
 * Checks that a value is a choice of a plan.
 *
 * @throws {TypeError} It is not.
 */
export function checkChoice(choice: RouterChoice): void {
  if (!isObject(choice) || !('tracked' in choice))
    throw new TypeError(`\`startAttempt\` got ${showValue(choice)}; it takes a choice that \`plan.next()\` or \`plan.choices()\` returned.`)
}

/**
 * Checks that a value is a running attempt.
 *
 * @throws {TypeError} It is not.
 */
export function checkAttempt(attempt: RouterAttempt, method: string): void {
  if (!isObject(attempt) || !('tracked' in attempt) || !('startedAt' in attempt))
    throw new TypeError(`\`${method}\` got ${showValue(attempt)}; it takes what \`startAttempt()\` returned.`)
}

const failureKinds: readonly AttemptFailure['kind'][] = ['error', 'timeout', 'rate_limited', 'credential', 'refused']

export function checkFailure(failed: AttemptFailure | undefined): void {
  if (failed && failureKinds.includes(failed.kind)) return
  const kind = isObject(failed) ? String(failed.kind) : showValue(failed)
  throw new TypeError(`A call failed with the kind "${kind}"; ${listNames(kind, failureKinds)}`)
}

export function checkHeadroom(seen: { readonly share: number; readonly resetsInMs: number }): void {
  for (const field of ['share', 'resetsInMs'] as const) {
    const value = isObject(seen) ? seen[field] : seen
    if (typeof value !== 'number') throw new TypeError(`The \`${field}\` of a headroom is ${showValue(value)}; it takes a number.`)
  }
}

/** The usage without invalid numbers. */
export function validUsage(used: AnswerUsage): AnswerUsage {
  if (typeof used !== 'object' || used === null)
    throw new TypeError(`\`finishAttempt\` got ${showValue(used)} as its usage; it takes an object or undefined.`)
  const [output, cached] = [boundedTokens(used.outputTokens), boundedTokens(used.cachedTokens)]
  return { outputTokens: output, cachedTokens: cached }
}
