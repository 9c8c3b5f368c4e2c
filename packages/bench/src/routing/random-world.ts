import { createDice, type Dice, within } from './random-draws.ts'
import type { Fault, FaultPlan, TrueOffer, World } from './world.ts'
import { inSpans } from './worlds.ts'

/** A random world: offers, prices, speeds, load and faults. */
export function randomWorld(seed: number): World {
  const dice = createDice(within(seed, 505))
  const count = 2 + dice.below(11)
  const rate = dice.scaled(0.3, 16)
  const sessions = dice.between(0, 0.8)
  const offers = Array.from({ length: count }, (_, index) => randomOffer(dice, index, rate))
  return { name: `world ${seed}`, offers, rate, minutes: 30, sessions, drift: dice.between(0.05, 0.25), faults: plan => randomFaults(plan) }
}

function randomOffer(dice: Dice, at: number, rate: number): TrueOffer {
  // Expensive offers are usually fast, or reliable, or neither.
  const dear = dice.between(0, 1)
  const input = Math.round(500_000 * 3 ** (dear * dice.between(0.7, 1.3)))
  const output = Math.round(input * dice.between(3.2, 4))
  return {
    id: `offer${at}`,
    price: {
      input,
      output,
      ...(dice.chance(0.8) && { cached: Math.round(input * dice.scaled(0.1, 1)) }),
      ...(dice.chance(0.25) && { cacheWrite: Math.round(input * 1.25) }),
    },
    firstContentMs: dice.scaled(320, 1_100),
    scatter: dice.between(0.15, 0.55),
    tail: dice.between(0.01, 0.03),
    tailTimes: dice.between(3, 7),
    msPerToken: dice.scaled(0.02, 0.2),
    tokensPerSecond: dice.scaled(45, 260),
    errors: dice.scaled(0.001, 0.012),
    errorMs: dice.scaled(100, 1_000),
    breaks: dice.scaled(0.0003, 0.002),
    // From a third of the traffic to several times as much.
    requestsPerMinute: Math.round(60 * Math.max(0.5, rate * dice.scaled(0.35, 6))),
    burstSeconds: dice.between(4, 15),
    tells: (['headers', 'retry_after', 'nothing'] as const)[dice.below(3)] ?? 'nothing',
    cacheHits: dice.between(0.8, 1),
    cacheMs: 300_000,
    billsCancelled: dice.chance(0.5),
  }
}

const troubles: readonly ((dice: Dice) => Omit<Fault, 'offer' | 'fromMs' | 'toMs'>)[] = [
  dice => ({ slower: dice.scaled(2, 8) }),
  () => ({ errors: 1, errorMs: 60 }),
  dice => ({ errors: 1, errorMs: dice.scaled(1_000, 10_000) }),
  () => ({ hangs: 1 }),
  dice => ({ errors: dice.between(0.1, 0.5) }),
  dice => ({ hangs: dice.between(0.1, 0.5) }),
  dice => ({ breaks: dice.between(0.05, 0.3) }),
  dice => ({ longest: dice.scaled(1_000, 8_000) }),
  dice => ({ limit: dice.between(0.05, 0.5) }),
]

function randomFaults(plan: FaultPlan): readonly Fault[] {
  const dice = createDice(within(plan.seed, 606))
  // Sometimes nothing goes wrong at all.
  if (dice.chance(0.15)) return []
  return inSpans(plan, of => troubles[of.below(troubles.length)]?.(of))
}
