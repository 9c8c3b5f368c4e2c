import { nearestOf } from '../errors/nearest.ts'
import type { Attempt, Choice, Failed, RouterOffer, RouterOptions, RouterRequest, Used } from './port.ts'
import { type Preference, preferences, type Worth } from './preferences.ts'
import type { Strategy } from './sight.ts'

// What whoever drives a router may get wrong. One number that is none would stay in what is believed for good.

const known = (name: string, names: readonly string[]): string => {
  const [close] = nearestOf(name, names)
  return `there are ${names.join(', ')}.${close === undefined ? '' : ` Did you mean "${close}"?`}`
}

const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0

/** A value in a message: numbers and short texts as they are, all else by its type. */
const shown = (value: unknown): string => {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : `a value of type ${typeof value}`
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

export function checkPreference(preference: Preference | Worth | Strategy): void {
  if (typeof preference === 'function') return
  const names = Object.keys(preferences)
  if (typeof preference === 'string') {
    if (Object.hasOwn(preferences, preference)) return
    throw new TypeError(`There is no preference "${preference}"; ${known(preference, names)}`)
  }
  for (const part of ['waiting', 'growing', 'failing'] as const) {
    const value = preference?.[part]
    if (!isCount(value) || value === Number.POSITIVE_INFINITY)
      throw new TypeError(`The \`${part}\` of a preference is ${shown(value)}; it takes USD, 0 or more.`)
  }
}

/** Microdollars per million tokens: a million USD a token, more than anything costs. Beyond it sums of prices have no end. */
const maxPrice = 1e18

export function checkOffer(offer: RouterOffer): void {
  if (!isObject(offer) || typeof offer.id !== 'string' || offer.id === '')
    throw new TypeError(`The \`id\` of an offer is ${shown((offer as RouterOffer | undefined)?.id)}; it takes a text.`)
  const { id, price, cacheMs, ...names } = offer
  if (price?.input === undefined || price.output === undefined)
    throw new TypeError(`The offer "${id}" has no \`price\` with \`input\` and \`output\`; give 0 for what is free.`)
  for (const part of ['input', 'output', 'cached', 'cache_write', 'cache_write_1h'] as const) {
    const value = price[part]
    if (value !== undefined && !(isCount(value) && value <= maxPrice))
      throw new TypeError(
        `The \`price.${part}\` of the offer "${id}" is ${shown(value)}; it takes microdollars per million tokens, from 0 to ${maxPrice}.`,
      )
  }
  if (cacheMs !== undefined && !isCount(cacheMs))
    throw new TypeError(`The \`cacheMs\` of the offer "${id}" is ${shown(cacheMs)}; it takes milliseconds, 0 or more.`)
  for (const field of ['provider', 'model'] as const)
    if (names[field] !== undefined && typeof names[field] !== 'string')
      throw new TypeError(`The \`${field}\` of the offer "${id}" is ${shown(names[field])}; it takes a text.`)
}

export function checkOptions({ offers, clock, seed }: RouterOptions): void {
  if (!Array.isArray(offers)) throw new TypeError(`createRouter: \`offers\` is ${shown(offers)}; it takes a list of offers.`)
  if (seed !== undefined && !Number.isFinite(seed)) throw new TypeError(`createRouter: \`seed\` is ${shown(seed)}; it takes a number.`)
  if (clock === undefined) return
  const { monotonic, now } = (clock ?? {}) as { readonly monotonic?: unknown; readonly now?: unknown }
  if (typeof monotonic !== 'function' && typeof now !== 'function')
    throw new TypeError(`createRouter: \`clock\` has neither a function \`monotonic\` nor \`now\`; it takes an object with one of them.`)
}

const counts = [
  'inputTokens',
  'outputTokens',
  'maxOutputTokens',
  'deadlineMs',
  'timeoutMs',
  'coldTimeoutMs',
  'leastTimeoutMs',
  'attempts',
] as const

const types = { stream: 'boolean', hedge: 'boolean', dry: 'boolean', cacheKey: 'string', rank: 'function' } as const

/** More than any prompt or answer has. */
const maxTokens = 10_000_000
const sane = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && tokens >= 0 ? Math.min(tokens, maxTokens) : undefined

/** The request, its tokens within bounds. Throws a TypeError that names the field at fault. */
export function soundRequest(request: RouterRequest): RouterRequest {
  if (!isObject(request)) throw new TypeError(`A request is ${shown(request)}; it takes an object with \`inputTokens\`.`)
  for (const field of counts) {
    const value = request[field]
    if (field !== 'inputTokens' && value === undefined) continue
    if (!isCount(value) || (field.endsWith('Tokens') && field !== 'maxOutputTokens' && value === Number.POSITIVE_INFINITY))
      throw new TypeError(`The \`${field}\` of a request is ${shown(value)}; it takes a number, 0 or more.`)
  }
  for (const [field, type] of Object.entries(types) as [keyof typeof types, string][]) {
    const value = request[field]
    if (value !== undefined && typeof value !== type)
      throw new TypeError(`The \`${field}\` of a request is ${shown(value)}; it takes a ${type}.`)
  }
  if (request.offers !== undefined && !Array.isArray(request.offers))
    throw new TypeError(`The \`offers\` of a request is ${shown(request.offers)}; it takes a list of ids.`)
  if (request.preference !== undefined) checkPreference(request.preference)
  const { inputTokens, outputTokens = 0 } = request
  if (inputTokens <= maxTokens && outputTokens <= maxTokens) return request
  const capped = request.outputTokens === undefined ? {} : { outputTokens: Math.min(outputTokens, maxTokens) }
  return { ...request, inputTokens: Math.min(inputTokens, maxTokens), ...capped }
}

/** What a plan chose. Throws a TypeError for anything else. */
export function checkChoice(choice: Choice): void {
  if (!isObject(choice) || !('contender' in choice))
    throw new TypeError(`\`started\` got ${shown(choice)}; it takes a choice that \`plan.next()\` or \`plan.choices()\` returned.`)
}

/** A call that is under way. Throws a TypeError for anything else. */
export function checkAttempt(attempt: Attempt, method: string): void {
  if (!isObject(attempt) || !('contender' in attempt) || !('startedAt' in attempt))
    throw new TypeError(`\`${method}\` got ${shown(attempt)}; it takes what \`started()\` returned.`)
}

const kinds: readonly Failed['kind'][] = ['error', 'timeout', 'rate_limited', 'credential', 'refused']

export function checkFailed(failed: Failed | undefined): void {
  if (failed && kinds.includes(failed.kind)) return
  const kind = isObject(failed) ? String(failed.kind) : shown(failed)
  throw new TypeError(`A call failed with the kind "${kind}"; ${known(kind, kinds)}`)
}

export function checkHeadroom(seen: { readonly share: number; readonly resetsInMs: number }): void {
  for (const field of ['share', 'resetsInMs'] as const) {
    const value = isObject(seen) ? seen[field] : seen
    if (typeof value !== 'number') throw new TypeError(`The \`${field}\` of a headroom is ${shown(value)}; it takes a number.`)
  }
}

/** What is no number teaches nothing. */
export function saneUsed(used: Used): Used {
  if (typeof used !== 'object' || used === null)
    throw new TypeError(`\`finished\` got ${shown(used)} for what was used; it takes an object, or nothing.`)
  const [output, cached] = [sane(used.outputTokens), sane(used.cachedTokens)]
  return { ...(output !== undefined && { outputTokens: output }), ...(cached !== undefined && { cachedTokens: cached }) }
}
