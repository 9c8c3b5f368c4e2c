import { expect, test } from 'vitest'
import { monotonicClock } from './monotonic-clock.ts'
import { createRouter } from './router.ts'

const offers = [
  { id: 'a', price: { input: 100_000, output: 400_000 } },
  { id: 'b', price: { input: 900_000, output: 3_600_000 } },
]

const reading = (...readings: number[]) => {
  let at = 0
  const clock = monotonicClock(() => readings[at++] as number)
  return readings.map(() => clock())
}

test('time continues at once after a clock was set ahead by an hour and back', () => {
  expect(reading(1_000, 3_601_000, 1_500, 2_500, 3_500)).toEqual([1_000, 3_601_000, 3_601_000, 3_602_000, 3_603_000])
})

test('after a step back of up to a minute time stands still, so that short steps do not add up', () => {
  expect(reading(100_000, 99_000, 40_000, 99_999, 100_001)).toEqual([100_000, 100_000, 100_000, 100_000, 100_001])
})

test('an invalid reading is ignored, including the first', () => {
  expect(reading(Number.NaN, 5, Number.POSITIVE_INFINITY, 7, 1e300, Number.NEGATIVE_INFINITY, 9)).toEqual([0, 5, 5, 7, 7, 7, 9])
})

test('a paused offer is called again after a clock jumped ahead for one reading and back', () => {
  let now = 1_000_000
  const router = createRouter({ offers, clock: { now: () => now }, seed: 1 })
  const ask = (fails: boolean) => {
    const plan = router.plan({ inputTokens: 100 })
    const choice = plan.next()
    if (!choice) throw new Error('A plan has a first choice.')
    const attempt = router.startAttempt(choice)
    now += 50
    if (fails && choice.offer.id === 'a') router.failAttempt(attempt, { kind: 'error' })
    else {
      router.recordFirstContent(attempt)
      router.finishAttempt(attempt, { outputTokens: 10 })
    }
    now += 950
    return choice
  }
  for (let at = 0; at < 30; at += 1) ask(false)
  for (let at = 0; at < 20; at += 1) ask(true)
  now += 3_600_000
  router.plan({ inputTokens: 100, dryRun: true }).choices()
  now -= 3_600_000
  const after = Array.from({ length: 300 }, () => ask(false))
  expect(after.slice(60).filter(({ offer }) => offer.id === 'a').length).toBeGreaterThan(200)
  expect(after.at(-1)?.estimate.firstContentMs).toBeGreaterThan(30)
})

test('a single invalid reading has no effect on the learned state', () => {
  let now = 1_000
  const router = createRouter({ offers, clock: { now: () => now }, seed: 1 })
  for (const moment of [2_000, Number.NaN, 3_000, Number.POSITIVE_INFINITY, 4_000]) {
    now = moment
    const choice = router.plan({ inputTokens: 100 }).next()
    if (!choice) throw new Error('A plan has a first choice.')
    const attempt = router.startAttempt(choice)
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt)
  }
  now = 5_000
  for (const { estimate, waitMs, timeoutMs } of router.plan({ inputTokens: 100 }).choices())
    for (const value of [...Object.values(estimate), waitMs, timeoutMs]) expect(value).not.toBeNaN()
})
