import { tuning } from './constants.ts'
import type { RouterOffer, RouterRequest } from './port.ts'
import type { Sight, Strategy } from './sight.ts'

// The choice itself: a function of numbers alone, so that whoever has the numbers can make it again.

/** What was seen of everyone for one request. */
export interface View {
  readonly offers: readonly RouterOffer[]
  readonly sights: readonly Sight[]
  /** Those whose provider has just failed the same request: they go after the others. */
  readonly shunned?: readonly boolean[] | undefined
  /** One that may be tried to learn of it, and what it could be. */
  readonly hope?: { readonly at: number; readonly sight: Sight } | undefined
}

export interface Decision {
  /** Place in the view. */
  readonly at: number
  readonly loss: number
  readonly probing: boolean
}

const { minGain } = tuning.exploration

/** What a strategy says, made total: whatever is no number is worst. */
export function lossOf(strategy: Strategy, sight: Sight, offer: RouterOffer): number {
  const loss = strategy(sight, offer)
  return typeof loss === 'number' && !Number.isNaN(loss) ? loss : Number.POSITIVE_INFINITY
}

/** More than any loss, in USD. */
const rankWeight = 1e6
const mostLoss = 4e5

/** The order of a caller stands above every loss. */
export const ranked = (strategy: Strategy, rank: RouterRequest['rank']): Strategy =>
  rank ? (sight, offer) => rank(offer) * rankWeight + Math.min(mostLoss, Math.max(-mostLoss, lossOf(strategy, sight, offer))) : strategy

export const isFree = ({ heldMs, restingMs }: Sight): boolean => heldMs <= 0 && restingMs <= 0

/** Free ones first; of those the least loss, of equals the one that stands earlier. */
export function decide(view: View, strategy: Strategy): Decision {
  const { offers, sights, hope } = view
  let at = 0
  let loss = Number.POSITIVE_INFINITY
  for (let each = 0; each < sights.length; each += 1) {
    const offer = offers[each]
    const sight = sights[each]
    if (!offer || !sight) continue
    const its = lossOf(strategy, sight, offer)
    const before = each > 0 ? standing(view, each, at) : 1
    if (before < 0 || (before === 0 && !(its < loss))) continue
    at = each
    loss = its
  }
  const hoped = hope && offers[hope.at]
  if (!hope || !hoped || hope.at === at) return { at, loss, probing: false }
  const could = lossOf(strategy, hope.sight, hoped)
  return could < loss - minGain * Math.abs(loss) ? { at: hope.at, loss: could, probing: true } : { at, loss, probing: false }
}

/** Everyone in the order in which they would be asked, if nothing were learned in between. */
export function inOrder(view: View, strategy: Strategy): readonly Decision[] {
  const first = decide(view, strategy)
  const others = view.sights.flatMap((sight, at): Decision[] => {
    const offer = view.offers[at]
    return at === first.at || !offer ? [] : [{ at, loss: lossOf(strategy, sight, offer), probing: false }]
  })
  others.sort((a, b) => standing(view, b.at, a.at) || (a.loss < b.loss ? -1 : b.loss < a.loss ? 1 : a.at - b.at))
  return [first, ...others]
}

/** The best of the others that have room. */
export function runnerUp({ offers, sights }: View, but: number, strategy: Strategy): number | undefined {
  let best: number | undefined
  let least = Number.POSITIVE_INFINITY
  for (let at = 0; at < sights.length; at += 1) {
    const sight = sights[at]
    const offer = offers[at]
    if (at === but || !sight || !offer || sight.heldMs > 0) continue
    const loss = lossOf(strategy, sight, offer)
    if (best !== undefined && loss >= least) continue
    best = at
    least = loss
  }
  return best
}

/** Above 0 where the one stands before the other whatever their losses are, below 0 where behind. */
function standing({ sights, shunned }: View, one: number, other: number): number {
  const oneFree = isFree(sights[one] as Sight)
  const otherFree = isFree(sights[other] as Sight)
  if (oneFree !== otherFree) return oneFree ? 1 : -1
  const [oneShunned, otherShunned] = [shunned?.[one] === true, shunned?.[other] === true]
  return oneShunned === otherShunned ? 0 : otherShunned ? 1 : -1
}
