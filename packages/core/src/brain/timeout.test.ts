import { expect, test } from 'vitest'
import { type Belief, makeBelief } from './belief.ts'
import { beyond, levelNow, observe } from './latency.ts'
import { beforeContent, expected, note } from './rate.ts'
import type { Looking } from './see.ts'
import type { Sight } from './sight.ts'
import { timeoutOf } from './timeout.ts'

const now = 1_000_000

/** An offer that gave a hundred answers around so many milliseconds. */
function known(ms: number, calls = 100): Belief {
  const belief = makeBelief(0)
  for (let at = 0; at < calls; at += 1) {
    const moment = now - (calls - at) * 1_000
    observe(belief.latency, ms * Math.exp(((at % 11) - 5) / 20), moment)
    note(belief.failing, beforeContent, { bad: false, now: moment })
  }
  belief.hung.value = 0
  return belief
}

/** The same offer, of which so many of the last calls were never answered. */
function silent(ms: number, calls: number): Belief {
  const belief = known(ms)
  for (let at = 0; at < calls; at += 1) note(belief.failing, beforeContent, { bad: true, now })
  belief.hung.value = 1
  return belief
}

const looking = (more: Partial<Looking> = {}) => ({ now, stream: true, leftMs: 120_000, inputTokens: 0, ...more }) as Looking

const sight = { growingMs: 3_000 } as Sight

const limits = { ceilingMs: 300_000, coldMs: 10_000, cut: false, leastMs: 0, spare: undefined }

const timeout = (belief: Belief, next: Belief | undefined, more: { readonly [name: string]: unknown } = {}) => {
  const { probing = false, looking: its = looking(), ...bounds } = more
  return timeoutOf({ belief, sight, probing: probing as boolean }, next, { ...limits, looking: its as Looking, ...bounds })
}

/** How much longer than usual the longest of nearly all answers took. */
const longest = ({ latency }: Belief): number => Math.exp(levelNow(latency, now) + latency.p997)

test('an offer that was never silent is waited for twice as long as the longest of nearly all its answers', () => {
  const belief = known(3_000)
  expect(timeout(belief, known(500))).toBeCloseTo(2 * longest(belief), 3)
})

test('no stream is given up before two and a half seconds, however fast its offer usually is', () => {
  expect(timeout(known(50), known(50))).toBe(2_500)
})

test('nobody else left to ask: an attempt gets all the time, up to its ceiling', () => {
  expect(timeout(known(500), undefined)).toBe(120_000)
  expect(timeout(known(500), undefined, { ceilingMs: 30_000 })).toBe(30_000)
  expect(timeout(known(500), undefined, { looking: looking({ leftMs: -5 }) })).toBe(1)
})

test('one that has failed the request already is no reason to give up an offer that is in order', () => {
  expect(timeout(known(500), undefined, { spare: known(500) })).toBe(120_000)
})

test('an offer that leaves calls unanswered is given up early, also in favour of one that has failed the request already', () => {
  const sick = silent(500, 4)
  expect(expected(sick.failing, beforeContent, now)).toBeGreaterThan(0.2)
  expect(timeout(sick, known(500))).toBeLessThan(1_500)
  expect(timeout(sick, undefined, { spare: known(500) })).toBe(timeout(sick, known(500)))
})

test('an offer whose failures are answers, not silence, is waited for as long as one in order', () => {
  const failing = silent(3_000, 4)
  failing.hung.value = 0
  expect(timeout(failing, known(500))).toBeCloseTo(2 * longest(failing), 3)
})

test('failures as usual are no reason to be impatient: healthy answers would be cut', () => {
  const belief = known(3_000)
  belief.failing.usual = 0.024
  belief.hung.value = 1
  expect(expected(belief.failing, beforeContent, now)).toBeGreaterThan(0.02)
  expect(timeout(belief, known(500))).toBeCloseTo(2 * longest(belief), 3)
})

test('a silent offer is given up once that is four times likelier than a slow answer, and never before a second', () => {
  const belief = silent(3_000, 4)
  const slow = Math.exp(levelNow(belief.latency, now))
  const given = timeout(belief, known(500))
  expect(given).toBeGreaterThan(slow)
  expect(given).toBeLessThan(slow * Math.exp(belief.latency.p95))
  expect(timeout(silent(50, 4), known(500))).toBe(1_000)
  const rather = silent(3_000, 0)
  Object.assign(rather.failing, { inOrder: 0.7, ailing: 0.3, sick: 0, dead: 0 })
  const share = 0.3 * (0.08 - rather.failing.usual)
  const odds = share / (1 - share) / 4
  expect(odds).toBeGreaterThan(0.003)
  expect(timeout(rather, known(500))).toBeGreaterThan(given)
  expect(timeout(rather, known(500))).toBeLessThan(longest(rather) * 1.01)
  const never = expected(rather.failing, beforeContent, now) - rather.failing.usual
  const given4 = never / (1 - never) / 4
  expect(timeout(rather, known(500))).toBeCloseTo(Math.exp(levelNow(rather.latency, now) + beyond(rather.latency, given4)), 6)
})

test('a try ends early, after a second at the least, and an unknown offer gets the time-out of strangers', () => {
  expect(timeout(known(50), known(50), { probing: true })).toBe(1_000)
  expect(timeout(known(400, 5), known(400))).toBe(10_000)
  expect(timeout(known(400, 5), known(400), { coldMs: 4_000 })).toBe(4_000)
  expect(timeout(known(400, 5), known(400), { probing: true })).toBeLessThan(10_000)
})

test('so much time stays as the next needs, but an attempt gets its least', () => {
  const next = known(1_000)
  const needs = Math.exp(levelNow(next.latency, now) + next.latency.p95)
  expect(timeout(known(8_000), next, { looking: looking({ leftMs: 10_000 }) })).toBeCloseTo(10_000 - needs, 3)
  expect(timeout(known(8_000), next, { looking: looking({ leftMs: 3_000 }) })).toBe(2_500)
  expect(timeout(known(100), next, { leastMs: 30_000 })).toBe(30_000)
})

test('a whole answer is cut at most once, never before ten seconds, and gets a share of the time left', () => {
  const whole = looking({ stream: false })
  const belief = known(500)
  expect(timeout(belief, known(500), { looking: whole, cut: true })).toBe(120_000)
  expect(timeout(belief, known(500), { looking: whole })).toBeCloseTo(2 * longest(belief) + 10 * 3_000, 3)
  expect(timeout(belief, known(500), { looking: looking({ stream: false, leftMs: 40_000 }) })).toBeCloseTo(0.55 * 40_000, 3)
  expect(timeout(known(500, 5), known(500), { looking: whole })).toBe(40_000)
  const doubted = timeout(silent(500, 4), known(500), { looking: whole })
  expect(doubted).toBeGreaterThanOrEqual(10_000)
  expect(doubted).toBeLessThan(2 * longest(belief) + 10 * 3_000)
})

test('what a prompt adds to the wait is added to the time-out', () => {
  const belief = known(3_000)
  const more = timeout(belief, known(500), { looking: looking({ inputTokens: 100_000 }) }) - timeout(belief, known(500))
  expect(more).toBeCloseTo(3_000, 0)
})
