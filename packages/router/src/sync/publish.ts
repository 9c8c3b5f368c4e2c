import type { OfferPause, OfferStatistics } from '@signalbox/storage/routing'
import type { OfferState } from '../offer-state.ts'
import { outcomeNames, totalObserved } from './outcome-counts.ts'

// What this process publishes: its counters for each offer, and offers paused by a rate limit.

/** One moment on both clocks, in milliseconds. */
export interface Moment {
  /** Monotonic. */
  readonly now: number
  /** Unix. */
  readonly at: number
}

export interface Publisher {
  trackOffer(offer: string, state: OfferState): void
  /** Rows of the offers whose counters have grown since they were last published. */
  changedStatistics(moment: Moment): readonly OfferStatistics[]
  /** Records that the rows were stored. */
  markPublished(rows: readonly OfferStatistics[]): void
  /** Records that the offer may be paused by a rate limit. */
  markLimited(offer: string): void
  /** Unpublished pauses of those offers. */
  newPauses(moment: Moment): readonly OfferPause[]
  /** Records that another process has published this pause. */
  markPaused(pause: OfferPause): void
}

/** The published state of an offer. */
interface PublishedOffer {
  readonly state: OfferState
  /** Monotonic milliseconds since which its outcomes are counted. */
  readonly since: number
  epoch: number | undefined
  /** The row as last published. */
  last: OfferStatistics | undefined
  /** Unix milliseconds. */
  pausedUntil: number
}

const maxPublishedOffers = 10_000
/** Milliseconds after which stores and readers forget an offer that was not published. Its counters then start again, so that no outcome is read twice. */
export const retentionMs = 600_000
/** Shorter pauses are over before others could read them, and a pause that grew by less than the clock difference is not published again. Milliseconds. */
const minPauseMs = 1_000
const jitterMs = 250

export function createPublisher(writer: () => string): Publisher {
  const accounts = new Map<string, PublishedOffer>()
  const limited = new Set<string>()
  let version = 0
  return {
    trackOffer(offer, state) {
      accounts.delete(offer)
      if (accounts.size >= maxPublishedOffers) for (const oldest of accounts.keys()) if (accounts.delete(oldest)) break
      accounts.set(offer, { state, since: state.observedAt, epoch: undefined, last: undefined, pausedUntil: 0 })
    },
    changedStatistics(moment) {
      version += 1
      const rows: OfferStatistics[] = []
      for (const [offer, account] of accounts) {
        const { outcomes } = account.state
        if (totalObserved(outcomes) === (account.last ? totalObserved(account.last) : 0)) continue
        const epoch = epochOf(account, moment)
        rows.push({ ...outcomes, writer: writer(), offer, epoch, version, at: Math.round(moment.at) })
      }
      return rows
    },
    markPublished(rows) {
      for (const row of rows) {
        const account = accounts.get(row.offer)
        if (account?.epoch === row.epoch) account.last = row
      }
    },
    markLimited: offer => void limited.add(offer),
    newPauses({ now, at }) {
      const pauses: OfferPause[] = []
      for (const offer of limited) {
        const account = accounts.get(offer)
        const until = Math.round(at + (account?.state.capacity.pausedUntil ?? 0) - now)
        if (!account || until - at < minPauseMs || until < account.pausedUntil + jitterMs) continue
        account.pausedUntil = until
        pauses.push({ offer, until })
      }
      limited.clear()
      return pauses
    },
    markPaused({ offer, until }) {
      const account = accounts.get(offer)
      if (account) account.pausedUntil = Math.max(account.pausedUntil, until)
    },
  }
}

/** When its counters began. Counters that were forgotten everywhere start again from their last published values. */
function epochOf(account: PublishedOffer, { now, at }: Moment): number {
  const { last, state } = account
  account.epoch ??= Math.max(0, Math.round(at - (now - account.since)))
  if (!last || at - last.at <= retentionMs) return account.epoch
  for (const name of outcomeNames) state.outcomes[name] = Math.max(0, state.outcomes[name] - last[name])
  account.epoch = Math.max(last.at, account.epoch + 1)
  account.last = undefined
  return account.epoch
}
