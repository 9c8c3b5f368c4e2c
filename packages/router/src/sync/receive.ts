import type { OfferPause, OfferStatistics, RoutingNews } from '@signalbox/storage/routing'
import { pauseFor } from '../capacity.ts'
import type { OfferState } from '../offer-state.ts'
import { createRandom } from '../random.ts'
import { type FractionalCounts, makeFractionalCounts, mergeEvidence } from './merge.ts'
import { countsSince, type OutcomeCounts } from './outcome-counts.ts'
import { type Moment, retentionMs } from './publish.ts'

// What this process receives. Each row is compared with the previous one, so that nothing counts twice, no matter how often, late or out of
// order it arrives. Rows of an unknown offer wait until it is tracked.

export interface Receiver {
  /** Called when the state of an offer is created: merges everything received about it so far. */
  trackOffer(offer: string, state: OfferState, now: number): void
  receive(news: RoutingNews, moment: Moment): void
}

interface RemoteOffer {
  state: OfferState | undefined
  /** By publishing process. */
  readonly rows: Map<string, RemoteRow>
  owed: FractionalCounts
  /** Unix milliseconds. */
  pausedUntil: number
}

interface RemoteRow {
  latest: OfferStatistics
  /** The row that was last merged into the state. */
  learned: OfferStatistics | undefined
}

const maxRemoteOffers = 10_000
const maxRemoteRows = 20_000

/** Everything received from other processes. */
interface Received {
  readonly offers: Map<string, RemoteOffer>
  /** Number of rows of all offers. */
  rowCount: number
  /** The name of this process. */
  readonly writer: () => string
  readonly chance: () => number
}

export function createReceiver(writer: () => string): Receiver {
  let random: (() => number) | undefined
  const chance = (): number => {
    random ??= createRandom(seedOfName(writer()))
    return random()
  }
  const received: Received = { offers: new Map(), rowCount: 0, writer, chance }
  /** Unix minus monotonic milliseconds, when news last came. */
  let clockOffsetMs = 0

  return {
    trackOffer(offer, state, now) {
      const remote = remoteOffer(received, offer)
      if (!remote) return
      remote.state = state
      remote.owed = makeFractionalCounts()
      const moment = { now, at: now + clockOffsetMs }
      for (const row of remote.rows.values()) {
        row.learned = undefined
        mergeRow(remote, row, { ...moment, chance: chance() })
      }
      applyPause(remote, moment)
    },
    receive({ statistics, pauses }, moment) {
      clockOffsetMs = moment.at - moment.now
      for (const row of statistics) receiveRow(received, row, moment)
      for (const pause of pauses) receivePause(received, pause, moment)
      forgetOld(received, moment.at)
    },
  }
}

/** Undefined if it is new and there is no room. */
function remoteOffer({ offers }: Received, offer: string): RemoteOffer | undefined {
  const known = offers.get(offer)
  if (known || offers.size >= maxRemoteOffers) return known
  const remote: RemoteOffer = { state: undefined, rows: new Map(), owed: makeFractionalCounts(), pausedUntil: 0 }
  offers.set(offer, remote)
  return remote
}

function receiveRow(received: Received, latest: OfferStatistics, moment: Moment): void {
  if (latest.writer === received.writer()) return
  const remote = remoteOffer(received, latest.offer)
  if (!remote) return
  const known = remote.rows.get(latest.writer)
  if (known && !isNewer(latest, known.latest)) return
  // Without room, a row is ignored entirely, never counted from the middle.
  if (!known && received.rowCount >= maxRemoteRows) return
  if (!known) received.rowCount += 1
  const row = known ?? { latest, learned: undefined }
  row.latest = latest
  remote.rows.set(latest.writer, row)
  mergeRow(remote, row, { ...moment, chance: received.chance() })
}

function receivePause(received: Received, { offer, until }: OfferPause, moment: Moment): void {
  const remote = remoteOffer(received, offer)
  if (!remote || until <= remote.pausedUntil) return
  remote.pausedUntil = until
  applyPause(remote, moment)
}

function forgetOld(received: Received, at: number): void {
  for (const [offer, remote] of received.offers) {
    for (const [name, { latest }] of remote.rows)
      if (latest.at < at - 2 * retentionMs) {
        remote.rows.delete(name)
        received.rowCount -= 1
      }
    if (remote.rows.size === 0 && remote.pausedUntil <= at && !remote.state) received.offers.delete(offer)
  }
}

/** Whether it is a later version of the same counters, or has counters that began later. */
const isNewer = (row: OfferStatistics, before: OfferStatistics): boolean =>
  row.epoch > before.epoch || (row.epoch === before.epoch && row.version > before.version)

function mergeRow(
  { state, owed: fractions, rows }: RemoteOffer,
  row: RemoteRow,
  { now, at, chance }: Moment & { readonly chance: number },
): void {
  if (!state) return
  const { latest, learned } = row
  const before = learned?.epoch === latest.epoch ? learned : undefined
  const counts: OutcomeCounts = countsSince(latest, before)
  const here = (unix: number): number => Math.min(now, now - at + unix)
  const to = here(latest.at)
  mergeEvidence(state, { from: Math.min(to, here(before?.at ?? latest.epoch)), to, counts }, { fractions, now, others: rows.size, chance })
  row.learned = latest
}

function applyPause({ state, pausedUntil }: RemoteOffer, { now, at }: Moment): void {
  if (state && pausedUntil > at) pauseFor(state.capacity, now, pausedUntil - at)
}

/** A seed from the name of a process, so that random choices differ between processes. */
function seedOfName(name: string): number {
  let number = 0
  for (let at = 0; at < name.length; at += 1) number = (Math.imul(number, 31) + name.charCodeAt(at)) | 0
  return number
}
