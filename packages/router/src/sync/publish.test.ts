import type { OfferStatistics } from '@signalbox/storage/routing'
import { expect, test } from 'vitest'
import { makeOfferState, type OfferState } from '../offer-state.ts'
import { createPublisher } from './publish.ts'

/** Unix milliseconds at monotonic time 0. */
const epoch0 = 1_750_000_000_000
const moment = (now: number) => ({ now, at: epoch0 + now })

function met(...offers: readonly string[]) {
  const telling = createPublisher(() => 'here')
  const beliefs = offers.map(() => makeOfferState(1_000))
  for (const [at, offer] of offers.entries()) telling.trackOffer(offer, beliefs[at] as OfferState)
  return { telling, beliefs, belief: beliefs[0] as OfferState }
}

test('an offer without new observations is not published', () => {
  const { telling, beliefs, belief: state } = met('alder', 'birch')
  expect(telling.changedStatistics(moment(5_000))).toEqual([])
  state.outcomes.answered = 2
  const rows = telling.changedStatistics(moment(6_000))
  expect(rows).toEqual([{ ...state.outcomes, writer: 'here', offer: 'alder', epoch: epoch0 + 1_000, version: 2, at: epoch0 + 6_000 }])
  telling.markPublished(rows)
  expect(telling.changedStatistics(moment(7_000))).toEqual([])
  ;(beliefs[1] as OfferState).outcomes.failed = 1
  expect(telling.changedStatistics(moment(8_000)).map(({ offer, version }) => [offer, version])).toEqual([['birch', 4]])
})

test('rows that could not be published are returned again', () => {
  const { telling, belief: state } = met('alder')
  state.outcomes.broken = 1
  expect(telling.changedStatistics(moment(1_000))).toHaveLength(1)
  expect(telling.changedStatistics(moment(2_000))).toHaveLength(1)
})

test('rows published for earlier counters do not mark the present ones as published', () => {
  const { telling, belief: state } = met('alder')
  state.outcomes.answered = 2
  const rows = telling.changedStatistics(moment(1_000))
  telling.markPublished(rows.map((row): OfferStatistics => ({ ...row, epoch: row.epoch - 1 })))
  expect(telling.changedStatistics(moment(2_000))).toHaveLength(1)
})

test('counters start again once their last publication is more than ten minutes old', () => {
  const publishedThenGrown = (pauseMs: number) => {
    const { telling, belief: state } = met('alder')
    Object.assign(state.outcomes, { answered: 5, lnWaits: 30 })
    telling.markPublished(telling.changedStatistics(moment(2_000)))
    state.outcomes.answered = 7
    return telling.changedStatistics(moment(2_000 + pauseMs))[0]
  }
  expect(publishedThenGrown(600_000)).toMatchObject({ answered: 7, lnWaits: 30, epoch: epoch0 + 1_000 })
  expect(publishedThenGrown(600_001)).toMatchObject({ answered: 2, lnWaits: 0, epoch: epoch0 + 2_000 })
})

test('an epoch is never negative', () => {
  const telling = createPublisher(() => 'here')
  const state = makeOfferState(0)
  state.outcomes.answered = 1
  telling.trackOffer('alder', state)
  expect(telling.changedStatistics({ now: 9_000, at: 5 })[0]?.epoch).toBe(0)
})

test('a pause of a second or more is published once', () => {
  const told = (lastsMs: number) => {
    const { telling, belief: state } = met('alder')
    state.capacity.pausedUntil = 4_000 + lastsMs
    telling.markLimited('alder')
    const pauses = telling.newPauses(moment(4_000))
    return [pauses, telling.newPauses(moment(4_000))]
  }
  expect(told(999)).toEqual([[], []])
  expect(told(1_000)).toEqual([[{ offer: 'alder', until: epoch0 + 5_000 }], []])
})

test('a pause is published again if it grew by a quarter of a second or more', () => {
  const toldAgain = (grewMs: number, known: 'told here' | 'heard') => {
    const { telling, belief: state } = met('alder')
    state.capacity.pausedUntil = 10_000
    telling.markLimited('alder')
    if (known === 'heard') telling.markPaused({ offer: 'alder', until: epoch0 + 10_000 })
    else telling.newPauses(moment(0))
    telling.markPaused({ offer: 'alder', until: epoch0 + 9_000 })
    state.capacity.pausedUntil = 10_000 + grewMs
    telling.markLimited('alder')
    return telling.newPauses(moment(0)).length
  }
  for (const known of ['told here', 'heard'] as const) expect([249, 250].map(grewMs => toldAgain(grewMs, known))).toEqual([0, 1])
})

test('a pause of an unknown offer is not published', () => {
  const { telling } = met('alder')
  telling.markLimited('birch')
  telling.markPaused({ offer: 'birch', until: epoch0 + 9_000 })
  expect(telling.newPauses(moment(0))).toEqual([])
})

test('beyond ten thousand offers the least recently tracked one is forgotten', () => {
  const telling = createPublisher(() => 'here')
  const state = makeOfferState(0)
  state.outcomes.answered = 1
  const named = () => new Set(telling.changedStatistics(moment(1_000)).map(({ offer }) => offer))
  for (let at = 0; at < 10_000; at += 1) telling.trackOffer(`offer-${at}`, state)
  expect(named().size).toBe(10_000)
  telling.trackOffer('offer-0', state)
  telling.trackOffer('another', state)
  const names = named()
  expect([names.size, names.has('offer-0'), names.has('another'), names.has('offer-1')]).toEqual([10_000, true, true, false])
})
