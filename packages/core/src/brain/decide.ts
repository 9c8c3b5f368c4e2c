import type { RouterOffer } from './port.ts'
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

/** By how much better a hope must look than the best: not for nothing is anyone tried. */
const worthwhile = 0.02

/** What a strategy says, made total: whatever is no number is worst. */
export function lossOf(strategy: Strategy, sight: Sight, offer: RouterOffer): number {
  const loss = strategy(sight, offer)
  return typeof loss === 'number' && !Number.isNaN(loss) ? loss : Number.POSITIVE_INFINITY
}

export const isFree = ({ heldMs, restingMs }: Sight): boolean => heldMs <= 0 && restingMs <= 0

/** Free ones first; of those the least loss, of equals the one that stands earlier. */
export function decide({ offers, sights, shunned, hope }: View, strategy: Strategy): Decision {
  let at = 0
  let loss = Number.POSITIVE_INFINITY
  for (let each = 0; each < sights.length; each += 1) {
    const offer = offers[each]
    const sight = sights[each]
    if (!offer || !sight) continue
    const its = lossOf(strategy, sight, offer)
    const best = sights[at]
    if (each > 0 && best && !goesBefore({ sight, loss: its, shunned: shunned?.[each] }, { sight: best, loss, shunned: shunned?.[at] }))
      continue
    at = each
    loss = its
  }
  const hoped = hope && offers[hope.at]
  if (!hope || !hoped || hope.at === at) return { at, loss, probing: false }
  const could = lossOf(strategy, hope.sight, hoped)
  return could < loss - worthwhile * Math.abs(loss) ? { at: hope.at, loss: could, probing: true } : { at, loss, probing: false }
}

/** Everyone in the order in which they would be asked, if nothing were learned in between. */
export function inOrder(view: View, strategy: Strategy): readonly Decision[] {
  const first = decide(view, strategy)
  const others = view.sights.flatMap((sight, at) => {
    const offer = view.offers[at]
    return at === first.at || !offer
      ? []
      : [{ at, sight, loss: lossOf(strategy, sight, offer), shunned: view.shunned?.[at], probing: false }]
  })
  others.sort((a, b) => (goesBefore(a, b) ? -1 : goesBefore(b, a) ? 1 : a.at - b.at))
  return [first, ...others.map(({ at, loss, probing }) => ({ at, loss, probing }))]
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

interface Judged {
  readonly sight: Sight
  readonly loss: number
  readonly shunned: boolean | undefined
}

function goesBefore(a: Judged, b: Judged): boolean {
  const aFree = isFree(a.sight)
  const bFree = isFree(b.sight)
  if (aFree !== bFree) return aFree
  if (a.shunned !== b.shunned) return b.shunned === true
  return a.loss < b.loss
}
