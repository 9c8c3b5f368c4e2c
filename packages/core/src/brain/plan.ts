import type { Affinity, Warm } from './affinity.ts'
import type { Contender } from './belief.ts'
import { spend, waitFor } from './capacity.ts'
import { type Decision, decide, inOrder, isFree, lossOf, runnerUp, type View } from './decide.ts'
import { hedgeAfter } from './hedge.ts'
import { lossBy, worthAt } from './loss.ts'
import type { Choice, Failed, RouterOffer, RouterPlan, RouterRequest, Why } from './port.ts'
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

/** A request on its way, as its plan sees it. */
interface Going {
  readonly judging: Judging
  /** Whom it asked, each as it was asked last. */
  readonly asked: Chosen[]
  /** Attempts that it may still make. */
  left: number
}

/** Judges everyone once, and again whenever the next is asked for. */
export function planFor(mind: Mind, request: RouterRequest, among: readonly Contender[]): RouterPlan {
  if (among.length === 0) throw new TypeError('A plan needs at least one offer to choose from.')
  if (request.cacheKey !== undefined && !request.dry) mind.affinity.turn(request.cacheKey, request.inputTokens)
  const judging = judge(mind, request, among)
  const first = look(judging, among)
  const going: Going = { judging, asked: [], left: request.attempts ?? usualAttempts }
  let choices: readonly Chosen[] | undefined
  return {
    // A method: a getter in what is made for each request keeps all of it alive until a full collection.
    choices() {
      if (!choices) {
        choices = rank(judging, first, going.left)
        if (going.asked.length === 0) noted(judging, first, choices[0] as Chosen)
      }
      return choices as readonly [Chosen, ...Chosen[]]
    },
    next() {
      if (going.left <= 0) return undefined
      const chosen = going.asked.length > 0 ? again(going) : (choices?.[0] ?? noted(judging, first, choose(judging, first, going.left)))
      if (!chosen) return undefined
      ask(going, chosen)
      return chosen
    },
    ...(judging.pen && { flight: judging.pen.flight }),
  }
}

function ask(going: Going, chosen: Chosen): void {
  const { asked, judging } = going
  const { mind, request } = judging
  going.left -= 1
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
function again({ judging, asked, left }: Going): Chosen | undefined {
  if (leftOf(judging, judging.mind.monotonic()) <= 0) return undefined
  const lastOf = (contender: Contender): Chosen | undefined => asked.find(each => each.contender === contender)
  // Who was only full may have room by now, and is worth more than somebody who is down.
  const fresh = judging.among.filter(contender => {
    const last = lastOf(contender)
    return !last || isOnlyFull(last)
  })
  const open = fresh.length > 0 ? fresh : judging.among.filter(contender => mayBeAskedAgain(lastOf(contender)))
  if (open.length === 0) return undefined
  const cut = asked.some(({ ended }) => ended === 'timeout')
  const failed = new Set(asked.flatMap(({ ended, offer }) => (isFault(ended) ? [offer.provider ?? offer.id] : [])))
  const spare = judging.among.find(contender => !open.includes(contender) && mayBeAskedAgain(lastOf(contender)))
  const seen = { ...look(judging, open, failed), cut, spare }
  const chosen = choose(judging, seen, left)
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

/** What was seen of some, and when. */
interface Look extends View {
  readonly contenders: readonly Contender[]
  readonly looking: Looking
  readonly cut?: boolean
  /** Has failed the request, and may be asked again when nobody else is left. */
  readonly spare?: Contender | undefined
}

/** A request, and all that every look at it shares. */
interface Judging {
  readonly mind: Mind
  readonly request: RouterRequest
  readonly among: readonly Contender[]
  readonly startedAt: number
  readonly stream: boolean
  /** Absent: a function decides. */
  readonly worth: Worth | undefined
  readonly strategy: Strategy
  readonly outputTokens: number
  readonly readers: readonly Warm[]
  readonly turns: number
  /** Absent: this request is not recorded. */
  readonly pen: Pen | undefined
}

function judge(mind: Mind, request: RouterRequest, among: readonly Contender[]): Judging {
  const { monotonic, affinity, probing, hedging, recorder } = mind
  const { cacheKey, maxOutputTokens = Number.POSITIVE_INFINITY, stream = true, dry = false } = request
  const startedAt = monotonic()
  const preference = request.preference ?? mind.preference
  const worth = typeof preference === 'function' ? undefined : worthAt(preference, among)
  const strategy = ranked(typeof preference === 'function' ? preference : lossBy(worth ?? (preference as Worth)), request.rank)
  if (!dry) {
    earn(probing)
    earn(hedging)
  }
  return {
    mind,
    request,
    among,
    startedAt,
    stream,
    worth,
    strategy,
    outputTokens: request.outputTokens ?? Math.min(mind.lengthOf(among[0]?.offer.model).value, maxOutputTokens),
    readers: cacheKey === undefined ? nobody : affinity.of(cacheKey),
    turns: cacheKey === undefined ? 1 : affinity.turns(),
    pen: dry || !recorder ? undefined : recorder.open({ preference, worth, strategy, rank: request.rank, among }),
  }
}

const nobody: readonly Warm[] = []

/** Milliseconds that the request has left. */
const leftOf = ({ request, startedAt }: Judging, now: number): number =>
  (request.deadlineMs ?? Number.POSITIVE_INFINITY) - (now - startedAt)

/** `failed`: providers that have just failed the request. */
function look(judging: Judging, contenders: readonly Contender[], failed?: ReadonlySet<string>): Look {
  const { mind, request, stream, strategy, readers } = judging
  const now = mind.monotonic()
  const left = leftOf(judging, now)
  const looking: Looking = {
    now,
    stream,
    inputTokens: request.inputTokens,
    outputTokens: judging.outputTokens,
    turns: judging.turns,
    growth: mind.affinity.growth(),
    warm: 0,
    leftMs: left,
    patienceMs: waitingUpTo(patience, left),
    best: bestOf(judging.among, now),
  }
  // Filled as long as they will be: what grows is made several times.
  const sights = new Array<Sight>(contenders.length)
  const offers = new Array<RouterOffer>(contenders.length)
  for (let at = 0; at < contenders.length; at += 1) {
    const contender = contenders[at] as Contender
    looking.warm = warmAt(readers, contender, now)
    sights[at] = see(contender, looking)
    offers[at] = contender.offer
  }
  const shunned = failed && offers.map(({ id, provider = id }) => failed.has(provider))
  // A warm conversation is not the place to try somebody, neither is a second attempt, nor a whole answer where streams pass:
  // whoever is silent is given up much later there.
  if (stream && !request.dry) mind.streamedAt = now
  const mayTry =
    !request.dry && !failed && request.rank === undefined && contenders.length > 1 && readers.length === 0 && looking.leftMs > leisureMs
  const hope = mayTry
    ? hopeAmong(contenders, looking, {
        budget: mind.probing,
        strategy,
        sights,
        brief: now - mind.streamedAt < streamsPassMs === stream,
        leader: () => decide({ offers, sights }, strategy),
      })
    : undefined
  return { contenders, looking, sights, offers, shunned, hope }
}

const choose = (judging: Judging, seen: Look, attempts: number): Chosen =>
  chosenAt(judging, seen, { ...decide(seen, judging.strategy), attempts })

const rank = (judging: Judging, seen: Look, attempts: number): readonly Chosen[] =>
  inOrder(seen, judging.strategy).map((decision, place) => {
    const chosen = chosenAt(judging, seen, { ...decision, attempts })
    return place === 0 || chosen.why !== 'best' ? chosen : { ...chosen, why: 'fallback' }
  })

function chosenAt(
  { mind, request, stream, strategy, worth }: Judging,
  seen: Look,
  { at, loss, probing, attempts }: Decision & { readonly attempts: number },
): Chosen {
  const { looking, contenders, sights, hope } = seen
  const contender = contenders[at] as Contender
  const sight = probing && hope ? hope.sight : (sights[at] as Sight)
  const second = attempts > 1 ? runnerUp(seen, at, strategy) : undefined
  const next = second === undefined ? undefined : { belief: (contenders[second] as Contender).belief, sight: sights[second] as Sight }
  const timeoutMs = timeoutOf({ belief: contender.belief, sight, probing }, next?.belief, {
    looking,
    ceilingMs: request.timeoutMs ?? (stream ? ceilings.stream : ceilings.whole),
    coldMs: request.coldTimeoutMs ?? usualColdMs,
    cut: seen.cut === true,
    spare: attempts > 1 ? seen.spare?.belief : undefined,
    leastMs: request.leastTimeoutMs ?? 0,
  })
  const mayHedge = request.hedge === true && stream && worth && next && isFree(next.sight) && mind.hedging.saved >= 1
  const hedgeAfterMs = mayHedge ? hedgeAfter({ belief: contender.belief, sight }, next, { worth, now: looking.now, timeoutMs }) : undefined
  const free = isFree(sight)
  const why: Why = probing ? 'probe' : free ? 'best' : 'last_resort'
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

/** More than any loss, in USD. */
const rankWeight = 1e6
const mostLoss = 4e5

/** The order of a caller stands above every loss. */
export const ranked = (strategy: Strategy, rank: RouterRequest['rank']): Strategy =>
  rank ? (sight, offer) => rank(offer) * rankWeight + Math.min(mostLoss, Math.max(-mostLoss, lossOf(strategy, sight, offer))) : strategy
