import { expect, test } from 'vitest'
import { createLastingTimer } from './lasting-timer.ts'
import { createSingleRun } from './single-run.ts'

/** A clock whose timers can be dropped, as Workers drop the timers of a finished request. */
function createFixture() {
  let now = 0
  let set: (() => void)[] = []
  const clock = {
    now: () => now,
    monotonic: () => now,
    setTimeout(run: () => void) {
      set.push(run)
      return set.length
    },
    clearTimeout() {},
  }
  const fire = (): void => {
    for (const run of set.splice(0)) run()
  }
  const drop = (): void => {
    set = []
  }
  const advance = (milliseconds: number): void => {
    now += milliseconds
  }
  return { clock, fire, drop, advance, count: () => set.length }
}

test('only one timer is set at a time, and a timer dropped by the runtime can be set again', () => {
  const { clock, fire, drop, advance, count } = createFixture()
  let runs = 0
  const timer = createLastingTimer(clock, () => {
    runs += 1
  })
  timer.set(200)
  timer.set(200)
  expect(count()).toBe(1)
  fire()
  expect([runs, timer.isSet()]).toEqual([1, false])
  timer.set(200)
  drop()
  advance(1_000)
  timer.set(200)
  expect(count()).toBe(0)
  advance(2_000)
  timer.set(200)
  fire()
  expect(runs).toBe(2)
})

test('only one run is active at a time, and a dropped run does not block later ones', async () => {
  const { clock, advance } = createFixture()
  const runs = createSingleRun(clock, 10_000)
  let begun = 0
  const lost = () => {
    begun += 1
    return new Promise<void>(() => {})
  }
  expect(runs.begin(lost)).toBeDefined()
  expect(runs.begin(lost)).toBeUndefined()
  advance(10_000)
  expect(runs.isUnderWay()).toBe(false)
  await runs.begin(async () => {
    begun += 1
  })
  expect([begun, runs.isUnderWay(), runs.ended()]).toEqual([2, false, undefined])
})
