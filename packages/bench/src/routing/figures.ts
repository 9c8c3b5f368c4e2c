import type { PreferencePrices } from '@signalbox/router'
import type { Asked } from './requests.ts'

/** The results of a run. */
export interface Figures {
  readonly requests: number
  /** Per request, in USD by the preference of the run. */
  readonly losses: Float64Array
  readonly meanLoss: number
  /** Share of requests with a complete response. */
  readonly success: number
  /** Milliseconds from arrival to first content of successful requests, ascending. */
  readonly firstContentMs: Float64Array
  readonly usd: number
  /** Calls made. */
  readonly attempts: number
  /** Calls that returned 429. */
  readonly limited: number
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Calls per offer. */
  readonly calls: readonly number[]
  /** Per request: the first offer it called (-1: none), when it arrived, and its outcome. */
  readonly firstAsked: Int8Array
  readonly arrivedMs: Float64Array
  readonly keyed: Uint8Array
  readonly succeeded: Uint8Array
  readonly waitedMs: Float64Array
}

/** Counts while a run is in progress. */
export interface Tally {
  sent(asked: Asked, offer: number): void
  attemptsOf(asked: Asked): number
  limited(): void
  paid(asked: Asked, usd: number): void
  read(promptTokens: number, cachedTokens: number): void
  heard(asked: Asked, atMs: number): void
  grew(asked: Asked, ms: number): void
  served(asked: Asked): void
  failed(asked: Asked, atMs: number): void
  figures(): Figures
}

export function createTally({ requests, worth }: { readonly requests: readonly Asked[]; readonly worth: PreferencePrices }): Tally {
  const count = requests.length
  const losses = new Float64Array(count)
  const waitedMs = new Float64Array(count)
  const succeeded = new Uint8Array(count)
  const tried = new Uint8Array(count)
  const firstAsked = new Int8Array(count).fill(-1)
  const calls: number[] = []
  const sums = { usd: 0, attempts: 0, limited: 0, promptTokens: 0, cachedTokens: 0 }
  const add = (asked: Asked, loss: number): void => {
    losses[asked.number] = (losses[asked.number] ?? 0) + loss
  }
  const waited = (asked: Asked, atMs: number): void => {
    waitedMs[asked.number] = atMs - asked.atMs
  }
  return {
    sent: (asked, offer) => {
      sums.attempts += 1
      tried[asked.number] = (tried[asked.number] ?? 0) + 1
      calls[offer] = (calls[offer] ?? 0) + 1
      if (firstAsked[asked.number] === -1) firstAsked[asked.number] = offer
    },
    attemptsOf: asked => tried[asked.number] ?? 0,
    limited: () => {
      sums.limited += 1
    },
    paid: (asked, usd) => {
      sums.usd += usd
      add(asked, usd)
    },
    read: (promptTokens, cachedTokens) => {
      sums.promptTokens += promptTokens
      sums.cachedTokens += cachedTokens
    },
    heard: waited,
    grew: (asked, ms) => add(asked, (worth.generation * ms) / 1_000),
    served: asked => {
      succeeded[asked.number] = 1
    },
    failed: (asked, atMs) => {
      waited(asked, atMs)
      add(asked, worth.failure)
    },
    figures: () => {
      for (const asked of requests) add(asked, (worth.waiting * (waitedMs[asked.number] ?? 0)) / 1_000)
      return {
        ...sums,
        requests: count,
        losses,
        meanLoss: losses.reduce((sum, loss) => sum + loss, 0) / count,
        success: succeeded.reduce((sum, one) => sum + one, 0) / count,
        firstContentMs: waitedMs.filter((_, index) => succeeded[index] === 1).sort(),
        calls,
        firstAsked,
        arrivedMs: Float64Array.from(requests, asked => asked.atMs),
        keyed: Uint8Array.from(requests, asked => (asked.session === undefined ? 0 : 1)),
        succeeded,
        waitedMs,
      }
    },
  }
}
