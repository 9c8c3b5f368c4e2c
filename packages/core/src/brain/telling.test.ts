import type { OfferStatistics } from '@signalbox/storage'
import { expect, test } from 'vitest'
import { type Belief, makeBelief } from './belief.ts'
import { makeTelling } from './telling.ts'

/** Unix milliseconds at the monotonic moment 0. */
const epoch0 = 1_750_000_000_000
const moment = (now: number) => ({ now, at: epoch0 + now })

function met(...offers: readonly string[]) {
  const telling = makeTelling(() => 'here')
  const beliefs = offers.map(() => makeBelief(1_000))
  for (const [at, offer] of offers.entries()) telling.met(offer, beliefs[at] as Belief)
  return { telling, beliefs, belief: beliefs[0] as Belief }
}

test('an offer without new observations is not published', () => {
  const { telling, beliefs, belief } = met('alder', 'birch')
  expect(telling.statistics(moment(5_000))).toEqual([])
  belief.counts.answered = 2
  const rows = telling.statistics(moment(6_000))
  expect(rows).toEqual([{ ...belief.counts, writer: 'here', offer: 'alder', epoch: epoch0 + 1_000, version: 2, at: epoch0 + 6_000 }])
  telling.published(rows)
  expect(telling.statistics(moment(7_000))).toEqual([])
  ;(beliefs[1] as Belief).counts.failed = 1
  expect(telling.statistics(moment(8_000)).map(({ offer, version }) => [offer, version])).toEqual([['birch', 4]])
})

test('rows that never reached the others are offered again', () => {
  const { telling, belief } = met('alder')
  belief.counts.broken = 1
  expect(telling.statistics(moment(1_000))).toHaveLength(1)
  expect(telling.statistics(moment(2_000))).toHaveLength(1)
})

test('published rows of an earlier count do not stand for the present one', () => {
  const { telling, belief } = met('alder')
  belief.counts.answered = 2
  const rows = telling.statistics(moment(1_000))
  telling.published(rows.map((row): OfferStatistics => ({ ...row, epoch: row.epoch - 1 })))
  expect(telling.statistics(moment(2_000))).toHaveLength(1)
})

test('a count begins anew once its last publication is more than ten minutes old', () => {
  const publishedThenGrown = (pauseMs: number) => {
    const { telling, belief } = met('alder')
    Object.assign(belief.counts, { answered: 5, lnWaits: 30 })
    telling.published(telling.statistics(moment(2_000)))
    belief.counts.answered = 7
    return telling.statistics(moment(2_000 + pauseMs))[0]
  }
  expect(publishedThenGrown(600_000)).toMatchObject({ answered: 7, lnWaits: 30, epoch: epoch0 + 1_000 })
  expect(publishedThenGrown(600_001)).toMatchObject({ answered: 2, lnWaits: 0, epoch: epoch0 + 2_000 })
})

test('an epoch is never before the beginning of time', () => {
  const telling = makeTelling(() => 'here')
  const belief = makeBelief(0)
  belief.counts.answered = 1
  telling.met('alder', belief)
  expect(telling.statistics({ now: 9_000, at: 5 })[0]?.epoch).toBe(0)
})

test('a pause is told if it lasts for a second or more, once', () => {
  const told = (lastsMs: number) => {
    const { telling, belief } = met('alder')
    belief.capacity.heldUntil = 4_000 + lastsMs
    telling.limited('alder')
    const pauses = telling.pauses(moment(4_000))
    return [pauses, telling.pauses(moment(4_000))]
  }
  expect(told(999)).toEqual([[], []])
  expect(told(1_000)).toEqual([[{ offer: 'alder', until: epoch0 + 5_000 }], []])
})

test('a pause that grew is told again if it grew by a quarter of a second or more', () => {
  const toldAgain = (grewMs: number, known: 'told here' | 'heard') => {
    const { telling, belief } = met('alder')
    belief.capacity.heldUntil = 10_000
    telling.limited('alder')
    if (known === 'heard') telling.paused({ offer: 'alder', until: epoch0 + 10_000 })
    else telling.pauses(moment(0))
    telling.paused({ offer: 'alder', until: epoch0 + 9_000 })
    belief.capacity.heldUntil = 10_000 + grewMs
    telling.limited('alder')
    return telling.pauses(moment(0)).length
  }
  for (const known of ['told here', 'heard'] as const) expect([249, 250].map(grewMs => toldAgain(grewMs, known))).toEqual([0, 1])
})

test('a pause of an offer that was never met is not told', () => {
  const { telling } = met('alder')
  telling.limited('birch')
  telling.paused({ offer: 'birch', until: epoch0 + 9_000 })
  expect(telling.pauses(moment(0))).toEqual([])
})

test('of more than ten thousand offers the one met longest ago is forgotten', () => {
  const telling = makeTelling(() => 'here')
  const belief = makeBelief(0)
  belief.counts.answered = 1
  const named = () => new Set(telling.statistics(moment(1_000)).map(({ offer }) => offer))
  for (let at = 0; at < 10_000; at += 1) telling.met(`offer-${at}`, belief)
  expect(named().size).toBe(10_000)
  telling.met('offer-0', belief)
  telling.met('another', belief)
  const names = named()
  expect([names.size, names.has('offer-0'), names.has('another'), names.has('offer-1')]).toEqual([10_000, true, true, false])
})
