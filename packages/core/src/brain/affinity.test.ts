import { expect, test } from 'vitest'
import { makeAffinity } from './affinity.ts'

const warm = (id: string, tokens = 2_000, at = 0) => ({ id, tokens, at })

test('the last three readers of a conversation are known, the latest first, each once', () => {
  const affinity = makeAffinity()
  for (const id of ['a', 'b', 'c', 'a', 'd']) affinity.read('talk', warm(id))
  expect(affinity.of('talk').map(({ id }) => id)).toEqual(['d', 'a', 'c'])
  expect(affinity.of('another')).toEqual([])
})

test('a prompt that no provider keeps makes no reader', () => {
  const affinity = makeAffinity()
  affinity.read('talk', warm('a', 1_023))
  expect([affinity.of('talk'), affinity.has('talk')]).toEqual([[], false])
  affinity.read('talk', warm('a', 1_024))
  expect(affinity.of('talk')).toHaveLength(1)
})

test('a conversation is known once a request of it was counted, though none has read it', () => {
  const affinity = makeAffinity()
  affinity.turn('talk', 3_000)
  expect([affinity.has('talk'), affinity.of('talk'), affinity.has('another')]).toEqual([true, [], false])
})

test('three turns are expected at first, and from then on as many as conversations have, from one to twelve', () => {
  expect(makeAffinity().turns()).toBe(3)
  const short = makeAffinity()
  for (let at = 0; at < 20_000; at += 1) short.turn(`talk-${at}`, 100)
  expect(short.turns()).toBeCloseTo(1, 2)
  const long = makeAffinity()
  for (let at = 0; at < 20_000; at += 1) long.turn('talk', 100)
  expect(long.turns()).toBe(12)
  const five = makeAffinity()
  for (let at = 0; at < 20_000; at += 1) five.turn(`talk-${Math.floor(at / 5)}`, 100)
  expect(five.turns()).toBeCloseTo(5, 1)
})

test('how much a turn adds is learned from turns that follow one that was read, and bounded', () => {
  const affinity = makeAffinity()
  expect(affinity.growth()).toBe(400)
  affinity.turn('talk', 2_000)
  expect(affinity.growth()).toBe(400)
  affinity.read('talk', warm('a', 2_000))
  affinity.turn('talk', 2_000)
  affinity.turn('talk', 1_500)
  expect(affinity.growth()).toBe(400)
  affinity.turn('talk', 2_700)
  expect(affinity.growth()).toBe(700)
  affinity.turn('talk', 9_000_000)
  expect(affinity.growth()).toBe((700 + 20_000) / 2)
})
