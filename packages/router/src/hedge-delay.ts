import { tuning } from './constants.ts'
import { currentLevel, tailMean } from './latency.ts'
import type { OfferEstimate } from './offer-estimate.ts'
import type { OfferState } from './offer-state.ts'
import type { PreferencePrices } from './preferences.ts'

// When to send a second call while the first is silent: once the expected further wait costs more than the second call, but never before
// nearly all responses would have arrived.

const { stepShare } = tuning.hedging
const hedgeSteps = 24

/** Milliseconds of silence after which a second call is worth its cost; undefined if it never is. */
export function hedgeDelay(
  { state, estimate }: { readonly state: OfferState; readonly estimate: OfferEstimate },
  next: { readonly estimate: OfferEstimate },
  { prices, now, timeoutMs }: { readonly prices: PreferencePrices; readonly now: number; readonly timeoutMs: number },
): number | undefined {
  const { latency } = state
  const level = currentLevel(latency, now)
  const usual = Math.exp(level)
  const reads = Math.max(0, estimate.firstContentMs - usual * latency.tail)
  for (let at = 0; at < hedgeSteps; at += 1) {
    const off = latency.p92 + Math.log(1 + at * stepShare)
    const silentMs = usual * Math.exp(off)
    if (silentMs + reads >= timeoutMs) return undefined
    const stillMs = usual * tailMean(latency, off) - silentMs
    if ((prices.waiting * (stillMs - next.estimate.firstContentMs)) / 1_000 > next.estimate.cost) return silentMs + reads
  }
  return undefined
}
