import type { PreferencePrices } from '@signalbox/router'
import { bill } from './bill.ts'
import { meanOutput, traffic } from './requests.ts'
import type { State } from './true-state.ts'
import { ranks, type Waits } from './waits.ts'
import { leastCached, type TrueOffer } from './world.ts'

/** One request at one offer in its current state, before it is sent. */
export interface Prospect {
  readonly waits: Waits
  /** Milliseconds: the current median wait of an empty prompt, the time to read this prompt, and the duration of a response of median length. */
  readonly waitMs: number
  readonly readMs: number
  readonly growMs: number
  readonly errors: number
  readonly errorMs: number
  readonly hangs: number
  readonly breaks: number
  readonly usd: number
  /** Its cost if it is given up. */
  readonly cancelledUsd: number
  readonly stream: boolean
}

export interface Known {
  readonly offer: TrueOffer
  readonly waits: Waits
  readonly state: State
}

export interface Size {
  readonly inputTokens: number
  /** Cached part of the input. */
  readonly warm: number
  readonly keyed: boolean
  readonly stream: boolean
}

export function prospectOf({ offer, waits, state }: Known, { inputTokens, warm, keyed, stream }: Size): Prospect {
  const cached = warm >= leastCached ? Math.min(warm, inputTokens) * offer.cacheHits : 0
  const consumed = { input: inputTokens, cached, output: meanOutput, keyed }
  return {
    waits,
    stream,
    waitMs: offer.firstContentMs * state.wait,
    readMs: offer.msPerToken * (inputTokens - cached),
    growMs: (meanOutput / state.tokensPerSecond) * 1_000,
    errors: inputTokens > state.longest ? 1 : state.errors,
    errorMs: state.errorMs,
    hangs: state.hangs,
    breaks: state.breaks,
    usd: bill(offer, consumed),
    cancelledUsd: offer.billsCancelled ? bill(offer, { ...consumed, output: 0 }) : 0,
  }
}

export interface Else {
  readonly worth: PreferencePrices
  /** Milliseconds until the deadline. */
  readonly leftMs: number
  /** The expected loss if this offer does not respond and another one is called. */
  readonly next: number
}

/** Of a whole answer nobody sees where it stands, and its length scatters: lengths of equal share, times the mean. */
const lengths = ranks(8).map(z => Math.exp(traffic.outputScatter * z - traffic.outputScatter ** 2 / 2))
const streamed = [1] as const

/** The expected loss of calling now and giving up after `cutMs`, in USD. */
export function lossOf(prospect: Prospect, cutMs: number, { worth, leftMs, next }: Else): number {
  const { waits, waitMs, readMs, breaks, usd, stream } = prospect
  const perMs = worth.waiting / 1_000
  const answers = (1 - prospect.hangs) * (1 - prospect.errors)
  const afterwards = cutMs < leftMs ? next : worth.failure
  let [loss, silent] = [0, 0]
  const parts = stream ? streamed : lengths
  for (const length of parts) {
    const growMs = prospect.growMs * length
    const known = countUpTo(waits.times, ((stream ? cutMs : cutMs - growMs) - readMs) / waitMs)
    const share = waits.share[known - 1] ?? 0
    const waited = perMs * (waitMs * (waits.sum[known - 1] ?? 0) + readMs * share)
    const grown = (worth.generation * growMs) / 1_000
    // A broken stream has failed. Of a whole response nothing was sent, so another offer can be called.
    const broken = stream ? worth.failure + (usd + grown) / 2 : (perMs * growMs) / 2 + next
    loss += (waited + share * ((1 - breaks) * (usd + grown) + breaks * broken)) / parts.length
    silent += (1 - share) / parts.length
  }
  const given = perMs * cutMs + afterwards
  return (
    answers * (loss + silent * (given + prospect.cancelledUsd)) +
    prospect.hangs * given +
    (1 - prospect.hangs) * prospect.errors * (perMs * prospect.errorMs + next)
  )
}

/** When to give up for the smallest loss. */
export function bestCut(prospect: Prospect, other: Else): { readonly cutMs: number; readonly loss: number } {
  let best = { cutMs: other.leftMs, loss: lossOf(prospect, other.leftMs, other) }
  const longestMs = prospect.stream ? 0 : prospect.growMs * (lengths.at(-1) ?? 1)
  // The progress of a whole response cannot be seen, so giving up early only pays if calls hang.
  if (!prospect.stream && prospect.hangs === 0) return best
  const { times } = prospect.waits
  for (let at = times.length >> 1; at < times.length; at += 1) {
    const cutMs = longestMs + prospect.readMs + prospect.waitMs * (times[at] ?? 0) * 1.001
    if (cutMs >= other.leftMs) break
    const loss = lossOf(prospect, cutMs, other)
    if (loss < best.loss) best = { cutMs, loss }
  }
  return best
}

/** How many of ascending values are at most `most`. */
function countUpTo(values: Float64Array, most: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 0) <= most) low = middle + 1
    else high = middle
  }
  return low
}
