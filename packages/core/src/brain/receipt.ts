import { isFree } from './decide.ts'
import { lossBy } from './loss.ts'
import type { RouterOffer, Why } from './port.ts'
import type { Worth } from './preferences.ts'
import type { DecisionRecord, Seen } from './record.ts'
import { chosenSight, type Estimate, estimateOf } from './replay.ts'
import type { Sight } from './sight.ts'
import { standoutsOf } from './standouts.ts'

// What else could have been chosen, what it would have come to by the numbers seen, and why it was not.

/** One decision, beside the choices that somebody would have made who looks at one number alone. */
export interface Receipt {
  readonly chosen: Offered & { readonly why: Why }
  readonly cheapest: Alternative
  readonly fastest: Alternative
  readonly mostReliable: Alternative
}

/** An offer and what it would have come to, as was believed. */
interface Offered extends Estimate {
  readonly offer: RouterOffer
}

export interface Alternative extends Offered {
  /** Why it was not chosen, as the end of a sentence about it. Absent: it was. */
  readonly lost?: string
}

/**
 * The receipt of a decision. Everyone counts who could serve the request, those too that rested or were full.
 * @example receiptOf(plan.flight().decisions[0]).cheapest.lost // 'was 0.4 s slower'
 */
export function receiptOf(record: DecisionRecord): Receipt {
  const { candidates, chosen, why } = record
  const { cheapest, fastest, mostReliable } = standoutsOf(candidates.map(({ sight }) => sight))
  const at = (place: number): Alternative => {
    const { offer, sight } = candidates[place] as Seen
    return { offer, ...estimateOf(sight), ...(place !== chosen && { lost: whyLost(record, candidates[place] as Seen) }) }
  }
  const won = candidates[chosen] as Seen
  return {
    chosen: { offer: won.offer, ...estimateOf(chosenSight(record)), why },
    cheapest: at(cheapest),
    fastest: at(fastest),
    mostReliable: at(mostReliable),
  }
}

/** In the order in which a decision looks at things. */
function whyLost(record: DecisionRecord, it: Seen): string {
  const won: Seen = { ...(record.candidates[record.chosen] as Seen), sight: chosenSight(record) }
  const held = whyHeld(it.sight, won.sight)
  if (held) return held
  if (it.shunned && !won.shunned) return 'belonged to a provider that had just failed this request'
  if (later(it.rank, won.rank)) return 'stood later in the order that was asked for'
  const worse = record.worth
    ? whyWorse(it, won, record.worth)
    : later(it.loss, record.loss)
      ? 'was judged worse by the strategy'
      : undefined
  if (worse !== undefined) return record.why === 'probe' ? `${worse}, beside what was hoped of the one that was tried` : worse
  const laterMs = it.sight.heldMs - won.sight.heldMs
  return laterMs > 0 ? `would have had room only ${seconds(laterMs)} later` : 'was as good, and stood later'
}

const whyHeld = (it: Sight, won: Sight): string | undefined =>
  isFree(it) || !isFree(won) ? undefined : it.restingMs > 0 ? 'was resting after failures' : 'had used up its limit'

/** Null: nothing is later. Neither has a place where the caller asked for no order. */
const later = (a: number | null = 0, b: number | null = 0): boolean => b !== null && (a === null || a > b)

/** What may weigh against an offer: the numbers that tell it, and how it is said. */
const faults: readonly { readonly of: readonly (keyof Sight)[]; readonly says: (it: Sight, won: Sight) => string }[] = [
  { of: ['cost'], says: (it, won) => `cost ${usd(it.cost - won.cost)} USD more` },
  { of: ['firstContentMs'], says: (it, won) => `was ${seconds(it.firstContentMs - won.firstContentMs)} slower` },
  { of: ['growingMs'], says: (it, won) => `took ${seconds(it.growingMs - won.growingMs)} longer to its end` },
  { of: ['failure', 'lostMs'], says: it => `failed ${percent(it.failure)} lately` },
  { of: ['breaking'], says: it => `broke off ${percent(it.breaking)} of its answers lately` },
  { of: ['lateness'], says: it => `would have been too late in ${percent(it.lateness)} of cases` },
]

/** The one thing that cost it most: how much better it were with the winner's numbers there. Nothing: it is not worse. */
function whyWorse(it: Seen, won: Seen, worth: Worth): string | undefined {
  const loss = lossBy(worth)
  const own = loss(it.sight, it.offer)
  let most = 0
  let says: string | undefined
  for (const fault of faults) {
    const bettered = Object.fromEntries(fault.of.map(name => [name, won.sight[name]]))
    const weighs = own - loss({ ...it.sight, ...bettered }, it.offer)
    if (weighs <= most) continue
    most = weighs
    says = fault.says(it.sight, won.sight)
  }
  return says
}

/** With two digits that count. */
function usd(number: number): string {
  const places = Math.max(0, 1 - Math.floor(Math.log10(number)))
  return number.toFixed(Math.min(20, places))
}

const seconds = (milliseconds: number): string =>
  milliseconds < 95 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1_000).toFixed(1)} s`

const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`
