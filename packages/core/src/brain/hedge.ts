import type { Belief } from './belief.ts'
import { tuning } from './constants.ts'
import { levelNow, meanBeyond } from './latency.ts'
import type { Worth } from './preferences.ts'
import type { Sight } from './sight.ts'

// When to ask a second offer while the first is silent: once the wait that is still to be expected costs more than the second
// call. Never before nearly all answers would have come.

/** In steps of this share of the usual wait. */
const { stepShare } = tuning.hedging
const steps = 24

/** Milliseconds of silence after which a second call is worth its money; nothing where it never is. */
export function hedgeAfter(
  { belief, sight }: { readonly belief: Belief; readonly sight: Sight },
  next: { readonly sight: Sight },
  { worth, now, timeoutMs }: { readonly worth: Worth; readonly now: number; readonly timeoutMs: number },
): number | undefined {
  const { latency } = belief
  const level = levelNow(latency, now)
  const usual = Math.exp(level)
  const reads = Math.max(0, sight.firstContentMs - usual * latency.tail)
  for (let at = 0; at < steps; at += 1) {
    const off = latency.p92 + Math.log(1 + at * stepShare)
    const silentMs = usual * Math.exp(off)
    if (silentMs + reads >= timeoutMs) return undefined
    const stillMs = usual * meanBeyond(latency, off) - silentMs
    if ((worth.waiting * (stillMs - next.sight.firstContentMs)) / 1_000 > next.sight.cost) return silentMs + reads
  }
  return undefined
}
