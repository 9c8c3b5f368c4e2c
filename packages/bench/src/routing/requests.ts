import { createDice, normal, uniform, within } from './random-draws.ts'
import type { World } from './world.ts'

/** A request before it is served. */
export interface Asked {
  readonly number: number
  readonly atMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly stream: boolean
  /** The conversation that it belongs to. */
  readonly session?: string
}

/** Statistics of all requests, known only to the oracle. */
export const traffic = {
  streamed: 0.8,
  outputMedian: 220,
  outputScatter: 0.9,
  promptMedian: 700,
  promptScatter: 1,
  /** First turn of a conversation: instructions and tools. */
  openingMedian: 1_500,
  openingScatter: 0.7,
  /** Tokens that the user adds each turn. */
  saidMedian: 80,
  saidScatter: 0.8,
  /** Probability of another turn. */
  goesOn: 0.85,
  pauseMs: 5_000,
  pauseMedianMs: 35_000,
  pauseScatter: 1.1,
} as const

const mean = (median: number, scatter: number): number => median * Math.exp(scatter ** 2 / 2)
export const meanOutput = mean(traffic.outputMedian, traffic.outputScatter)
export const meanPrompt = mean(traffic.promptMedian, traffic.promptScatter)
/** Tokens that one turn adds to the prompt of the next. */
export const meanGrowth = meanOutput + mean(traffic.saidMedian, traffic.saidScatter)
const meanTurns = 1 / (1 - traffic.goesOn)

const logNormal = (median: number, scatter: number): ((place: number, purpose: number) => number) => {
  return (place, purpose) => Math.max(1, Math.round(median * Math.exp(scatter * normal(place, purpose))))
}
const output = logNormal(traffic.outputMedian, traffic.outputScatter)
const prompt = logNormal(traffic.promptMedian, traffic.promptScatter)
const opening = logNormal(traffic.openingMedian, traffic.openingScatter)
const said = logNormal(traffic.saidMedian, traffic.saidScatter)
const pause = logNormal(traffic.pauseMedianMs, traffic.pauseScatter)

/** Relative load at a time, around 1: one wave, like a day, over the run. */
export const wave = (share: number): number => 1 + 0.4 * Math.sin(2 * Math.PI * share)

export interface Span {
  readonly seed: number
  readonly minutes: number
  readonly rate: number
}

/** All requests of a run in order of arrival. They do not depend on the policy. */
export function makeRequests(world: World, { seed, minutes, rate }: Span): readonly Asked[] {
  const place = within(seed, 101)
  const drafts: Omit<Asked, 'number'>[] = []
  for (const atMs of arrivals(within(place, 1), { rate: rate * (1 - world.sessions), minutes })) {
    const own = within(place, drafts.length)
    drafts.push({
      atMs,
      inputTokens: Math.min(60_000, prompt(own, 1)),
      outputTokens: Math.min(4_000, output(own, 2)),
      ...world.size,
      stream: streams(own),
    })
  }
  let session = 0
  // Conversations that started before the run have turns in it; without them, its first minutes would be too quiet.
  for (const atMs of arrivals(within(place, 2), { rate: (rate * world.sessions) / meanTurns, minutes: minutes + lead })) {
    session += 1
    for (const turn of conversation(within(place, 1_000_000_000 + session), `s${session}`)) {
      const at = atMs - lead * 60_000 + turn.atMs
      if (at >= 0 && at < minutes * 60_000) drafts.push({ ...turn, atMs: at })
    }
  }
  drafts.sort((a, b) => a.atMs - b.atMs)
  return drafts.map((draft, number) => ({ ...draft, number }))
}

/** Minutes. */
const lead = 10

const streams = (place: number): boolean => uniform(place, 3) < traffic.streamed

function conversation(place: number, session: string): Omit<Asked, 'number'>[] {
  const turns: Omit<Asked, 'number'>[] = []
  const stream = streams(place)
  let [atMs, inputTokens] = [0, opening(place, 4)]
  for (let at = 0; at < 60; at += 1) {
    const own = within(place, at)
    const outputTokens = Math.min(4_000, output(own, 2))
    turns.push({ atMs, inputTokens, outputTokens, stream, session })
    if (uniform(own, 5) > traffic.goesOn) break
    inputTokens += outputTokens + said(own, 6)
    atMs += traffic.pauseMs + pause(own, 7)
  }
  return turns
}

function* arrivals(seed: number, { rate, minutes }: { readonly rate: number; readonly minutes: number }): Generator<number> {
  if (rate <= 0) return
  const dice = createDice(seed)
  const end = minutes * 60_000
  const busiest = 1.4
  for (let atMs = 0; ; ) {
    atMs -= (Math.log(dice.between(0, 1)) * 1_000) / (rate * busiest)
    if (atMs >= end) return
    if (dice.chance(wave(atMs / end) / busiest)) yield atMs
  }
}
