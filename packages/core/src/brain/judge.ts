import type { Affinity, Warm } from './affinity.ts'
import type { Contender } from './belief.ts'
import { waitFor } from './capacity.ts'
import { tuning } from './constants.ts'
import { type Decision, decide, inOrder, isFree, ranked, runnerUp, type View } from './decide.ts'
import { hedgeAfter } from './hedge.ts'
import { lossBy, worthAt } from './loss.ts'
import type { Choice, Failed, RouterOffer, RouterRequest, Why } from './port.ts'
import type { Preference, Worth } from './preferences.ts'
import { type Budget, earn, hopeAmong } from './probe.ts'
import type { Note, Pen, Recorder } from './recorder.ts'
import { bestOf, type Looking, see, warmAt } from './see.ts'
import type { Sight, Strategy } from './sight.ts'
import type { Average } from './speed.ts'
import { timeoutOf } from './timeout.ts'

// Looking and choosing, as often as a request has to. All requests pass here with all their candidates: of each no more than
// one thing is made, what was seen of it.

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
const { minLeftMs } = tuning.exploration
/** Streams pass here if one did so lately. */
const streamsPassMs = 60_000
/** How long a request stands in line for an offer that is full, of what is left. */
const patience = { milliseconds: tuning.queueing.maxMs, share: tuning.queueing.share }
/** With this many attempts left a request that was already sent does not queue while another offer is free. */
const lastAttempts = 2
/** And where nobody has room. */
const longPatience = { milliseconds: tuning.queueing.maxLastResortMs, share: tuning.queueing.lastResortShare }
const waitingUpTo = ({ milliseconds, share }: typeof patience, leftMs: number): number =>
  Math.min(milliseconds, Math.max(0, leftMs * share))

/** What was seen of some, and when. */
export interface Look extends View {
  readonly contenders: readonly Contender[]
  readonly looking: Looking
  readonly cut?: boolean
  /** Has failed the request, and may be asked again when nobody else is left. */
  readonly spare?: Contender | undefined
}

/** A request, and all that every look at it shares. */
export interface Judging {
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
  /** Whom it asked, each as it was asked last. */
  readonly asked: Chosen[]
  /** Attempts that it may still make. */
  left: number
}

export function judge(mind: Mind, request: RouterRequest, among: readonly Contender[]): Judging {
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
    asked: [],
    left: request.attempts ?? usualAttempts,
  }
}

const nobody: readonly Warm[] = []

/** Milliseconds that the request has left. */
export const leftOf = ({ request, startedAt }: Judging, now: number): number =>
  (request.deadlineMs ?? Number.POSITIVE_INFINITY) - (now - startedAt)

/** `failed`: providers that have just failed the request. */
export function look(judging: Judging, contenders: readonly Contender[], failed?: ReadonlySet<string>): Look {
  const { mind, request, stream, strategy, readers } = judging
  const now = mind.monotonic()
  const left = leftOf(judging, now)
  // The last attempts are not spent queueing: the queue may be longer than believed, and another offer has room.
  const mayQueue = judging.asked.length === 0 || judging.left > lastAttempts
  const looking: Looking = {
    now,
    stream,
    inputTokens: request.inputTokens,
    outputTokens: judging.outputTokens,
    turns: judging.turns,
    growth: mind.affinity.growth(),
    warm: 0,
    leftMs: left,
    patienceMs: mayQueue ? waitingUpTo(patience, left) : 0,
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
    !request.dry && !failed && request.rank === undefined && contenders.length > 1 && readers.length === 0 && looking.leftMs > minLeftMs
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

export const choose = (judging: Judging, seen: Look): Chosen => chosenAt(judging, seen, decide(seen, judging.strategy))

export const rank = (judging: Judging, seen: Look): readonly Chosen[] =>
  inOrder(seen, judging.strategy).map((decision, place) => {
    const chosen = chosenAt(judging, seen, decision)
    return place === 0 || chosen.why !== 'best' ? chosen : { ...chosen, why: 'fallback' }
  })

function chosenAt(judging: Judging, seen: Look, { at, loss, probing }: Decision): Chosen {
  const { mind, request, stream, strategy, worth, left } = judging
  const { looking, contenders, sights, hope } = seen
  const contender = contenders[at] as Contender
  const sight = probing && hope ? hope.sight : (sights[at] as Sight)
  const second = left > 1 ? runnerUp(seen, at, strategy) : undefined
  const next = second === undefined ? undefined : { belief: (contenders[second] as Contender).belief, sight: sights[second] as Sight }
  const timeoutMs = timeoutOf({ belief: contender.belief, sight, probing }, next?.belief, {
    looking,
    ceilingMs: request.timeoutMs ?? (stream ? ceilings.stream : ceilings.whole),
    coldMs: request.coldTimeoutMs ?? usualColdMs,
    cut: seen.cut === true,
    spare: left > 1 ? seen.spare?.belief : undefined,
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
