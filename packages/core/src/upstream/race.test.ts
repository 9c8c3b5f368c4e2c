import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { type RacedCall, race } from './race.ts'

/** A call whose result is given later. `isStuck`: it does not end when it is aborted. */
function call(name: string, log: string[], isStuck = false) {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  const raced: RacedCall<string> = {
    result: promise,
    abort() {
      log.push(`abort ${name}`)
      if (!isStuck) resolve(undefined)
    },
  }
  return { raced, resolve, reject }
}

function scene({ hasSecond = true, isStuck = false } = {}) {
  const log: string[] = []
  const clock = fakeClock()
  const [first, second] = [call('first', log, isStuck), call('second', log, isStuck)]
  const outcome = race(first.raced, {
    afterMs: 1_000,
    second() {
      log.push('begin second')
      return hasSecond ? second.raced : undefined
    },
    drop: won => void log.push(`drop ${won}`),
    clock,
  })
  outcome.then(
    won => log.push(`won ${won}`),
    (error: Error) => log.push(`error ${error.message}`),
  )
  return { log, clock, first, second, settle: () => clock.advance(0) }
}

test('a first call that succeeds in time wins, and no second one starts', async () => {
  const { log, clock, first } = scene()
  await clock.advance(999)
  first.resolve('a')
  await clock.advance(10_000)
  expect(log).toEqual(['won a'])
})

test('the second call starts after the delay and wins if it succeeds first; the other is aborted', async () => {
  const { log, clock, second } = scene()
  await clock.advance(1_000)
  second.resolve('b')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort first', 'won b'])
})

test('the first call may still win after the second started, and then the second is aborted', async () => {
  const { log, clock, first } = scene()
  await clock.advance(1_000)
  first.resolve('a')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort second', 'won a'])
})

test('a call that fails leaves the race to the other', async () => {
  const { log, clock, first, second } = scene()
  await clock.advance(1_000)
  first.resolve(undefined)
  await clock.advance(0)
  expect(log).toEqual(['begin second'])
  second.resolve('b')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'won b'])
})

test('the race is lost once both have failed, or the only one has', async () => {
  const both = scene()
  await both.clock.advance(1_000)
  both.second.resolve(undefined)
  both.first.resolve(undefined)
  await both.clock.advance(10_000)
  expect(both.log).toEqual(['begin second', 'won undefined'])
  const alone = scene({ hasSecond: false })
  alone.first.resolve(undefined)
  await alone.clock.advance(10_000)
  expect(alone.log).toEqual(['won undefined'])
  const later = scene({ hasSecond: false })
  await later.clock.advance(1_000)
  later.first.resolve('a')
  await later.clock.advance(0)
  expect(later.log).toEqual(['begin second', 'won a'])
})

test('a race is over when the other call has ended; its result is dropped', async () => {
  const { log, clock, first, second } = scene({ isStuck: true })
  await clock.advance(1_000)
  first.resolve('a')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort second'])
  second.resolve('b')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort second', 'drop b', 'won a'])
})

test('an error of one call ends both, and a second error is not reported', async () => {
  const { log, clock, first, second } = scene({ isStuck: true })
  await clock.advance(1_000)
  second.reject(new Error('broken'))
  await clock.advance(0)
  first.reject(new Error('later'))
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort first', 'error broken'])
})
