import { checkTrace } from './check-trace.ts'
import { decide, isFree, ranked, type View } from './decide.ts'
import { lossBy } from './loss.ts'
import type { RouterOffer, Why } from './port.ts'
import { type Preference, preferences, type Worth } from './preferences.ts'
import { type DecisionRecord, type Loss, lossAs, type Outcome, type Seen, type Trace } from './record.ts'
import type { Sight, Strategy } from './sight.ts'
import { riskOf } from './standouts.ts'

// The same decisions once more, by the same numbers: as they were, or as another would have made them.

/** What a choice would come to, as it was believed when it was made. Nobody measured it. */
export interface Estimate {
  /** USD of the answer. */
  readonly cost: number
  readonly firstContentMs: number
  /** That no whole answer comes in time: 0 to 1. Of several choices: how many of them. */
  readonly failure: number
}

export interface Replayed {
  readonly request: number
  readonly turn: number
  readonly at: number
  readonly offer: RouterOffer
  readonly loss: Loss
  readonly why: Why
  readonly estimate: Estimate
  /** The choice as it was recorded. */
  readonly recorded: { readonly offer: RouterOffer; readonly estimate: Estimate }
  /** Both are one offer. */
  readonly same: boolean
  /** What truly came of it, where the choice is the same and it has ended. */
  readonly outcome?: Outcome
}

export interface Replay {
  /** One for each of the trace. */
  readonly decisions: readonly Replayed[]
  /** Over first choices alone: who is asked later depends on what came of the first. */
  readonly sums: {
    readonly requests: number
    /** Of them, those with the same first choice. */
    readonly same: number
    readonly replayed: Estimate
    readonly recorded: Estimate
    /** What truly came of those that are the same and have ended. */
    readonly seen: { readonly ended: number; readonly answered: number; readonly heard: number; readonly firstContentMs: number }
  }
}

/**
 * Makes each decision of a trace again. Without a strategy, by the one that made it: the choices are the same, bit for bit, and
 * where a function made them, by the losses that it returned. With one, by that: what it would have chosen, and what that would
 * have come to. These are estimates from what the router believed: another choice would also have taught it other things, and
 * nothing here knows that. The caller's own order stays in force; whoever was left out of a record for want of room cannot be
 * chosen. Throws a TypeError for what is no trace.
 *
 * @example
 * const { sums } = replay(router.trace(), 'cost')
 * console.log(`${sums.recorded.cost - sums.replayed.cost} USD less, for ${sums.replayed.firstContentMs - sums.recorded.firstContentMs} ms more`)
 */
export function replay(trace: Trace, strategy?: Preference | Worth | Strategy): Replay {
  checkTrace(trace)
  if (typeof strategy === 'string' && !Object.hasOwn(preferences, strategy)) {
    throw new TypeError(`replay: there is no preference "${strategy}"; there are ${Object.keys(preferences).join(', ')}.`)
  }
  const decisions = trace.decisions.map(record => again(record, strategy))
  const first = decisions.filter(({ turn }) => turn === 0)
  const outcomes = first.flatMap(({ outcome }) => outcome ?? [])
  const heard = outcomes.flatMap(({ firstContentMs }) => firstContentMs ?? [])
  return {
    decisions,
    sums: {
      requests: first.length,
      same: first.filter(({ same }) => same).length,
      replayed: sumOf(first.map(({ estimate }) => estimate)),
      recorded: sumOf(first.map(({ recorded }) => recorded.estimate)),
      seen: {
        ended: outcomes.length,
        answered: outcomes.filter(({ ended }) => ended === 'ok').length,
        heard: heard.length,
        firstContentMs: heard.reduce((sum, each) => sum + each, 0),
      },
    },
  }
}

function again(record: DecisionRecord, given: Preference | Worth | Strategy | undefined): Replayed {
  const { candidates, hope, turn, chosen, outcome } = record
  const { at, loss, probing } = decide(viewOf(record), strategyOf(record, given))
  const seen = candidates[at] as Seen
  const sight = probing && hope ? hope.sight : seen.sight
  return {
    request: record.request,
    turn,
    at: record.at,
    offer: seen.offer,
    loss: lossAs(loss),
    why: turn > 0 ? record.why : probing ? 'probe' : isFree(sight) ? 'best' : 'last_resort',
    estimate: estimateOf(sight),
    recorded: { offer: (candidates[chosen] as Seen).offer, estimate: estimateOf(chosenSight(record)) },
    same: at === chosen,
    ...(at === chosen && outcome && { outcome }),
  }
}

export const viewOf = ({ candidates, hope }: DecisionRecord): View => ({
  offers: candidates.map(({ offer }) => offer),
  sights: candidates.map(({ sight }) => sight),
  shunned: candidates.map(({ shunned }) => shunned === true),
  hope,
})

/** By what the choice was made: of a probe, what was hoped of it. */
export const chosenSight = ({ candidates, chosen, why, hope }: DecisionRecord): Sight =>
  why === 'probe' && hope ? hope.sight : (candidates[chosen] as Seen).sight

export const estimateOf = (sight: Sight): Estimate => ({ cost: sight.cost, firstContentMs: sight.firstContentMs, failure: riskOf(sight) })

const sumOf = (estimates: readonly Estimate[]): Estimate =>
  estimates.reduce(
    (sum, { cost, firstContentMs, failure }) => ({
      cost: sum.cost + cost,
      firstContentMs: sum.firstContentMs + firstContentMs,
      failure: sum.failure + failure,
    }),
    { cost: 0, firstContentMs: 0, failure: 0 },
  )

function strategyOf(record: DecisionRecord, given: Preference | Worth | Strategy | undefined): Strategy {
  const { worth = undefined, scale, candidates } = record
  if (given === undefined && worth === undefined) return asReturned(record)
  const plain = typeof given === 'function' ? given : lossBy(given === undefined ? (worth as Worth) : weighed(given, scale))
  const ranks = new Map(candidates.flatMap(({ offer, rank }) => (rank === undefined ? [] : [[offer, rank ?? Number.NaN] as const])))
  return ranked(plain, ranks.size > 0 ? offer => ranks.get(offer) ?? Number.NaN : undefined)
}

const weighed = (given: Preference | Worth, scale: number): Worth => {
  if (typeof given !== 'string') return given
  const { waiting, growing, failing } = preferences[given]
  return { waiting: waiting * scale, growing: growing * scale, failing: failing * scale }
}

/** A function that is gone, by what it said of each. */
export function asReturned({ candidates, hope }: DecisionRecord): Strategy {
  const losses = new Map(candidates.map(({ sight, loss }) => [sight, loss]))
  if (hope) losses.set(hope.sight, hope.loss)
  return sight => losses.get(sight) ?? Number.POSITIVE_INFINITY
}
