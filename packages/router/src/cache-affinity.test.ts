import { expect, test } from 'vitest'
import { makeCacheAffinity } from './cache-affinity.ts'

const warm = (offerId: string, tokens = 2_000, at = 0) => ({ offerId, tokens, at })

test('the last three readers of a conversation are kept, the latest first, without duplicates', () => {
  const affinity = makeCacheAffinity()
  for (const id of ['a', 'b', 'c', 'a', 'd']) affinity.recordRead('talk', warm(id))
  expect(affinity.holders('talk').map(({ offerId }) => offerId)).toEqual(['d', 'a', 'c'])
  expect(affinity.holders('another')).toEqual([])
})

test('a prompt that no provider caches is not recorded', () => {
  const affinity = makeCacheAffinity()
  affinity.recordRead('talk', warm('a', 1_023))
  expect([affinity.holders('talk'), affinity.has('talk')]).toEqual([[], false])
  affinity.recordRead('talk', warm('a', 1_024))
  expect(affinity.holders('talk')).toHaveLength(1)
})

test('a conversation is known once a request of it was counted, even if no offer has read it', () => {
  const affinity = makeCacheAffinity()
  affinity.countTurn('talk', 3_000)
  expect([affinity.has('talk'), affinity.holders('talk'), affinity.has('another')]).toEqual([true, [], false])
})

test('three turns are expected at first, then as many as conversations have, from one to twelve', () => {
  expect(makeCacheAffinity().expectedTurns()).toBe(3)
  const short = makeCacheAffinity()
  for (let at = 0; at < 20_000; at += 1) short.countTurn(`talk-${at}`, 100)
  expect(short.expectedTurns()).toBeCloseTo(1, 2)
  const long = makeCacheAffinity()
  for (let at = 0; at < 20_000; at += 1) long.countTurn('talk', 100)
  expect(long.expectedTurns()).toBe(12)
  const five = makeCacheAffinity()
  for (let at = 0; at < 20_000; at += 1) five.countTurn(`talk-${Math.floor(at / 5)}`, 100)
  expect(five.expectedTurns()).toBeCloseTo(5, 1)
})

test('a caller with a new conversation in every request fills only its own share', () => {
  const affinity = makeCacheAffinity()
  for (let at = 0; at < 60_000; at += 1) affinity.countTurn(`conversation ${at}`, 5_000)
  expect([affinity.has('conversation 9999'), affinity.has('conversation 10000')]).toEqual([false, true])
})

test('the growth per turn is learned from turns that follow a recorded one, and is bounded', () => {
  const affinity = makeCacheAffinity()
  expect(affinity.expectedGrowth()).toBe(400)
  affinity.countTurn('talk', 2_000)
  expect(affinity.expectedGrowth()).toBe(400)
  affinity.recordRead('talk', warm('a', 2_000))
  affinity.countTurn('talk', 2_000)
  affinity.countTurn('talk', 1_500)
  expect(affinity.expectedGrowth()).toBe(400)
  affinity.countTurn('talk', 2_700)
  expect(affinity.expectedGrowth()).toBe(700)
  affinity.countTurn('talk', 9_000_000)
  expect(affinity.expectedGrowth()).toBe((700 + 20_000) / 2)
})
