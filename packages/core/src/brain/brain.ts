import { createLru } from '../runtime/lru.ts'
import { makeAffinity } from './affinity.ts'
import { type Contender, makeBelief, type Underway } from './belief.ts'
import { tried } from './breaker.ts'
import { spend, tellHeadroom } from './capacity.ts'
import { tuning } from './constants.ts'
import { feesOf } from './cost.ts'
import { makeDice, type Seed, seedOf } from './dice.ts'
import type { Chosen, Mind } from './judge.ts'
import { learnContent, learnEnd, learnFailure, learnLeft, learnRead } from './learn.ts'
import type { Memory } from './memory.ts'
import { onwards } from './onwards.ts'
import { planFor } from './plan.ts'
import type { Attempt, Choice, Failed, Recorded, Router, RouterOffer, RouterPlan, RouterRequest, Used } from './port.ts'
import type { Preference, Worth } from './preferences.ts'
import { asked, makeBudget, probed } from './probe.ts'
import { createRecorder, emptyTrace, type RecordOptions } from './recorder.ts'
import type { Strategy } from './sight.ts'
import { type Average, blend, makeAverage } from './speed.ts'

/** A router whose offers are not fixed: each plan names its own. */
export interface Brain extends Omit<Router, 'plan' | 'headroom'>, Recorded {
  /** The same id is the same belief. Kept by whoever asks often. */
  contender(offer: RouterOffer): Contender
  plan(request: RouterRequest, contenders: readonly Contender[]): RouterPlan
  headroom(contender: Contender, seen: { readonly share: number; readonly resetsInMs: number }): void
}

export interface BrainOptions {
  readonly monotonic: () => number
  readonly preference: Preference | Worth | Strategy
  /** Asked for when first needed. */
  readonly seed: Seed
  readonly record?: RecordOptions | undefined
  /** What is shared with brains elsewhere. Default: nothing. */
  readonly memory?: Memory | undefined
}

/** Beliefs of offers that nobody asks any more are forgotten. */
const mostBeliefs = 10_000
const { priorLength, lengthWeight } = tuning.averages

export function createBrain({ preference, seed, record, memory, ...clock }: BrainOptions): Brain {
  const monotonic = onwards(clock.monotonic)
  const contenders = createLru<Contender>(mostBeliefs)
  const lengths = createLru<Average>(mostBeliefs)
  const dice = makeDice(seed)
  const affinity = memory?.affinity ?? makeAffinity()
  const lengthOf = (model = ''): Average => {
    const known = lengths.get(model)
    if (known) return known
    const made = makeAverage(priorLength)
    lengths.set(model, made)
    return made
  }
  const recorder = record && createRecorder(record, seed)
  const mind: Mind = {
    monotonic,
    preference,
    affinity,
    probing: makeBudget(),
    hedging: makeBudget(),
    lengthOf,
    recorder,
    streamedAt: Number.NEGATIVE_INFINITY,
  }

  const over = (attempt: Attempt): Underway | undefined => {
    const call = attempt as Underway
    if (call.over) return undefined
    call.over = true
    const { belief } = call.contender
    belief.running -= 1
    belief.silent.delete(call)
    return call
  }

  return {
    contender(offer) {
      const known = contenders.get(offer.id)
      // What is believed outlives the offer as it was written down: a new price is not a new provider.
      if (known?.offer === offer) return known
      const contender: Contender = { offer, fees: feesOf(offer), belief: known?.belief ?? makeBelief(monotonic()) }
      contenders.set(offer.id, contender)
      if (!known) memory?.met(offer.id, contender.belief, monotonic())
      return contender
    },
    plan(request, among) {
      return planFor(mind, request, among)
    },
    started(choice: Choice) {
      const now = monotonic()
      const { contender, asking, why, placed } = choice as Chosen
      const { belief } = contender
      const warmTokens = choice.sight.warmTokens
      const call: Underway = {
        choice,
        contender,
        stream: asking.stream ?? true,
        startedAt: now,
        warmTokens,
        coldTokens: asking.inputTokens - Math.min(asking.inputTokens, warmTokens) * belief.warmth.value,
        inputTokens: asking.inputTokens,
        cacheKey: asking.cacheKey,
        firstContentAt: undefined,
        over: false,
      }
      belief.running += 1
      if (call.stream) belief.silent.add(call)
      if (!placed) spend(belief.capacity, now)
      tried(belief.breaker)
      asked(belief)
      if (why === 'probe') probed(belief, now, mind.probing)
      return call
    },
    firstContent(attempt) {
      const call = attempt as Underway
      if (call.over || call.firstContentAt !== undefined || !call.stream) return
      call.firstContentAt = monotonic()
      call.contender.belief.silent.delete(call)
      learnContent(call, call.firstContentAt)
      learnRead(call, affinity, call.firstContentAt)
    },
    finished(attempt, used: Used = {}) {
      const call = over(attempt)
      if (!call) return
      const now = monotonic()
      if (call.stream && call.firstContentAt === undefined) {
        call.firstContentAt = now
        learnContent(call, now)
      }
      learnEnd(call, used, now)
      learnRead(call, affinity, now)
      recorder?.end(call, 'ok', { now, used })
      if (used.outputTokens !== undefined) blend(lengthOf(call.contender.offer.model), used.outputTokens, lengthWeight)
    },
    failed(attempt, failure: Failed) {
      const call = over(attempt)
      if (!call) return
      const chosen = call.choice as Chosen
      chosen.ended = failure.kind
      if (failure.final) chosen.final = true
      const now = monotonic()
      recorder?.end(call, failure.kind, { now })
      if (failure.chosen) learnLeft(call, dice(), now)
      else learnFailure(call, { ...failure, now, chance: dice() })
      if (call.contender.belief.capacity.heldUntil > now) memory?.limited(call.contender.offer.id)
    },
    left(attempt) {
      const call = over(attempt)
      if (!call) return
      const now = monotonic()
      recorder?.end(call, 'left', { now })
      learnLeft(call, dice(), now)
    },
    headroom({ belief }, seen) {
      tellHeadroom(belief.capacity, monotonic(), seen)
    },
    trace: () => recorder?.trace() ?? emptyTrace(seedOf(seed)),
  }
}
