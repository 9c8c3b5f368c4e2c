import type { Choice, Router, RouterRequest } from '@signalbox/core'
import { blind, type Policy, type Setting } from './policy.ts'
import { bestCut, type Else, lossOf, type Prospect, prospectOf } from './prospect.ts'
import { meanGrowth, traffic } from './requests.ts'
import { below, spreadOf, type Waits } from './waits.ts'
import type { TrueOffer } from './world.ts'

/** What the oracle's foresight may be set to, to see whether another one were better. */
export interface Foresight {
  /** Times the number of further turns that a conversation is truly expected to have. Default: 1. */
  readonly turns?: number
  /** Times what waiting for a free place is worth. Default: 1. */
  readonly queueing?: number
}

/** Knows how every offer really is at this moment, and no luck to come: what is left to lose for any policy is the gap to it. */
export const oracle: Policy = oracleWith({})

export function oracleWith(foresight: Foresight): Policy {
  return { name: 'oracle', create: setting => createOracle(setting, foresight) }
}

interface Seer {
  readonly at: number
  readonly offer: TrueOffer
  readonly waits: Waits
  /** That the next turn of a conversation comes before this offer forgets its prompt. */
  readonly returns: number
  /** Calls that wait for a place at it. */
  queued: number
}

interface Judged {
  readonly seer: Seer
  readonly loss: number
  readonly cutMs: number
  readonly waitMs: number
}

function createOracle(setting: Setting, { turns = 1, queueing = 1 }: Foresight): Router {
  const { reality, worth, now, offers } = setting
  const seers = reality.world.offers.map((offer, at): Seer => {
    const inTime = below(Math.log((offer.cacheMs - traffic.pauseMs) / traffic.pauseMedianMs) / traffic.pauseScatter)
    return { at, offer, waits: spreadOf(offer), returns: traffic.goesOn * inTime, queued: 0 }
  })
  const look = (seer: Seer, request: RouterRequest, warm: number): Prospect => {
    const { cacheKey, inputTokens, stream = true } = request
    return prospectOf({ ...seer, state: reality.state(seer.at, now()) }, { inputTokens, warm, keyed: cacheKey !== undefined, stream })
  }

  const judge = (request: RouterRequest, { leftMs, last }: { leftMs: number; last: boolean }): Judged[] => {
    const prospects = seers.map(seer => look(seer, request, reality.warm(seer.at, request.cacheKey, now())))
    const later = afterwards(request, leftMs)
    const next = last ? worth.failing : afterFailure(prospects, leftMs)
    return seers.map((seer, at) => {
      const prospect = prospects[at]
      const { cutMs, loss } = prospect ? bestCut(prospect, { worth, leftMs, next }) : { cutMs: leftMs, loss: 0 }
      const waitMs = reality.freeInMs(seer.at, now(), seer.queued)
      return { seer, cutMs, waitMs, loss: loss + (later[at] ?? 0) + (queueing * worth.waiting * waitMs) / 1_000 }
    })
  }

  /** What a second attempt loses, first guessed as if nothing came after it, then with that guess. */
  const afterFailure = (prospects: readonly Prospect[], leftMs: number): number => {
    const guess: Else = { worth, leftMs, next: 2 * worth.waiting }
    const losses = prospects.map(prospect => lossOf(prospect, leftMs, guess))
    const least = Math.min(...losses)
    const best = prospects[losses.indexOf(least)]
    return best ? bestCut(best, { worth, leftMs, next: least }).loss : least
  }

  /** What the further turns of a conversation lose if this one is read here: with its prompt in the cache, or wherever they go else. */
  const afterwards = (request: RouterRequest, leftMs: number): readonly number[] => {
    if (request.cacheKey === undefined || turns === 0) return []
    const other: Else = { worth, leftMs, next: 2 * worth.waiting }
    const cold = Math.min(
      ...seers.map(seer => {
        const inputTokens = request.inputTokens + meanGrowth / (1 - seer.returns)
        return lossOf(look(seer, { ...request, inputTokens }, reality.warm(seer.at, request.cacheKey, now())), leftMs, other)
      }),
    )
    return seers.map(seer => {
      const inputTokens = request.inputTokens + meanGrowth / (1 - seer.returns)
      const warm = lossOf(look(seer, { ...request, inputTokens }, inputTokens - meanGrowth), leftMs, other)
      return ((turns * seer.returns) / (1 - seer.returns)) * (Math.min(warm, cold) - cold)
    })
  }

  const choose = (request: RouterRequest, left: number, endsMs: number): Choice | undefined => {
    if (left <= 0) return undefined
    const judged = judge(request, { leftMs: endsMs - now(), last: left === 1 })
    const best = judged.reduce((a, b) => (b.loss < a.loss ? b : a))
    const offer = offers[best.seer.at]
    if (!offer) return undefined
    if (best.waitMs > 0) best.seer.queued += 1
    return { offer, loss: best.loss, sight: blind, why: 'best', waitMs: best.waitMs, timeoutMs: best.cutMs }
  }
  const seerOf = new Map(offers.map((offer, at) => [offer.id, seers[at]]))
  return {
    plan: request => {
      let left = request.attempts ?? 4
      const endsMs = now() + (request.deadlineMs ?? Number.POSITIVE_INFINITY)
      let first = choose(request, left, endsMs)
      if (!first) throw new Error('There is nobody to ask.')
      const choices = [first] as const
      const next = (): Choice | undefined => {
        const choice = first ?? choose(request, left, endsMs)
        first = undefined
        left -= 1
        return choice
      }
      return { choices: () => choices, next }
    },
    started: choice => {
      const seer = seerOf.get(choice.offer.id)
      if (seer && choice.waitMs > 0) seer.queued -= 1
      return { choice }
    },
    firstContent: () => {},
    finished: () => {},
    failed: () => {},
    left: () => {},
    headroom: () => {},
  }
}
