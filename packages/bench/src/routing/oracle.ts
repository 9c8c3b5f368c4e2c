import type { Router, RouterChoice, RouterRequest } from '@signalbox/router'
import { blind, type Policy, type Setting } from './policy.ts'
import { bestCut, type Else, lossOf, type Prospect, prospectOf } from './prospect.ts'
import { meanGrowth, traffic } from './requests.ts'
import { below, spreadOf, type Waits } from './waits.ts'
import type { TrueOffer } from './world.ts'

/** How the oracle looks ahead. Each parameter can be set to check whether another value is better; none is by more than noise. */
interface Foresight {
  /** Weight of the further turns of a conversation. Less than one, because offers change before they come, and some come after the run. */
  readonly turns?: number
  /** Weight of waiting for a slot. Large, because a waiting request delays all later ones. */
  readonly queueing?: number
  /** USD per second by which a slot's value to others rises while none is free, and the share that should stay free. */
  readonly dearer?: number
  readonly spare?: number
}

/** Knows the true current state of every offer, but no future random events. The gap to it is what a policy could still gain. */
export const oracle: Policy = oracleWith({})

export function oracleWith(foresight: Foresight): Policy {
  return { name: 'oracle', create: setting => createOracle(setting, foresight) }
}

interface Seer {
  readonly at: number
  readonly offer: TrueOffer
  readonly waits: Waits
  /** Probability that the next turn of a conversation comes before this offer evicts its prompt. */
  readonly returns: number
  /** Calls that wait for a slot. */
  queued: number
  /** Value of a slot to other requests, in USD. */
  scarce: number
  scarceMs: number
}

interface Judged {
  readonly seer: Seer
  readonly loss: number
  readonly cutMs: number
  readonly waitMs: number
}

function createOracle(setting: Setting, { turns = 0.6, queueing = 10, dearer = 0.000025, spare = 0.25 }: Foresight): Router {
  const { reality, worth, now, offers } = setting
  const seers = reality.world.offers.map((offer, index): Seer => {
    const inTime = below(Math.log((offer.cacheMs - traffic.pauseMs) / traffic.pauseMedianMs) / traffic.pauseScatter)
    return { at: index, offer, waits: spreadOf(offer), returns: traffic.goesOn * inTime, queued: 0, scarce: 0, scarceMs: 0 }
  })
  const look = (seer: Seer, request: RouterRequest, warm: number): Prospect => {
    const { cacheKey, inputTokens, stream = true } = request
    return prospectOf({ ...seer, state: reality.state(seer.at, now()) }, { inputTokens, warm, keyed: cacheKey !== undefined, stream })
  }

  /** The cost of a slot at an offer: waiting for it, and taking it from others. */
  const placeAt = (seer: Seer): { readonly waitMs: number; readonly loss: number } => {
    const waitMs = reality.freeInMs(seer.at, now(), seer.queued)
    const free = Math.max(0, reality.freeShare(seer.at, now()))
    seer.scarce = Math.max(0, seer.scarce + (dearer * (1 - free / spare) * (now() - seer.scarceMs)) / 1_000)
    seer.scarceMs = now()
    return { waitMs, loss: seer.scarce + (queueing * worth.waiting * waitMs) / 1_000 }
  }

  const judge = (request: RouterRequest, { leftMs, last }: { leftMs: number; last: boolean }): Judged[] => {
    const prospects = seers.map(seer => look(seer, request, reality.warm(seer.at, request.cacheKey, now())))
    const other: Else = { worth, leftMs, next: last ? worth.failure : afterFailure(prospects, leftMs) }
    const later = afterwards(request, leftMs)
    return seers.map((seer, index) => {
      const prospect = prospects[index]
      const { cutMs, loss } = prospect ? bestCut(prospect, other) : { cutMs: leftMs, loss: 0 }
      const place = placeAt(seer)
      return { seer, cutMs, waitMs: place.waitMs, loss: loss + place.loss + (later[index] ?? 0) }
    })
  }

  /** The loss of a second attempt: first as if nothing came after it, so that an offer that is down does not look cheap, then with that estimate. */
  const afterFailure = (prospects: readonly Prospect[], leftMs: number): number => {
    const guess: Else = { worth, leftMs, next: worth.failure }
    const places = seers.map(seer => placeAt(seer).loss)
    const losses = prospects.map((prospect, index) => lossOf(prospect, leftMs, guess) + (places[index] ?? 0))
    const least = Math.min(...losses)
    const best = losses.indexOf(least)
    const prospect = prospects[best]
    return prospect ? bestCut(prospect, { worth, leftMs, next: least }).loss + (places[best] ?? 0) : least
  }

  /** The loss of the further turns of a conversation if this one is read here: with its prompt in the cache, or elsewhere. */
  const afterwards = (request: RouterRequest, leftMs: number): readonly number[] => {
    if (request.cacheKey === undefined || turns === 0) return []
    const later = (seer: Seer, warm: number): Prospect => {
      const inputTokens = request.inputTokens + meanGrowth / (1 - seer.returns)
      return look(seer, { ...request, inputTokens }, Math.min(warm, inputTokens - meanGrowth))
    }
    const others = seers.map(seer => later(seer, reality.warm(seer.at, request.cacheKey, now())))
    const guess = afterFailure(others, leftMs)
    const elsewhere = Math.min(
      ...others.map((prospect, index) => (seers[index]?.scarce ?? 0) + lossOf(prospect, leftMs, { worth, leftMs, next: guess })),
    )
    return seers.map(seer => {
      const prospect = later(seer, Number.POSITIVE_INFINITY)
      const saved = elsewhere - seer.scarce - lossOf(prospect, leftMs, { worth, leftMs, next: elsewhere })
      // An offer that does not respond has not read the prompt.
      const reads = (1 - prospect.hangs) * (1 - prospect.errors)
      return ((turns * seer.returns) / (1 - seer.returns)) * reads * Math.min(0, -saved)
    })
  }

  const choose = (request: RouterRequest, left: number, endsMs: number): RouterChoice | undefined => {
    if (left <= 0) return undefined
    const judged = judge(request, { leftMs: endsMs - now(), last: left === 1 })
    const best = judged.reduce((a, b) => (b.loss < a.loss ? b : a))
    const offer = offers[best.seer.at]
    if (!offer) return undefined
    // A call that would get its slot too late does not take one.
    if (best.waitMs > 0 && best.waitMs < endsMs - now()) best.seer.queued += 1
    return { offer, score: best.loss, estimate: blind, reason: 'best', waitMs: best.waitMs, maxFurtherWaitMs: 0, timeoutMs: best.cutMs }
  }
  const seerOf = new Map(offers.map((offer, index) => [offer.id, seers[index]]))
  return {
    plan: request => {
      let left = request.maxAttempts ?? 4
      const endsMs = now() + (request.deadlineMs ?? Number.POSITIVE_INFINITY)
      let first = choose(request, left, endsMs)
      if (!first) throw new Error('There is nobody to ask.')
      const choices = [first] as const
      const next = (): RouterChoice | undefined => {
        const choice = first ?? choose(request, left, endsMs)
        first = undefined
        left -= 1
        return choice
      }
      return { choices: () => choices, next }
    },
    startAttempt: choice => {
      const seer = seerOf.get(choice.offer.id)
      if (seer && choice.waitMs > 0) seer.queued -= 1
      return { choice }
    },
    recordFirstContent: () => {},
    finishAttempt: () => {},
    failAttempt: () => {},
    abandonAttempt: () => {},
    updateHeadroom: () => {},
  }
}
