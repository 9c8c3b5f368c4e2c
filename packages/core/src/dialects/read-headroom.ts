import type { Headroom, LimitHeaders } from '../protocol/rate-limit-headroom.ts'
import { parseDelay } from './parse-retry-after.ts'

// What is left of a provider's rate limits, read from response headers. The names of the headers are a fact of the provider.

/** The window of a limit whose reset is not in a header. */
const defaultWindowMs = 60_000

/** The limit of which the smallest share is left; undefined if the headers have none. */
export function readHeadroom(
  header: (name: string) => string | undefined,
  limits: readonly LimitHeaders[],
  now: number,
): Headroom | undefined {
  let tightest: Headroom | undefined
  for (const { limit, remaining, reset } of limits) {
    const left = readCountHeader(header(remaining))
    const max = readCountHeader(header(limit))
    if (left === undefined || !max) continue
    const share = Math.min(1, left / max)
    if (tightest === undefined || share < tightest.share)
      tightest = { share, resetsInMs: parseDelay(header(reset), now) ?? defaultWindowMs }
  }
  return tightest
}

/** Undefined for values such as −1, which mean that there is no limit. */
function readCountHeader(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d+)?$/.test(value)) return undefined
  return Number(value)
}
