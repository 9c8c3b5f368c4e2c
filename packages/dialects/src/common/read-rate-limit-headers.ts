import type { Headroom, LimitHeaders } from '../protocol/rate-limit-headroom.ts'
import { parseDelay } from './parse-retry-after.ts'

// Reads a provider's remaining rate limits from response headers. The header names are declared by the provider.

/** Window of a limit without a reset header. */
const defaultWindowMs = 60_000

/** The limit with the smallest remaining share; undefined if there are no such headers. */
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
