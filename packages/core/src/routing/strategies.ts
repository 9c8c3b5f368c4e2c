import type { Health } from './health.ts'
import type { Candidate } from './plan.ts'

/** Lower goes first; equals keep the order in which models, offers and providers were given. */
export type Strategy = (candidate: Candidate, health: Health) => number

const priceOf = ({ offer }: Candidate): number => (offer.price ? offer.price.input + 3 * offer.price.output : Number.MAX_SAFE_INTEGER)

/** A strategy sees numbers and returns a number; it cannot call anyone. A row is a strategy's name as requests give it. */
export const strategies: Readonly<Record<string, Strategy>> = {
  order: () => 0,
  cost: priceOf,
  latency: (_, health) => health.latencyMs,
  throughput: (_, health) => -health.tokensPerSecond,
  availability: (_, health) => health.errorRate,
  /** Price, slowness, failure and a limit that runs out as factors of one figure: twice as dear weighs as much as four times as slow. */
  balanced: (candidate, health) =>
    (priceOf(candidate) + 1) * Math.sqrt(health.latencyMs + 1) * (1 + 10 * health.errorRate) * (2 - Math.min(1, 5 * health.headroom)),
}
