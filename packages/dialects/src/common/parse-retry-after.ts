import { isObject, type Json } from '../protocol/wire.ts'

const second = 1000
const minDelay = second
const maxDelay = 600 * second

const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['ms', 1],
  ['s', second],
  ['m', 60 * second],
  ['h', 3600 * second],
  ['d', 86_400 * second],
])

/** Parses a delay in any format that providers use. Milliseconds from `now`, between 1 second and 10 minutes; undefined if it is not a time. */
export function parseDelay(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (text === '' || text.length > 64) return undefined
  const milliseconds = /^\d+(\.\d+)?$/.test(text) ? fromNumber(Number(text), now) : (fromDuration(text) ?? fromDate(text, now))
  return milliseconds === undefined ? undefined : clamp(milliseconds)
}

const clamp = (milliseconds: number): number => Math.min(maxDelay, Math.max(minDelay, Math.ceil(milliseconds)))

/** Interprets a number by its magnitude: a time in milliseconds, a time in seconds, or a delay in seconds. */
const fromNumber = (value: number, now: number): number => {
  if (value >= 1e12) return value - now
  return value >= 1e9 ? value * second - now : value * second
}

/** Parses `6m0s`, `12ms`, `1h2m3.5s`, `34.4s`. */
function fromDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|[smhd])\s?)+$/.test(text)) return undefined
  let milliseconds = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|[smhd])/g))
    milliseconds += Number(amount) * (units.get(unit ?? '') ?? 0)
  return milliseconds
}

/** Parses RFC 3339 and HTTP dates. Both contain a year; without one, `Date.parse` would guess. */
const fromDate = (text: string, now: number): number | undefined => {
  const instant = /\d{4}/.test(text) && /[-:]/.test(text.slice(1)) ? Date.parse(text) : Number.NaN
  return Number.isNaN(instant) ? undefined : instant - now
}

const delayInText =
  /(?:try again|retry(?:ing)?) (?:in|after):? ?((?:\d+(?:\.\d+)?(?:ms|[smhd]) ?){1,4}\b|\d+(?:\.\d+)? (?:milliseconds?|seconds?|minutes?|hours?))/i

/** Parses "Please try again in 7m12s." */
export function parseDelayInMessage(message: string, now: number): number | undefined {
  const [, found] = delayInText.exec(message.slice(0, 4000)) ?? []
  if (found === undefined) return undefined
  const duration = found
    .trim()
    .replace(/ millisecond.*/i, 'ms')
    .replace(/ ([smh])(?:econd|inute|our).*/i, '$1')
  return parseDelay(duration, now)
}

/** Rate limit headers: remaining amount and reset time. */
const families: readonly (readonly [remaining: string, reset: string])[] = [
  ...['requests', 'tokens', 'requests-day', 'tokens-minute'].map(
    name => [`x-ratelimit-remaining-${name}`, `x-ratelimit-reset-${name}`] as const,
  ),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
    name => [`anthropic-ratelimit-${name}-remaining`, `anthropic-ratelimit-${name}-reset`] as const,
  ),
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-remaining', 'ratelimit-reset'],
  ['x-ratelimitbysize-remaining-minute', 'ratelimitbysize-reset'],
]

/** The latest reset of the exhausted limits; if none is exhausted, the earliest of all. */
function readReset(header: (name: string) => string | undefined, now: number): number | undefined {
  const resets = families.flatMap(([remaining, reset]) => {
    const delay = parseDelay(header(reset), now)
    return delay === undefined ? [] : [{ delay, used: Number(header(remaining) ?? 1) <= 0 }]
  })
  const used = resets.filter(reset => reset.used)
  if (used.length > 0) return Math.max(...used.map(reset => reset.delay))
  return resets.length > 0 ? Math.min(...resets.map(reset => reset.delay)) : undefined
}

export interface RetryAfterInput {
  readonly header: (name: string) => string | undefined
  readonly now: number
  readonly message: string
  /** The parsed body, which may contain a hint. */
  readonly body: Json | undefined
  /** Whether the request was rate limited. Limit resets only count then. */
  readonly limited: boolean
}

/** The delay from a header in milliseconds, else one in seconds, else the body, else the limit resets. */
export function retryAfter({ header, now, message, body, limited }: RetryAfterInput): number | undefined {
  const inMilliseconds = header('retry-after-ms') ?? header('x-ms-retry-after-ms')
  const stated =
    (inMilliseconds === undefined ? undefined : parseDelay(`${inMilliseconds.trim()}ms`, now)) ?? parseDelay(header('retry-after'), now)
  if (stated !== undefined || !limited) return stated
  return parseDelay(retryInfo(body), now) ?? parseDelayInMessage(message, now) ?? readReset(header, now)
}

/** Reads `error.details[].retryDelay`, or `retry_after` in seconds. */
function retryInfo(body: Json | undefined): string | undefined {
  const error = isObject(body) && isObject(body.error) ? body.error : undefined
  const details: readonly Json[] = error && Array.isArray(error.details) ? error.details : []
  const delay = details.flatMap(detail => (isObject(detail) && typeof detail.retryDelay === 'string' ? [detail.retryDelay] : []))[0]
  if (delay !== undefined) return delay
  const seconds = error?.retry_after
  return typeof seconds === 'number' || typeof seconds === 'string' ? `${seconds}` : undefined
}
