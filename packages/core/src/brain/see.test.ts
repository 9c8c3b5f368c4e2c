import { expect, test } from 'vitest'
import { type Belief, type Contender, makeBelief, type Underway } from './belief.ts'
import { refused } from './capacity.ts'
import { feesOf } from './cost.ts'
import { levelNow, observe, shareBeyond } from './latency.ts'
import type { RouterOffer } from './port.ts'
import { afterContent, beforeContent, expected, expectedIf, note } from './rate.ts'
import { bestOf, type Looking, see, seeHopefully, warmAt } from './see.ts'

const now = 1_000_000
const offer: RouterOffer = { id: 'alder', price: { input: 500_000, output: 1_600_000, cached: 50_000 } }

/** An offer that gave two hundred answers around so many milliseconds, the last just now. */
function known(ms = 500): Contender & { readonly belief: Belief } {
  const belief = makeBelief(0)
  for (let at = 1; at <= 200; at += 1) {
    const moment = now - (200 - at) * 1_000
    observe(belief.latency, ms * Math.exp((((at * 7) % 11) - 5) / 12), moment)
    note(belief.failing, beforeContent, { bad: false, now: moment })
  }
  belief.heard = 200
  belief.heardAt = now
  belief.provenAt = now - 60_000
  return { offer, fees: feesOf(offer), belief }
}

const looking = (more: Partial<Looking> = {}): Looking => ({
  now,
  stream: true,
  leftMs: 120_000,
  patienceMs: 2_000,
  best: { level: Math.log(400), speed: Math.log(60) },
  inputTokens: 0,
  outputTokens: 120,
  turns: 1,
  growth: 0,
  warm: 0,
  ...more,
})

/** Calls that are silent, by how many milliseconds ago they went out. */
function silent(contender: ReturnType<typeof known>, agesMs: readonly number[]) {
  for (const age of agesMs) contender.belief.silent.add({ startedAt: now - age, coldTokens: 0 } as Underway)
  return contender
}

test('a conversation is warm at an offer that read it, for as long as that keeps prompts', () => {
  const readers = [
    { id: 'birch', tokens: 9_000, at: now },
    { id: 'alder', tokens: 4_000, at: now - 10_000 },
  ]
  const at = (its: RouterOffer, moment: number) => warmAt(readers, { ...known(), offer: its }, moment)
  expect([at(offer, now), at(offer, now + 289_999), at(offer, now + 290_000)]).toEqual([4_000, 4_000, 0])
  expect([at({ ...offer, cacheMs: 10_001 }, now), at({ ...offer, cacheMs: 10_000 }, now)]).toEqual([4_000, 0])
  expect(at({ ...offer, id: 'cedar' }, now)).toBe(0)
})

test('the best that is known is the fastest level and the fastest writing, of offers that were seen', () => {
  const stranger = { ...known(), belief: makeBelief(now) }
  expect(bestOf([stranger], now)).toEqual({ level: Math.log(600), speed: Math.log(60) })
  const [slow, fast] = [known(900), known(300)]
  Object.assign(slow.belief.speed, { value: 5, seen: 1 })
  expect(bestOf([stranger, slow, fast], now)).toEqual({ level: levelNow(fast.belief.latency, now), speed: 5 })
})

test('calls that are silent for as long as most answers take change nothing', () => {
  expect(see(silent(known(), Array(20).fill(400)), looking())).toEqual(see(known(), looking()))
})

test('calls silent for longer than nearly all answers count as failures to come, eight at most', () => {
  const failure = (calls: number) => see(silent(known(), Array(calls).fill(20_000)), looking()).failure
  const { failing } = known().belief
  const given = (calls: number) => Math.fround(expectedIf(failing, beforeContent, { now, given: calls }))
  expect([1, 2, 7, 8, 9, 30].map(failure)).toEqual([1, 2, 7, 8, 8, 8].map(given))
})

test('several silent calls pull the wait up to where they stand; one does not, and none that a later answer has overtaken', () => {
  const wait = (contender: Contender) => see(contender, looking()).firstContentMs
  const usual = wait(known())
  expect(wait(silent(known(), [750]))).toBeLessThan(usual * 1.3)
  expect(wait(silent(known(), Array(6).fill(3_000)))).toBeGreaterThan(3_000)
  const overtaken = silent(known(), Array(6).fill(3_000))
  overtaken.belief.provenAt = now - 2_000
  expect(wait(overtaken)).toBeLessThan(usual * 1.3)
})

test('an offer without an answer is taken to be as fast as the best of the others', () => {
  const stranger = { ...known(), belief: makeBelief(now) }
  const { firstContentMs, growingMs } = see(stranger, looking({ best: { level: Math.log(300), speed: Math.log(200) } }))
  expect(firstContentMs).toBeCloseTo(300 * stranger.belief.latency.tail, 3)
  expect(growingMs).toBeCloseTo((120 / 200) * 1_000, 3)
})

test('of equal offers the one that was observed longer ago looks faster', () => {
  const { belief } = known()
  const at = (moment: number) => see({ ...known(), belief }, looking({ now: moment })).firstContentMs
  expect(at(now + 300_000)).toBeLessThan(at(now) * 0.95)
})

test('a whole answer fails where a stream would break, since another offer can still be asked', () => {
  const { belief } = known()
  const stream = see({ ...known(), belief }, looking())
  const whole = see({ ...known(), belief }, looking({ stream: false }))
  expect(stream.breaking).toBe(Math.fround(expected(belief.breaking, afterContent, now)))
  expect(whole.breaking).toBe(0)
  expect(whole.failure).toBeCloseTo(1 - (1 - stream.failure) * (1 - stream.breaking), 6)
  expect(whole.lostMs).toBeCloseTo(stream.lostMs + belief.hung.value * 4 * whole.growingMs, 1)
})

test('an answer is late by the share of answers that take longer than what is left', () => {
  const { belief } = known()
  const late = (leftMs: number) => see({ ...known(), belief }, looking({ leftMs })).lateness
  const level = Math.log(see(known(), looking()).firstContentMs / belief.latency.tail)
  expect(late(120_000)).toBe(0)
  expect(late(700)).toBeCloseTo(shareBeyond(belief.latency, Math.log(700) - level), 5)
  expect(late(300)).toBeGreaterThan(late(700))
  expect([late(0), late(-5)]).toEqual([1, 1])
})

test('an offer that is held for less than a request may queue counts as free, and its wait is added', () => {
  const held = (ms: number, warm: number) => {
    const its = known()
    its.belief.capacity.heldUntil = now + ms
    const sight = see(its, looking({ warm, inputTokens: warm }))
    return [sight.heldMs, Math.round(sight.firstContentMs - see(known(), looking({ warm, inputTokens: warm })).firstContentMs)]
  }
  expect(held(2_000, 5_000)).toEqual([0, 2_000])
  expect(held(2_001, 5_000)).toEqual([2_001, 2_001])
  expect(held(160, 0)).toEqual([0, 160])
  expect(held(161, 0)).toEqual([161, 161])
  expect(held(90_000, 0)).toEqual([90_000, 30_000])
})

test('a hopeful estimate leaves out troubles, not limits', () => {
  const its = known()
  for (let at = 0; at < 4; at += 1) note(its.belief.failing, beforeContent, { bad: true, now })
  its.belief.lost.value = 9_000
  refused(its.belief.capacity, now, { retryAfterMs: 3_000, chance: 0.5 })
  const hope = seeHopefully(its, looking({ warm: 7 }))
  expect(see(its, looking()).failure).toBeGreaterThan(0.2)
  expect(hope.failure).toBeLessThanOrEqual(Math.fround(0.006))
  expect(hope).toMatchObject({ lostMs: 400, heldMs: 3_000, lateness: 0, warmTokens: 0 })
})

test('a whole answer is not hoped to break, since another offer could still be asked', () => {
  expect(seeHopefully(known(), looking()).breaking).toBe(Math.fround(known().belief.breaking.usual))
  expect(seeHopefully(known(), looking({ stream: false })).breaking).toBe(0)
})

test('an offer that was slow is hoped to be as in the long run; one unobserved for minutes, better than the best', () => {
  const its = known()
  const { longRun, tail } = its.belief.latency
  its.belief.latency.level = longRun + 2
  expect(seeHopefully(its, looking()).firstContentMs).toBeCloseTo(Math.exp(longRun) * tail, 1)
  its.belief.heardAt = now - 400_000
  expect(seeHopefully(its, looking()).firstContentMs).toBeCloseTo(Math.exp(longRun) * tail, 1)
  its.belief.heardAt = now - 400_001
  expect(seeHopefully(its, looking()).firstContentMs).toBeCloseTo(Math.exp(Math.min(longRun, Math.log(400)) - 0.5) * tail, 1)
})
