import type { Affinity } from './affinity.ts'
import type { Contender } from './belief.ts'
import { spend, waitFor } from './capacity.ts'
import { type Decision, decide, inOrder, isFree, lossOf, runnerUp, type View } from './decide.ts'
import { hedgeAfter } from './hedge.ts'
import { lossBy, worthAt } from './loss.ts'
import type { Choice, Failed, RouterPlan, RouterRequest, Why } from './port.ts'
import type { Preference, Worth } from './preferences.ts'
import { type Budget, earn, hopeAmong } from './probe.ts'
import type { Note, Pen, Recorder } from './recorder.ts'
import { bestOf, type Looking, see, warmAt } from './see.ts'
import type { Sight, Strategy } from './sight.ts'
import type { Average } from './speed.ts'
import { timeoutOf } from './timeout.ts'

/** All that plans share. */
export interface Mind {
  readonly monotonic: () => number
  readonly preference: Preference | Worth | Strategy
  readonly affinity: Affinity
  readonly probing: Budget
  readonly hedging: Budget
  readonly lengthOf: (model: string | undefined) => Average
  /** When the last stream was asked for. */
  streamedAt: number
  /** Absent: nothing is recorded. */
  readonly recorder: Recorder | undefined
}

/** A choice, and what is needed to learn from it. */
export interface Chosen extends Choice {
  readonly contender: Contender
  readonly asking: RouterRequest
  /** How the call that came of it went wrong. */
  ended: Failed['kind'] | undefined
  /** It stands in line, and its place is counted already. */
  placed: boolean
  /** It would go wrong again. */
  final?: boolean
  /** Where it is written down. */
  note?: Note
}

const ceilings = { stream: 120_000, whole: 300_000 }
const usualAttempts = 4
const usualColdMs = 10_000
/** With less time than this nobody is tried only to learn of it. */
const leisureMs = 4_000
/** Streams pass here if one did so lately. */
const streamsPassMs = 60_000
/** A second look at somebody who failed comes no sooner. */
const againMs = 250
/** How long a request stands in line for an offer that is full, of what is left. */
const patience = { milliseconds: 2_000, share: 0.25 }
/** And where nobody has room. */
const longPatience = { milliseconds: 8_000, share: 0.5 }
const waitingUpTo = ({ milliseconds, share }: typeof patience, leftMs: number): number =>
  Math.min(milliseconds, Math.max(0, leftMs * share))

/** Judges everyone once, and again whenever the next is asked for. */
export function planFor(mind: Mind, request: RouterRequest, among: readonly Contender[]): RouterPlan {
  if (among.length === 0) throw new TypeError('A plan needs at least one offer to choose from.')
  if (request.cacheKey !== undefined && !request.dry) mind.affinity.turn(request.cacheKey, request.inputTokens)
  const judging = judge(mind, request, among)
  const first = judging.look(among)
  const asked = new Map<Contender, Chosen>()
  let left = request.attempts ?? usualAttempts
  let choices: readonly Chosen[] | undefined

  const noted = (seen: Look, chosen: Chosen): Chosen => {
    if (judging.pen) chosen.note = judging.pen.write(seen, chosen)
    return chosen
  }
  const again = (): Chosen | undefined => {
    if (judging.leftMs() <= 0) return undefined
    // Who was only full may have room by now, and is worth more than somebody who is down.
    const fresh = among.filter(contender => !asked.has(contender) || isOnlyFull(asked.get(contender)))
    const open = fresh.length > 0 ? fresh : among.filter(contender => mayBeAskedAgain(asked.get(contender)))
    if (open.length === 0) return undefined
    const cut = [...asked.values()].some(({ ended }) => ended === 'timeout')
    const failed = new Set([...asked.values()].flatMap(({ ended, offer }) => (isFault(ended) ? [offer.provider ?? offer.id] : [])))
    const spare = among.find(contender => !open.includes(contender) && mayBeAskedAgain(asked.get(contender)))
    const seen = { ...judging.look(open, failed), cut, spare }
    const chosen = judging.choose(seen, left)
    return noted(seen, {
      ...chosen,
      why: fresh.length > 0 ? 'fallback' : 'last_resort',
      waitMs: Math.max(chosen.waitMs, fresh.length > 0 ? 0 : againMs),
    })
  }
  return {
    // A method: a getter in what is made for each request keeps all of it alive until a full collection.
    choices() {
      if (!choices) {
        choices = judging.rank(first, left)
        if (asked.size === 0) noted(first, choices[0] as Chosen)
      }
      return choices as readonly [Chosen, ...Chosen[]]
    },
    next() {
      if (left <= 0) return undefined
      const chosen = asked.size > 0 ? again() : (choices?.[0] ?? noted(first, judging.choose(first, left)))
      if (!chosen) return undefined
      left -= 1
      // Somebody who was silent for long has not ended: this is the second call beside it.
      for (const { ended, hedgeAfterMs } of asked.values()) if (ended === undefined && hedgeAfterMs !== undefined) mind.hedging.saved -= 1
      asked.set(chosen.contender, chosen)
      if (chosen.waitMs > 0 && isFree(chosen.sight) && !request.dry) {
        chosen.placed = true
        spend(chosen.contender.belief.capacity, judging.now())
      }
      return chosen
    },
    ...(judging.pen && { flight: judging.pen.flight }),
  }
}

const isFault = (ended: Chosen['ended']): boolean => ended === 'error' || ended === 'timeout'

const isOnlyFull = (chosen: Chosen | undefined): boolean => chosen?.ended === 'rate_limited' && !chosen.final

/** Whoever refused the credential or the request will do so again. */
const mayBeAskedAgain = (chosen: Chosen | undefined): boolean =>
  !chosen?.final && chosen?.ended !== 'credential' && chosen?.ended !== 'refused'

/** What was seen of some, and when. */
interface Look extends View {
  readonly contenders: readonly Contender[]
  readonly looking: Looking
  readonly cut?: boolean
  /** Has failed the request, and may be asked again when nobody else is left. */
  readonly spare?: Contender | undefined
}

interface Judging {
  readonly now: () => number
  readonly leftMs: () => number
  /** `failed`: providers that have just failed the request. */
  readonly look: (contenders: readonly Contender[], failed?: ReadonlySet<string>) => Look
  readonly choose: (look: Look, attempts: number) => Chosen
  readonly rank: (look: Look, attempts: number) => readonly Chosen[]
  /** Absent: this request is not recorded. */
  readonly pen: Pen | undefined
}

function judge(mind: Mind, request: RouterRequest, among: readonly Contender[]): Judging {
  const { monotonic, affinity, probing, hedging } = mind
  const startedAt = monotonic()
  const { cacheKey, maxOutputTokens = Number.POSITIVE_INFINITY, stream = true } = request
  const preference = request.preference ?? mind.preference
  const worth = typeof preference === 'function' ? undefined : worthAt(preference, among)
  const strategy = ranked(typeof preference === 'function' ? preference : lossBy(worth ?? (preference as Worth)), request.rank)
  const outputTokens = request.outputTokens ?? Math.min(mind.lengthOf(among[0]?.offer.model).value, maxOutputTokens)
  const readers = cacheKey === undefined ? [] : affinity.of(cacheKey)
  const turns = cacheKey === undefined ? 1 : affinity.turns()
  const leftMs = (now = monotonic()): number => (request.deadlineMs ?? Number.POSITIVE_INFINITY) - (now - startedAt)
  if (!request.dry) {
    earn(probing)
    earn(hedging)
  }

  const look = (contenders: readonly Contender[], failed?: ReadonlySet<string>): Look => {
    const now = monotonic()
    const { inputTokens } = request
    const left = leftMs(now)
    const looking: Looking = {
      now,
      stream,
      inputTokens,
      outputTokens,
      turns,
      growth: affinity.growth(),
      leftMs: left,
      patienceMs: waitingUpTo(patience, left),
      best: bestOf(among, now),
    }
    const sights = contenders.map(contender => see(contender, looking, warmAt(readers, contender, now)))
    const offers = contenders.map(({ offer }) => offer)
    const shunned = failed && offers.map(({ id, provider = id }) => failed.has(provider))
    // A warm conversation is not the place to try somebody, neither is a second attempt, nor a whole answer where streams pass:
    // whoever is silent is given up much later there.
    if (stream && !request.dry) mind.streamedAt = now
    const mayTry =
      !request.dry && !failed && request.rank === undefined && contenders.length > 1 && readers.length === 0 && looking.leftMs > leisureMs
    const hope = mayTry
      ? hopeAmong(contenders, looking, {
          budget: probing,
          strategy,
          sights,
          brief: now - mind.streamedAt < streamsPassMs === stream,
          leader: () => decide({ offers, sights }, strategy),
        })
      : undefined
    return { contenders, looking, sights, offers, shunned, hope }
  }

  const chosenAt = (seen: Look, { at, loss, probing: isProbe }: Decision, attempts: number): Chosen => {
    const { looking, contenders, sights, hope } = seen
    const contender = contenders[at] as Contender
    const sight = isProbe && hope ? hope.sight : (sights[at] as Sight)
    const second = attempts > 1 ? runnerUp(seen, at, strategy) : undefined
    const next = second === undefined ? undefined : { belief: (contenders[second] as Contender).belief, sight: sights[second] as Sight }
    const timeoutMs = timeoutOf({ belief: contender.belief, sight, probing: isProbe }, next?.belief, {
      looking,
      ceilingMs: request.timeoutMs ?? (stream ? ceilings.stream : ceilings.whole),
      coldMs: request.coldTimeoutMs ?? usualColdMs,
      cut: seen.cut === true,
      spare: attempts > 1 ? seen.spare?.belief : undefined,
      leastMs: request.leastTimeoutMs ?? 0,
    })
    const mayHedge = request.hedge === true && stream && worth && next && isFree(next.sight) && hedging.saved >= 1
    const hedgeAfterMs = mayHedge
      ? hedgeAfter({ belief: contender.belief, sight }, next, { worth, now: looking.now, timeoutMs })
      : undefined
    const free = isFree(sight)
    const why: Why = isProbe ? 'probe' : free ? 'best' : 'last_resort'
    return {
      offer: contender.offer,
      loss,
      sight,
      why,
      waitMs: Math.min(
        waitFor(contender.belief.capacity, looking.now),
        free ? looking.patienceMs : waitingUpTo(longPatience, looking.leftMs),
      ),
      timeoutMs,
      ...(hedgeAfterMs !== undefined && { hedgeAfterMs }),
      contender,
      asking: request,
      ended: undefined,
      placed: false,
    }
  }
  return {
    now: monotonic,
    leftMs,
    look,
    pen: request.dry ? undefined : mind.recorder?.open({ preference, worth, strategy, rank: request.rank, among }),
    choose: (seen, attempts) => chosenAt(seen, decide(seen, strategy), attempts),
    rank: (seen, attempts) =>
      inOrder(seen, strategy).map((decision, place) => {
        const chosen = chosenAt(seen, decision, attempts)
        return place === 0 || chosen.why !== 'best' ? chosen : { ...chosen, why: 'fallback' }
      }),
  }
}

/** More than any loss, in USD. */
const rankWeight = 1e6
const mostLoss = 4e5

/** The order of a caller stands above every loss. */
export const ranked = (strategy: Strategy, rank: RouterRequest['rank']): Strategy =>
  rank ? (sight, offer) => rank(offer) * rankWeight + Math.min(mostLoss, Math.max(-mostLoss, lossOf(strategy, sight, offer))) : strategy
