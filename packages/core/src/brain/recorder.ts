import type { Underway } from './belief.ts'
import { decide, lossOf, type View } from './decide.ts'
import { makeDice, type Seed, seedOf } from './dice.ts'
import { type FlightSummary, flightSummary } from './flight-summary.ts'
import { copied, flightText } from './flight-text.ts'
import type { Chosen } from './judge.ts'
import { type Draft, readRecord, roomFor, writeOutcome, writeRecord } from './layout.ts'
import { worthAt } from './loss.ts'
import type { Choice, RouterOffer, RouterRequest, Used } from './port.ts'
import { type Preference, preferences, type Worth } from './preferences.ts'
import type { Ended, StrategyName, Trace } from './record.ts'
import type { Looking } from './see.ts'
import type { Strategy } from './sight.ts'
import { standoutsOf } from './standouts.ts'

// The flight recorder: what was decided, by what numbers, and what came of it. It watches, and changes no choice.

/** What is recorded. Left out altogether: nothing. */
export interface RecordOptions {
  /** Decisions that are kept; the oldest make room. Default: 1,000, of at most 1 kB each. */
  readonly keep?: number
  /** Of the requests, the share that is recorded, drawn by dice of its own from the router's seed. Default: 1, all. */
  readonly share?: number
}

/** A decision, in bytes, and whom it was made among. */
export interface Note {
  readonly bytes: DataView
  readonly offers: readonly RouterOffer[]
  readonly at: number
}

/** Writes the decisions of one request. */
export interface Pen {
  readonly write: (seen: Glimpse, choice: Choice) => Note
  readonly flight: () => Trace
  /** The same as text, of at most so many bytes of decisions. */
  readonly flightText: (most: number) => string
  /** In short: the order, the attempts and what became of each. */
  readonly flightSummary: () => FlightSummary
}

/** What was seen for one decision. */
interface Glimpse extends View {
  readonly looking: Pick<Looking, 'now' | 'inputTokens' | 'outputTokens' | 'stream' | 'turns' | 'leftMs'>
}

/** By what a request is decided. */
interface Judgement {
  readonly preference: Preference | Worth | Strategy
  /** Absent: a function decides. */
  readonly worth: Worth | undefined
  /** The order of the caller's own reckoned in. */
  readonly strategy: Strategy
  readonly rank: RouterRequest['rank']
  readonly among: readonly { readonly offer: RouterOffer }[]
}

export interface Recorder {
  /** Nothing where this request is not recorded. */
  readonly open: (judgement: Judgement) => Pen | undefined
  /** What came of a call, if its choice was written down. */
  readonly end: (call: Underway, ended: Ended, told: { readonly now: number; readonly used?: Used }) => void
  readonly trace: () => Trace
}

export const usuallyKept = 1_000
/** Decisions share pieces of memory of so many bytes: to get one of their own would take them longer than to be written. */
const pageBytes = 16_384
/** What makes the recorder's dice others than the router's: what is recorded must not change what is decided. */
const ownDice = 0x2c1b3c6d

export function createRecorder({ keep = usuallyKept, share = 1 }: RecordOptions, seed: Seed): Recorder {
  if (!Number.isSafeInteger(keep) || keep < 0) throw new TypeError(`\`record.keep\` is ${keep}; it takes a whole number, 0 or more.`)
  if (!(share >= 0 && share <= 1)) throw new TypeError(`\`record.share\` is ${share}; it takes a number from 0 to 1.`)
  const dice = makeDice(() => seedOf(seed) ^ ownDice)
  const take = makePaper()
  const ring: Note[] = []
  let written = 0
  let requests = 0
  const remember = (note: Note): void => {
    if (keep > 0) ring[written % keep] = note
    written += 1
  }
  return {
    open(judgement) {
      const request = requests
      requests += 1
      return share < 1 && dice() >= share ? undefined : takePen(judgement, { request, seed, take, remember })
    },
    end: writeEnd,
    trace() {
      const oldest = keep > 0 && written > keep ? written % keep : 0
      return traceOf([...ring.slice(oldest), ...ring.slice(0, oldest)], { seed: seedOf(seed), dropped: written - ring.length })
    },
  }
}

interface Page {
  readonly request: number
  readonly seed: Seed
  readonly take: (bytes: number) => DataView
  readonly remember: (note: Note) => void
}

/** Hands out room that nobody has written on. A page lives as long as somebody keeps what stands on it. */
function makePaper(): Page['take'] {
  let page = new ArrayBuffer(pageBytes)
  let used = 0
  return bytes => {
    if (used + bytes > page.byteLength) {
      page = new ArrayBuffer(pageBytes)
      used = 0
    }
    used += bytes
    return new DataView(page, used - bytes, bytes)
  }
}

function takePen(judgement: Judgement, { request, seed, take, remember }: Page): Pen {
  const { worth, strategy, rank, among } = judgement
  const name = nameOf(judgement)
  const scale = scaleOf(name, worth, among)
  const notes: Note[] = []
  return {
    write(seen, choice) {
      const losses = seen.sights.map((sight, at) => lossOf(strategy, sight, seen.offers[at] as RouterOffer))
      const chosen = seen.offers.indexOf(choice.offer)
      const kept = keptOf(seen, losses, { chosen, room: roomFor(rank !== undefined), strategy })
      const some = <Value>(all: readonly Value[]): readonly Value[] => (kept ? kept.map(at => all[at] as Value) : all)
      const placeOf = (at: number): number => (kept ? kept.indexOf(at) : at)
      const { hope, shunned, looking } = seen
      const offers = some(seen.offers)
      const draft: Draft = {
        request,
        strategy: name,
        worth,
        scale,
        turn: notes.length,
        looking,
        choice,
        chosen: placeOf(chosen),
        omitted: losses.length - offers.length,
        sights: some(seen.sights),
        losses: some(losses),
        ranks: rank && offers.map(rank),
        shunned: shunned && some(shunned),
        hope: hope && { at: placeOf(hope.at), sight: hope.sight, loss: lossOf(strategy, hope.sight, seen.offers[hope.at] as RouterOffer) },
      }
      const note: Note = { bytes: writeRecord(draft, take), offers, at: looking.now }
      notes.push(note)
      remember(note)
      return note
    },
    flight: () => traceOf(notes, { seed: seedOf(seed), dropped: 0 }),
    flightSummary: () => flightSummary(notes, seedOf(seed)),
    flightText: most => flightText(notes, { seed: seedOf(seed), most }),
  }
}

/** Weights without end weigh nothing against each other: what they come to stands in the losses, as with a function. */
function nameOf({ preference, worth }: Judgement): StrategyName {
  if (!worth || !Number.isFinite(worth.waiting + worth.growing + worth.failing)) return 'own'
  return typeof preference === 'string' ? preference : 'worth'
}

const scaleOf = (name: StrategyName, worth: Worth | undefined, among: Judgement['among']): number =>
  worth && name !== 'own' && name !== 'worth'
    ? worth.failing / preferences[name].failing
    : worthAt('balanced', among).failing / preferences.balanced.failing

/** Places of those who are kept where not all can be: who decided, who stands out, and of the others the best. Nothing: all are. */
function keptOf(
  seen: Glimpse,
  losses: readonly number[],
  { chosen, room, strategy }: { readonly chosen: number; readonly room: number; readonly strategy: Strategy },
): readonly number[] | undefined {
  const { sights, hope } = seen
  if (sights.length <= room) return undefined
  const { cheapest, fastest, mostReliable } = standoutsOf(sights)
  const kept = new Set([chosen, cheapest, fastest, mostReliable])
  if (hope) kept.add(hope.at)
  // The best without a hope is what the hope was held against: offers that rest or wait may have a lower loss.
  kept.add(decide({ ...seen, hope: undefined }, strategy).at)
  const byLoss = [...losses.keys()].sort((a, b) =>
    (losses[a] as number) < (losses[b] as number) ? -1 : losses[a] === losses[b] ? a - b : 1,
  )
  for (const at of byLoss) {
    if (kept.size >= room) break
    kept.add(at)
  }
  return [...kept].sort((a, b) => a - b)
}

function writeEnd(
  { choice, startedAt, firstContentAt, stream }: Underway,
  ended: Ended,
  told: { readonly now: number; readonly used?: Used },
): void {
  const { note } = choice as Chosen
  if (!note) return
  const { now, used } = told
  const isBroken = firstContentAt !== undefined && (ended === 'error' || ended === 'timeout')
  writeOutcome(note.bytes, {
    ended: isBroken ? 'broken' : ended,
    sentAfterMs: startedAt - note.at,
    totalMs: now - startedAt,
    ...(stream && firstContentAt !== undefined && { firstContentMs: firstContentAt - startedAt }),
    ...(used?.outputTokens !== undefined && { outputTokens: used.outputTokens }),
    ...(used?.cachedTokens !== undefined && { cachedTokens: used.cachedTokens }),
  })
}

/** A trace in which nothing stands. */
export const emptyTrace = (seed: number): Trace => traceOf([], { seed, dropped: 0 })

function traceOf(notes: readonly Note[], { seed, dropped }: Pick<Trace, 'seed' | 'dropped'>): Trace {
  const copies = new Map<RouterOffer, RouterOffer>()
  const copyOf = (offer: RouterOffer): RouterOffer => {
    const copy = copies.get(offer) ?? copied(offer)
    copies.set(offer, copy)
    return copy
  }
  return {
    version: 1,
    seed,
    dropped,
    decisions: notes.map(({ bytes, offers }) => readRecord(bytes, at => copyOf(offers[at] as RouterOffer))),
  }
}
