import { endedCodes, endings, strategyCodes, strategyNames, whyCodes, whys } from './codes.ts'
import type { Choice, RouterOffer } from './port.ts'
import type { Worth } from './preferences.ts'
import { type Asked, type DecisionRecord, lossAs, type Outcome, plain, type Seen, type StrategyName } from './record.ts'
import type { Sight } from './sight.ts'

// The few bytes that a decision takes until somebody asks for it: at most one thousand and twenty-four.

/** A decision on its way into bytes. Lists go by the places of its candidates. */
export interface Draft {
  readonly request: number
  readonly turn: number
  readonly strategy: StrategyName
  readonly worth: Worth | undefined
  readonly scale: number
  /** The request, when it was decided. */
  readonly looking: Omit<Asked, 'leftMs'> & { readonly now: number; readonly leftMs: number }
  readonly choice: Pick<Choice, 'why' | 'loss' | 'waitMs' | 'timeoutMs' | 'hedgeAfterMs'>
  readonly chosen: number
  readonly omitted: number
  readonly sights: readonly Sight[]
  readonly losses: readonly number[]
  readonly ranks: readonly number[] | undefined
  readonly shunned: readonly (boolean | undefined)[] | undefined
  readonly hope: { readonly at: number; readonly sight: Sight; readonly loss: number } | undefined
}

/** More than this no decision takes. */
const mostBytes = 1_024

const flags = { stream: 1, ranked: 2, hope: 4 } as const

// Where things stand. Times of the clock, weights and losses are in double precision, all else was in single precision before.
const places = {
  at: 0,
  request: 8,
  scale: 16,
  worth: 24,
  loss: 48,
  turn: 56,
  flags: 57,
  why: 58,
  strategy: 59,
  ended: 60,
  omitted: 61,
  count: 65,
  chosen: 67,
  inputTokens: 69,
  outputTokens: 73,
  turns: 77,
  leftMs: 81,
  waitMs: 85,
  timeoutMs: 89,
  hedgeAfterMs: 93,
  sentAfterMs: 97,
  firstContentMs: 101,
  totalMs: 105,
  usedTokens: 109,
  cachedTokens: 113,
  rest: 117,
} as const
const sightBytes = 52
const hopeBytes = 2 + 8 + sightBytes
/** The number of its offer in the trace's list, whether it was shunned, its loss and its sight. */
const candidateBytes = 4 + 1 + 8 + sightBytes
const rankBytes = 8

/** As many candidates of one decision are kept. */
export const roomFor = (ranked: boolean): number =>
  Math.floor((mostBytes - places.rest - hopeBytes) / (candidateBytes + (ranked ? rankBytes : 0)))

/** Bytes of a decision as it is written, with the numbers of its offers and its outcome left at 0. `take` hands out empty room. */
export function writeRecord<Bytes extends DataView>(draft: Draft, take: (bytes: number) => Bytes): Bytes {
  const { sights, ranks, hope, worth, looking, choice } = draft
  const each = candidateBytes + (ranks ? rankBytes : 0)
  const bytes = take(places.rest + (hope ? hopeBytes : 0) + sights.length * each)
  bytes.setFloat64(places.at, looking.now, true)
  bytes.setFloat64(places.request, draft.request, true)
  bytes.setFloat64(places.scale, draft.scale, true)
  bytes.setFloat64(places.worth, worth?.waiting ?? 0, true)
  bytes.setFloat64(places.worth + 8, worth?.growing ?? 0, true)
  bytes.setFloat64(places.worth + 16, worth?.failing ?? 0, true)
  bytes.setFloat64(places.loss, choice.loss, true)
  bytes.setUint8(places.turn, Math.min(255, draft.turn))
  bytes.setUint8(places.flags, (looking.stream ? flags.stream : 0) | (ranks ? flags.ranked : 0) | (hope ? flags.hope : 0))
  bytes.setUint8(places.why, whyCodes[choice.why])
  bytes.setUint8(places.strategy, strategyCodes[draft.strategy])
  bytes.setUint32(places.omitted, draft.omitted, true)
  bytes.setUint16(places.count, sights.length, true)
  bytes.setUint16(places.chosen, draft.chosen, true)
  bytes.setFloat32(places.inputTokens, looking.inputTokens, true)
  bytes.setFloat32(places.outputTokens, looking.outputTokens, true)
  bytes.setFloat32(places.turns, looking.turns, true)
  bytes.setFloat32(places.leftMs, looking.leftMs, true)
  bytes.setFloat32(places.waitMs, choice.waitMs, true)
  bytes.setFloat32(places.timeoutMs, choice.timeoutMs, true)
  bytes.setFloat32(places.hedgeAfterMs, choice.hedgeAfterMs ?? Number.NaN, true)
  let place: number = places.rest
  if (hope) {
    bytes.setUint16(place, hope.at, true)
    bytes.setFloat64(place + 2, hope.loss, true)
    writeSight(bytes, place + 10, hope.sight)
    place += hopeBytes
  }
  for (let at = 0; at < sights.length; at += 1, place += each) writeCandidate(bytes, place, { draft, at })
  return bytes
}

function writeCandidate(bytes: DataView, place: number, { draft, at }: { readonly draft: Draft; readonly at: number }): void {
  const { sights, losses, ranks, shunned } = draft
  bytes.setUint8(place + 4, shunned?.[at] ? 1 : 0)
  bytes.setFloat64(place + 5, losses[at] ?? 0, true)
  writeSight(bytes, place + 13, sights[at] as Sight)
  if (ranks) bytes.setFloat64(place + candidateBytes, ranks[at] ?? 0, true)
}

function writeSight(bytes: DataView, place: number, sight: Sight): void {
  bytes.setFloat32(place, sight.cost, true)
  bytes.setFloat32(place + 4, sight.firstContentMs, true)
  bytes.setFloat32(place + 8, sight.growingMs, true)
  bytes.setFloat32(place + 12, sight.failure, true)
  bytes.setFloat32(place + 16, sight.lostMs, true)
  bytes.setFloat32(place + 20, sight.breaking, true)
  bytes.setFloat32(place + 24, sight.lateness, true)
  bytes.setFloat32(place + 28, sight.heldMs, true)
  bytes.setFloat32(place + 32, sight.restingMs, true)
  bytes.setFloat32(place + 36, sight.headroom, true)
  bytes.setFloat32(place + 40, sight.warmTokens, true)
  bytes.setFloat32(place + 44, sight.unheardMs, true)
  bytes.setFloat32(place + 48, sight.scarcity, true)
}

/** The outcome has its room from the start, and is written when it is known. */
export function writeOutcome(bytes: DataView, outcome: Outcome): void {
  bytes.setUint8(places.ended, endedCodes[outcome.ended])
  bytes.setFloat32(places.sentAfterMs, outcome.sentAfterMs, true)
  bytes.setFloat32(places.firstContentMs, outcome.firstContentMs ?? Number.NaN, true)
  bytes.setFloat32(places.totalMs, outcome.totalMs, true)
  bytes.setFloat32(places.usedTokens, outcome.outputTokens ?? Number.NaN, true)
  bytes.setFloat32(places.cachedTokens, outcome.cachedTokens ?? Number.NaN, true)
}

/** Calls back for each candidate with where the number of its offer stands. */
function eachCandidate(bytes: DataView, visit: (place: number, at: number) => void): void {
  const { ranked, count, first } = shapeOf(bytes)
  const each = candidateBytes + (ranked ? rankBytes : 0)
  for (let at = 0; at < count; at += 1) visit(first + at * each, at)
}

function shapeOf(bytes: DataView): { readonly ranked: boolean; readonly hoped: boolean; readonly count: number; readonly first: number } {
  const set = bytes.getUint8(places.flags)
  const hoped = (set & flags.hope) !== 0
  return {
    ranked: (set & flags.ranked) !== 0,
    hoped,
    count: bytes.getUint16(places.count, true),
    first: places.rest + (hoped ? hopeBytes : 0),
  }
}

/** What a summary needs of a decision: read from its bytes without reading all of it. */
export interface Outline {
  readonly at: number
  readonly strategy: number
  readonly why: number
  readonly chosen: number
  /** 0: it has not ended. */
  readonly ended: number
  readonly sentAfterMs: number
  /** Not a number: none came. */
  readonly firstContentMs: number
  readonly totalMs: number
}

export const outlineOf = (bytes: DataView): Outline => ({
  at: bytes.getFloat64(places.at, true),
  strategy: bytes.getUint8(places.strategy),
  why: bytes.getUint8(places.why),
  chosen: bytes.getUint16(places.chosen, true),
  ended: bytes.getUint8(places.ended),
  sentAfterMs: bytes.getFloat32(places.sentAfterMs, true),
  firstContentMs: bytes.getFloat32(places.firstContentMs, true),
  totalMs: bytes.getFloat32(places.totalMs, true),
})

/** Places of the candidates in the order in which they would be asked: free ones first, of those the least loss, the chosen one first of all. */
export function orderOf(bytes: DataView): readonly number[] {
  const order: { readonly at: number; readonly group: number; readonly loss: number }[] = []
  const chosen = bytes.getUint16(places.chosen, true)
  eachCandidate(bytes, (place, at) => {
    const held = bytes.getFloat32(place + 13 + 28, true) > 0 || bytes.getFloat32(place + 13 + 32, true) > 0
    order.push({ at, group: at === chosen ? -1 : held ? 1 : 0, loss: bytes.getFloat64(place + 5, true) })
  })
  order.sort((a, b) => a.group - b.group || (a.loss < b.loss ? -1 : b.loss < a.loss ? 1 : a.at - b.at))
  return order.map(({ at }) => at)
}

/** The numbers of its offers, in a list that all decisions of a trace share. */
export function nameOffers(bytes: DataView, numbers: readonly number[]): void {
  eachCandidate(bytes, (place, at) => bytes.setUint32(place, numbers[at] ?? 0, true))
}

/** Length that the bytes of a decision claim by what stands in them. */
export function lengthOf(bytes: DataView): number {
  const { ranked, count, first } = shapeOf(bytes)
  return first + count * (candidateBytes + (ranked ? rankBytes : 0))
}

/** The shortest that there are: no candidate, and nobody to learn of. */
export const leastBytes: number = places.rest

/** `offerAt`: the offer of a candidate, by its place in the decision and its number in the list. Throws a RangeError for what no router writes. */
export function readRecord(bytes: DataView, offerAt: (at: number, number: number) => RouterOffer): DecisionRecord {
  const { ranked, hoped } = shapeOf(bytes)
  const strategy = named(strategyNames, bytes.getUint8(places.strategy))
  const candidates: Seen[] = []
  eachCandidate(bytes, (place, at) => {
    candidates.push({
      offer: offerAt(at, bytes.getUint32(place, true)),
      sight: readSight(bytes, place + 13),
      loss: lossAs(bytes.getFloat64(place + 5, true)),
      ...(ranked && { rank: lossAs(bytes.getFloat64(place + candidateBytes, true)) }),
      ...(bytes.getUint8(place + 4) !== 0 && { shunned: true as const }),
    })
  })
  const outcome = readOutcome(bytes)
  const { rest } = places
  return {
    at: plain(bytes.getFloat64(places.at, true)),
    request: bytes.getFloat64(places.request, true),
    turn: bytes.getUint8(places.turn),
    strategy,
    ...(strategy !== 'own' && { worth: readWorth(bytes) }),
    scale: bytes.getFloat64(places.scale, true),
    asked: readAsked(bytes),
    candidates,
    omitted: bytes.getUint32(places.omitted, true),
    ...(hoped && {
      hope: {
        at: bytes.getUint16(rest, true),
        sight: readSight(bytes, rest + 10),
        loss: lossAs(bytes.getFloat64(rest + 2, true)),
      },
    }),
    chosen: bytes.getUint16(places.chosen, true),
    why: named(whys, bytes.getUint8(places.why)),
    loss: lossAs(bytes.getFloat64(places.loss, true)),
    waitMs: single(bytes, places.waitMs),
    ...given('timeoutMs', single(bytes, places.timeoutMs)),
    ...given('hedgeAfterMs', single(bytes, places.hedgeAfterMs)),
    ...(outcome && { outcome }),
  }
}

function named<Name>(names: ReadonlyMap<number, Name>, code: number): Name {
  const name = names.get(code)
  if (name === undefined) throw new RangeError(`it holds the code ${code}, which means nothing`)
  return name
}

const single = (bytes: DataView, place: number): number => plain(bytes.getFloat32(place, true))

/** Of what need not be there, nothing where it is no number. */
const given = <Name extends string>(name: Name, number: number): { readonly [name in Name]?: number } =>
  Number.isFinite(number) ? ({ [name]: number } as { readonly [name in Name]?: number }) : {}

const readWorth = (bytes: DataView): Worth => ({
  waiting: plain(bytes.getFloat64(places.worth, true)),
  growing: plain(bytes.getFloat64(places.worth + 8, true)),
  failing: plain(bytes.getFloat64(places.worth + 16, true)),
})

const readAsked = (bytes: DataView): Asked => ({
  inputTokens: single(bytes, places.inputTokens),
  outputTokens: single(bytes, places.outputTokens),
  stream: (bytes.getUint8(places.flags) & flags.stream) !== 0,
  turns: single(bytes, places.turns),
  ...given('leftMs', single(bytes, places.leftMs)),
})

function readOutcome(bytes: DataView): Outcome | undefined {
  const code = bytes.getUint8(places.ended)
  if (code === 0) return undefined
  return {
    ended: named(endings, code),
    sentAfterMs: single(bytes, places.sentAfterMs),
    ...given('firstContentMs', single(bytes, places.firstContentMs)),
    totalMs: single(bytes, places.totalMs),
    ...given('outputTokens', single(bytes, places.usedTokens)),
    ...given('cachedTokens', single(bytes, places.cachedTokens)),
  }
}

const readSight = (bytes: DataView, place: number): Sight => ({
  cost: single(bytes, place),
  firstContentMs: single(bytes, place + 4),
  growingMs: single(bytes, place + 8),
  failure: single(bytes, place + 12),
  lostMs: single(bytes, place + 16),
  breaking: single(bytes, place + 20),
  lateness: single(bytes, place + 24),
  heldMs: single(bytes, place + 28),
  restingMs: single(bytes, place + 32),
  headroom: single(bytes, place + 36),
  warmTokens: single(bytes, place + 40),
  unheardMs: single(bytes, place + 44),
  scarcity: single(bytes, place + 48),
})
