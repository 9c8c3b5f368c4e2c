import type { OfferPause, OfferStatistics } from '@signalbox/storage'
import type { Belief } from './belief.ts'
import { countNames, seenIn } from './counts.ts'

// What this process tells the others: how its counts stand, and who asked it to be left alone.

/** The same moment on both clocks, in milliseconds. */
export interface Moment {
  /** Monotonic. */
  readonly now: number
  /** Unix. */
  readonly at: number
}

export interface Telling {
  met(offer: string, belief: Belief): void
  /** Of every offer whose counts have grown since they were last published. */
  statistics(moment: Moment): readonly OfferStatistics[]
  /** They have reached the others. */
  published(rows: readonly OfferStatistics[]): void
  /** It may have asked to be left alone. */
  limited(offer: string): void
  /** Of those, the ones that did, and that nobody was told of. */
  pauses(moment: Moment): readonly OfferPause[]
  /** Another said so already. */
  paused(pause: OfferPause): void
}

/** What is told of an offer. */
interface Account {
  readonly belief: Belief
  /** Monotonic milliseconds since which is counted. */
  readonly since: number
  epoch: number | undefined
  /** As it was last published. */
  last: OfferStatistics | undefined
  /** Unix milliseconds. */
  pausedUntil: number
}

const mostOffers = 10_000
/** Whoever is not mentioned for so long is forgotten by stores and readers; its counts begin anew, so that none is read twice. */
export const forgottenMs = 600_000
/** A pause that is over before it can be heard of is not worth telling; nor is one that grew by less than clocks jitter. */
const worthMs = 1_000
const jitterMs = 250

export function makeTelling(writer: () => string): Telling {
  const accounts = new Map<string, Account>()
  const limited = new Set<string>()
  let version = 0
  return {
    met(offer, belief) {
      accounts.delete(offer)
      if (accounts.size >= mostOffers) for (const oldest of accounts.keys()) if (accounts.delete(oldest)) break
      accounts.set(offer, { belief, since: belief.heardAt, epoch: undefined, last: undefined, pausedUntil: 0 })
    },
    statistics(moment) {
      version += 1
      const rows: OfferStatistics[] = []
      for (const [offer, account] of accounts) {
        const { counts } = account.belief
        if (seenIn(counts) === (account.last ? seenIn(account.last) : 0)) continue
        const epoch = epochOf(account, moment)
        rows.push({ ...counts, writer: writer(), offer, epoch, version, at: Math.round(moment.at) })
      }
      return rows
    },
    published(rows) {
      for (const row of rows) {
        const account = accounts.get(row.offer)
        if (account?.epoch === row.epoch) account.last = row
      }
    },
    limited: offer => void limited.add(offer),
    pauses({ now, at }) {
      const told: OfferPause[] = []
      for (const offer of limited) {
        const account = accounts.get(offer)
        const until = Math.round(at + (account?.belief.capacity.heldUntil ?? 0) - now)
        if (!account || until - at < worthMs || until < account.pausedUntil + jitterMs) continue
        account.pausedUntil = until
        told.push({ offer, until })
      }
      limited.clear()
      return told
    },
    paused({ offer, until }) {
      const account = accounts.get(offer)
      if (account) account.pausedUntil = Math.max(account.pausedUntil, until)
    },
  }
}

/** When its count began. A count that everyone has forgotten begins anew, where it was last published. */
function epochOf(account: Account, { now, at }: Moment): number {
  const { last, belief } = account
  account.epoch ??= Math.max(0, Math.round(at - (now - account.since)))
  if (!last || at - last.at <= forgottenMs) return account.epoch
  for (const name of countNames) belief.counts[name] = Math.max(0, belief.counts[name] - last[name])
  account.epoch = Math.max(last.at, account.epoch + 1)
  account.last = undefined
  return account.epoch
}
