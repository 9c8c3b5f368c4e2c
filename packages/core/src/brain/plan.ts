import type { Contender } from './belief.ts'
import { spend } from './capacity.ts'
import { isFree } from './decide.ts'
import { type Chosen, choose, type Judging, judge, type Look, leftOf, look, type Mind, rank } from './judge.ts'
import type { RouterPlan, RouterRequest } from './port.ts'

/** A second look at somebody who failed comes no sooner. */
const againMs = 250

/** Judges everyone once, and again whenever the next is asked for. */
export function planFor(mind: Mind, request: RouterRequest, among: readonly Contender[]): RouterPlan {
  if (among.length === 0) throw new TypeError('A plan needs at least one offer to choose from.')
  if (request.cacheKey !== undefined && !request.dry) mind.affinity.turn(request.cacheKey, request.inputTokens)
  const judging = judge(mind, request, among)
  const first = look(judging, among)
  let choices: readonly Chosen[] | undefined
  return {
    // A method: a getter in what is made for each request keeps all of it alive until a full collection.
    choices() {
      if (!choices) {
        choices = rank(judging, first)
        if (judging.asked.length === 0) noted(judging, first, choices[0] as Chosen)
      }
      return choices as readonly [Chosen, ...Chosen[]]
    },
    next() {
      if (judging.left <= 0) return undefined
      const chosen = judging.asked.length > 0 ? again(judging) : (choices?.[0] ?? noted(judging, first, choose(judging, first)))
      if (chosen) ask(judging, chosen)
      return chosen
    },
    ...(judging.pen && { flight: judging.pen.flight, flightText: judging.pen.flightText, flightSummary: judging.pen.flightSummary }),
  }
}

function ask(judging: Judging, chosen: Chosen): void {
  const { mind, request, asked } = judging
  judging.left -= 1
  // Somebody who was silent for long has not ended: this is the second call beside it.
  for (const { ended, hedgeAfterMs } of asked) if (ended === undefined && hedgeAfterMs !== undefined) mind.hedging.saved -= 1
  const before = asked.findIndex(({ contender }) => contender === chosen.contender)
  asked[before < 0 ? asked.length : before] = chosen
  if (chosen.waitMs > 0 && isFree(chosen.sight) && !request.dry) {
    chosen.placed = true
    spend(chosen.contender.belief.capacity, mind.monotonic())
  }
}

/** Whom to ask after somebody was. */
function again(judging: Judging): Chosen | undefined {
  const { asked } = judging
  if (leftOf(judging, judging.mind.monotonic()) <= 0) return undefined
  const last = new Map(asked.map(each => [each.contender, each]))
  const lastOf = (contender: Contender): Chosen | undefined => last.get(contender)
  // Who was only full may have room by now, and is worth more than somebody who is down.
  const fresh = judging.among.filter(contender => {
    const last = lastOf(contender)
    return !last || isOnlyFull(last)
  })
  const open = fresh.length > 0 ? fresh : judging.among.filter(contender => mayBeAskedAgain(lastOf(contender)))
  if (open.length === 0) return undefined
  const cut = asked.some(({ ended }) => ended === 'timeout')
  const failed = new Set(asked.flatMap(({ ended, offer }) => (isFault(ended) ? [offer.provider ?? offer.id] : [])))
  const isOpen = new Set(open)
  const spare = judging.among.find(contender => !isOpen.has(contender) && mayBeAskedAgain(lastOf(contender)))
  const seen = { ...look(judging, open, failed), cut, spare }
  const chosen = choose(judging, seen)
  return noted(judging, seen, {
    ...chosen,
    why: fresh.length > 0 ? 'fallback' : 'last_resort',
    waitMs: Math.max(chosen.waitMs, fresh.length > 0 ? 0 : againMs),
  })
}

function noted({ pen }: Judging, seen: Look, chosen: Chosen): Chosen {
  if (pen) chosen.note = pen.write(seen, chosen)
  return chosen
}

const isFault = (ended: Chosen['ended']): boolean => ended === 'error' || ended === 'timeout'

const isOnlyFull = (chosen: Chosen | undefined): boolean => chosen?.ended === 'rate_limited' && !chosen.final

/** Whoever refused the credential or the request will do so again. */
const mayBeAskedAgain = (chosen: Chosen | undefined): boolean =>
  !chosen?.final && chosen?.ended !== 'credential' && chosen?.ended !== 'refused'
