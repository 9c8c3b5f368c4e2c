import { priceOf } from './baselines.ts'
import { createRanked, type Policy, type Ranking, type Setting } from './policy.ts'
import { createDice } from './random-draws.ts'

const indexes = (setting: Setting): readonly number[] => setting.offers.map((_, index) => index)

/** Moves offers that are paused to the end. */
const restedLast = (order: readonly number[], untilMs: readonly number[], nowMs: number): readonly number[] => {
  const isResting = (at: number): boolean => (untilMs[at] ?? 0) > nowMs
  return [...order.filter(at => !isResting(at)), ...order.filter(isResting)]
}

/**
 * The lowest mean of the last ten waits, like LiteLLM: a new offer goes first, a timeout counts as 1000 s, other failures as nothing, and
 * an offer that fails more than half of a minute's calls, or returns 429, is paused for 5 s. Samples older than an hour are dropped.
 */
export const lowestLatency: Policy = { name: 'lowest latency', create: setting => createRanked(setting, latencyRanking(setting)) }

interface Seen {
  readonly waits: { readonly ms: number; readonly atMs: number }[]
  calls: number[]
  failures: number[]
}

function latencyRanking(setting: Setting): Ranking {
  const seen = setting.offers.map((): Seen => ({ waits: [], calls: [], failures: [] }))
  const restsUntil = setting.offers.map(() => 0)
  const dice = createDice(setting.seed)
  const note = (offer: number, ms: number): void => {
    const waits = seen[offer]?.waits
    waits?.push({ ms, atMs: setting.now() })
    if (waits && waits.length > 10) waits.shift()
  }
  const mean = (offer: number): number => {
    const fresh = (seen[offer]?.waits ?? []).filter(({ atMs }) => setting.now() - atMs < 3_600_000)
    return fresh.length === 0 ? 0 : fresh.reduce((sum, { ms }) => sum + ms, 0) / fresh.length
  }
  return {
    rank: () => {
      const means = seen.map((_, index) => mean(index) + dice.between(0, 1e-6))
      const order = [...indexes(setting)].sort((a, b) => (means[a] ?? 0) - (means[b] ?? 0))
      return restedLast(order, restsUntil, setting.now())
    },
    started: offer => {
      seen[offer]?.calls.push(setting.now())
    },
    answered: note,
    failed: (offer, { kind, retryAfterMs }) => {
      const [its, nowMs] = [seen[offer], setting.now()]
      if (!its) return
      if (kind === 'timeout') note(offer, 1_000_000)
      its.failures.push(nowMs)
      its.calls = its.calls.filter(at => nowMs - at < 60_000)
      its.failures = its.failures.filter(at => nowMs - at < 60_000)
      const many = its.calls.length >= 2 && its.failures.length > its.calls.length / 2
      if (kind === 'rate_limited' || many) restsUntil[offer] = nowMs + (retryAfterMs ?? 5_000)
    },
  }
}

/**
 * Of two random offers, the one with the lower peak of waits times running calls, like Finagle: the peak halves within seconds, and an
 * offer that fails five times in a row is paused, for 5 s at first and up to 300 s.
 */
export const peakEwma: Policy = { name: 'two choices, peak EWMA', create: setting => createRanked(setting, peakRanking(setting)) }

const decayMs = 10_000

function peakRanking(setting: Setting): Ranking {
  const dice = createDice(setting.seed)
  const all = setting.offers.map(() => ({ ms: 0, atMs: 0, open: 0, failures: 0, restMs: 5_000 }))
  const restsUntil = setting.offers.map(() => 0)
  const now = (): number => setting.now()
  const peak = (at: number): number => {
    const its = all[at]
    return its ? its.ms * Math.exp(-(now() - its.atMs) / decayMs) : 0
  }
  const load = (at: number): number => {
    const open = all[at]?.open ?? 0
    const ms = peak(at)
    // An unknown offer with running calls is not free.
    return ms === 0 && open > 0 ? 1e6 + open : ms * (open + 1)
  }
  const note = (at: number, ms: number): void => {
    const its = all[at]
    if (!its) return
    const keep = Math.exp(-(now() - its.atMs) / decayMs)
    its.ms = ms > peak(at) ? ms : its.ms * keep + ms * (1 - keep)
    its.atMs = now()
  }
  return {
    rank: () => {
      const free = restedLast(shuffle(indexes(setting), dice), restsUntil, now())
      const [a = 0, b = a, ...others] = free
      return load(b) < load(a) && (restsUntil[b] ?? 0) <= now() ? [b, a, ...others] : free
    },
    started: at => {
      const its = all[at]
      if (its) its.open += 1
    },
    answered: note,
    served: at => {
      const its = all[at]
      if (its) [its.failures, its.restMs] = [0, 5_000]
    },
    failed: at => {
      const its = all[at]
      if (!its) return
      its.failures += 1
      if (its.failures < 5) return
      restsUntil[at] = now() + its.restMs
      its.restMs = Math.min(300_000, its.restMs * 2)
      its.failures = 0
    },
    over: at => {
      const its = all[at]
      if (its) its.open -= 1
    },
  }
}

function shuffle(values: readonly number[], dice: ReturnType<typeof createDice>): readonly number[] {
  const left = [...values]
  return values.map(() => left.splice(dice.below(left.length), 1)[0] ?? 0)
}

/**
 * A random one of the offers without an outage in the last 30 s, weighted by 1 / price²; the others by price after it. This is OpenRouter's
 * longest published rule. An outage: at least two failures that are at least a fifth of the calls.
 */
export const inverseSquare: Policy = { name: '1 / price²', create: setting => createRanked(setting, inverseRanking(setting)) }

const memoryMs = 30_000

function inverseRanking(setting: Setting): Ranking {
  const dice = createDice(setting.seed)
  const recent = setting.offers.map((): { calls: number[]; failures: number[] } => ({ calls: [], failures: [] }))
  const since = (times: readonly number[]): number[] => times.filter(at => setting.now() - at < memoryMs)
  const isDown = (at: number): boolean => {
    const its = recent[at]
    if (!its) return false
    // Most have no failures, so this is checked first.
    if (its.failures.length === 0) return false
    its.failures = since(its.failures)
    its.calls = since(its.calls)
    return its.failures.length >= 2 && its.failures.length >= its.calls.length / 5
  }
  return {
    rank: ({ inputTokens }) => {
      const prices = setting.offers.map(offer => priceOf(offer, inputTokens))
      const byPrice = [...indexes(setting)].sort((a, b) => (prices[a] ?? 0) - (prices[b] ?? 0))
      const stable = byPrice.filter(at => !isDown(at))
      const from = stable.length > 0 ? stable : byPrice
      const weights = from.map(at => 1 / (prices[at] ?? 1) ** 2)
      let left = dice.between(0, 1) * weights.reduce((sum, weight) => sum + weight, 0)
      const chosen = from.find((_, index) => {
        left -= weights[index] ?? 0
        return left <= 0
      })
      const first = chosen ?? from[0] ?? 0
      return [first, ...stable.filter(at => at !== first), ...byPrice.filter(at => at !== first && !stable.includes(at))]
    },
    started: at => {
      const calls = recent[at]?.calls
      calls?.push(setting.now())
      if (calls && calls.length > 4_096) calls.splice(0, 2_048)
    },
    failed: at => {
      recent[at]?.failures.push(setting.now())
    },
  }
}
