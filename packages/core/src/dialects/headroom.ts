import type { Headroom, LimitHeaders } from '../protocol/headroom.ts'
import { parseDelay } from './parse-retry-after.ts'

// What is left of a provider's rate limits, from the headers of its answers. Which headers those are is a fact of the provider.

/** Limits whose headers name no reset are minutes. */
const usualMs = 60_000

/** The tightest of the limits that the headers tell of; nothing where they tell of none. */
export function readHeadroom(
  header: (name: string) => string | undefined,
  limits: readonly LimitHeaders[],
  now: number,
): Headroom | undefined {
  let tightest: Headroom | undefined
  for (const { limit, remaining, reset } of limits) {
    const left = count(header(remaining))
    const most = count(header(limit))
    if (left === undefined || !most) continue
    const share = Math.min(1, left / most)
    if (tightest === undefined || share < tightest.share) tightest = { share, resetsInMs: parseDelay(header(reset), now) ?? usualMs }
  }
  return tightest
}

/** −1 and the like mean that nobody counts. */
function count(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d+)?$/.test(value)) return undefined
  return Number(value)
}
