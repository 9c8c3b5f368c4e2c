import { nearestOf } from '../errors/nearest.ts'
import type { Failed, RouterOffer, RouterRequest, Used } from './port.ts'
import { type Preference, preferences, type Worth } from './preferences.ts'
import type { Strategy } from './sight.ts'

// What whoever drives a router may get wrong. One number that is none would stay in what is believed for good.

const known = (name: string, names: readonly string[]): string => {
  const [close] = nearestOf(name, names)
  return `there are ${names.join(', ')}.${close === undefined ? '' : ` Did you mean "${close}"?`}`
}

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0

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
      throw new TypeError(`The \`${part}\` of a preference is ${value}; it takes USD, 0 or more.`)
  }
}

export function checkOffer({ id, price }: RouterOffer): void {
  if (price?.input === undefined || price.output === undefined)
    throw new TypeError(`The offer "${id}" has no \`price\` with \`input\` and \`output\`; give 0 for what is free.`)
  for (const [part, value] of Object.entries(price))
    if (typeof value === 'number' && (!isCount(value) || value === Number.POSITIVE_INFINITY))
      throw new TypeError(`The \`price.${part}\` of the offer "${id}" is ${value}; it takes microdollars per million tokens, 0 or more.`)
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

export function checkRequest(request: RouterRequest): void {
  for (const field of counts) {
    const value = request[field]
    if (field !== 'inputTokens' && value === undefined) continue
    if (!isCount(value) || (field.endsWith('Tokens') && field !== 'maxOutputTokens' && value === Number.POSITIVE_INFINITY))
      throw new TypeError(`The \`${field}\` of a request is ${value}; it takes a number, 0 or more.`)
  }
  if (request.preference !== undefined) checkPreference(request.preference)
}

const kinds: readonly Failed['kind'][] = ['error', 'timeout', 'rate_limited', 'credential', 'refused']

export function checkFailed(failed: Failed | undefined): void {
  if (failed && kinds.includes(failed.kind)) return
  throw new TypeError(`A call failed with the kind "${failed?.kind}"; ${known(String(failed?.kind), kinds)}`)
}

/** More than any answer has. */
const mostTokens = 10_000_000
const sane = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && tokens >= 0 ? Math.min(tokens, mostTokens) : undefined

/** What is no number teaches nothing. */
export function saneUsed({ outputTokens, cachedTokens }: Used): Used {
  const [output, cached] = [sane(outputTokens), sane(cachedTokens)]
  return { ...(output !== undefined && { outputTokens: output }), ...(cached !== undefined && { cachedTokens: cached }) }
}
