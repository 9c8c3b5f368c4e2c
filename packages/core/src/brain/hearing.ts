import type { OfferPause, OfferStatistics, RoutingNews } from '@signalbox/storage'
import type { Belief } from './belief.ts'
import { holdFor } from './capacity.ts'
import { type Counts, growthOf } from './counts.ts'
import { makeDice } from './dice.ts'
import { learnFromOthers, makeOwed, type Owed } from './others.ts'
import { forgottenMs, type Moment } from './telling.ts'

// What this process hears of the others: each row is held against the one before, so that nothing counts twice, whatever comes
// twice, late or in another order. What is heard of an offer that nobody has met here waits until somebody does.

export interface Hearing {
  /** A belief of it was made: all that is known of it is evidence. */
  met(offer: string, belief: Belief, now: number): void
  hear(news: RoutingNews, moment: Moment): void
}

interface Heard {
  belief: Belief | undefined
  /** By writer. */
  readonly rows: Map<string, Row>
  owed: Owed
  /** Unix milliseconds. */
  pausedUntil: number
}

interface Row {
  latest: OfferStatistics
  /** What of it the belief has learned. */
  learned: OfferStatistics | undefined
}

const mostOffers = 10_000
const mostRows = 20_000

export function makeHearing(writer: () => string): Hearing {
  const offers = new Map<string, Heard>()
  /** Unix less monotonic milliseconds, when news last came. */
  let apart = 0
  let rowCount = 0
  let dice: (() => number) | undefined
  const chance = (): number => {
    dice ??= makeDice(numberOf(writer()))
    return dice()
  }

  const heardOf = (offer: string): Heard | undefined => {
    const known = offers.get(offer)
    if (known || offers.size >= mostOffers) return known
    const heard: Heard = { belief: undefined, rows: new Map(), owed: makeOwed(), pausedUntil: 0 }
    offers.set(offer, heard)
    return heard
  }
  const hearRow = (latest: OfferStatistics, moment: Moment): void => {
    if (latest.writer === writer()) return
    const heard = heardOf(latest.offer)
    if (!heard) return
    const row = heard.rows.get(latest.writer)
    if (row && !isNewer(latest, row.latest)) return
    // Whoever is not taken in now is never counted from its middle: it stays out until there is room.
    if (!row && rowCount >= mostRows) return
    if (!row) rowCount += 1
    const mine = row ?? { latest, learned: undefined }
    mine.latest = latest
    heard.rows.set(latest.writer, mine)
    learnRow(heard, mine, { ...moment, chance: chance() })
  }
  const hearPause = ({ offer, until }: OfferPause, moment: Moment): void => {
    const heard = heardOf(offer)
    if (!heard || until <= heard.pausedUntil) return
    heard.pausedUntil = until
    rest(heard, moment)
  }
  const forget = (at: number): void => {
    for (const [offer, heard] of offers) {
      for (const [name, { latest }] of heard.rows)
        if (latest.at < at - 2 * forgottenMs) {
          heard.rows.delete(name)
          rowCount -= 1
        }
      if (heard.rows.size === 0 && heard.pausedUntil <= at && !heard.belief) offers.delete(offer)
    }
  }
  return {
    met(offer, belief, now) {
      const heard = heardOf(offer)
      if (!heard) return
      heard.belief = belief
      heard.owed = makeOwed()
      const moment = { now, at: now + apart }
      for (const row of heard.rows.values()) {
        row.learned = undefined
        learnRow(heard, row, { ...moment, chance: chance() })
      }
      rest(heard, moment)
    },
    hear({ statistics, pauses }, moment) {
      apart = moment.at - moment.now
      for (const row of statistics) hearRow(row, moment)
      for (const pause of pauses) hearPause(pause, moment)
      forget(moment.at)
    },
  }
}

/** Newer of the same count, or of a count that began later. */
const isNewer = (row: OfferStatistics, before: OfferStatistics): boolean =>
  row.epoch > before.epoch || (row.epoch === before.epoch && row.version > before.version)

function learnRow({ belief, owed, rows }: Heard, row: Row, { now, at, chance }: Moment & { readonly chance: number }): void {
  if (!belief) return
  const { latest, learned } = row
  const before = learned?.epoch === latest.epoch ? learned : undefined
  const counts: Counts = growthOf(latest, before)
  const here = (unix: number): number => Math.min(now, now - at + unix)
  const to = here(latest.at)
  learnFromOthers(belief, { from: Math.min(to, here(before?.at ?? latest.epoch)), to, counts }, { owed, now, others: rows.size, chance })
  row.learned = latest
}

function rest({ belief, pausedUntil }: Heard, { now, at }: Moment): void {
  if (belief && pausedUntil > at) holdFor(belief.capacity, now, pausedUntil - at)
}

/** Names of processes as seeds: what is left to chance falls out differently in each. */
function numberOf(name: string): number {
  let number = 0
  for (let at = 0; at < name.length; at += 1) number = (Math.imul(number, 31) + name.charCodeAt(at)) | 0
  return number
}
