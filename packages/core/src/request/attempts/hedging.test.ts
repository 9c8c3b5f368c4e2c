import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { createCancellation } from '../../runtime/cancellation.ts'
import type { SelectedOffer } from '../../upstream/attempt.ts'
import { abortScope, affordsBeside, hedges, type RacedCall, race } from './hedging.ts'

const request = ({ delivery = 'stream', routing = {}, tools }: { delivery?: string; routing?: object; tools?: readonly object[] } = {}) =>
  ({
    prompt: { input: [], ...(tools && { tools }) },
    routing: { models: ['m'], allow_fallbacks: true, ...routing },
    delivery,
  }) as unknown as InferenceRequest

test('a stream with fallbacks is hedged if the gateway or the request enables it', () => {
  const decided = [
    [true, {}],
    [false, {}],
    [false, { hedge: true }],
    [true, { hedge: false }],
    [true, { allow_fallbacks: false }],
  ] as const
  expect(decided.map(([hedge, routing]) => hedges({ hedge }, request({ routing })))).toEqual([true, false, true, false, false])
  expect(hedges({ hedge: true }, request({ delivery: 'whole' }))).toBe(false)
})

test('a request with a hosted tool is not hedged, since the tool must not run twice', () => {
  const [hosted, own] = [
    { type: 'native', body: { type: 'web_search' } },
    { type: 'function', name: 'f' },
  ]
  expect([[], [own], [own, hosted]].map(tools => hedges({ hedge: true }, request({ tools })))).toEqual([true, true, false])
  const found = {
    type: 'native',
    dialect: 'responses',
    body: {},
    tools: [{ type: 'native', dialect: 'responses', body: { type: 'web_search' } }],
  }
  const plain = request()
  const added = { ...plain, prompt: { ...plain.prompt, input: [found] } } as unknown as InferenceRequest
  expect(hedges({ hedge: true }, added)).toBe(false)
})

test('a second call uses an offer that is free at once and costs no more than the limit', () => {
  const offer = (cost: number, waitMs: number) => ({ choice: { estimate: { cost }, waitMs } }) as SelectedOffer
  const affords = (cost: number, waitMs: number) => affordsBeside({ maxHedgeCost: 0.5 }, offer(cost, waitMs))
  expect([affords(0.5, 0), affords(0.51, 0), affords(0.1, 1), affords(0, 0)]).toEqual([true, false, false, true])
})

function scopeScene() {
  const request = createCancellation()
  const scope = abortScope(request)
  const log: string[] = []
  request.onCancel(() => void log.push('request'))
  scope.onCancel(() => void log.push('scope'))
  return { request, scope, log }
}

test('an aborted scope ends alone and reports it', () => {
  const { request, scope, log } = scopeScene()
  expect(scope.isAborted).toBe(false)
  scope.abort()
  expect([scope.isAborted, scope.reason, request.reason, log]).toEqual([true, 'client_left', undefined, ['scope']])
  scope.abort()
  request.cancel('shut_down')
  expect(log).toEqual(['scope', 'request'])
})

test('a scope ends with its request and with the request’s reason, and was not aborted', () => {
  const { request, scope, log } = scopeScene()
  request.cancel('shut_down')
  expect([scope.isAborted, scope.reason, [...log].sort()]).toEqual([false, 'shut_down', ['request', 'scope']])
})

test('cancelling a scope cancels the whole request', () => {
  const { request, scope, log } = scopeScene()
  scope.cancel('shut_down')
  expect([request.reason, scope.reason, [...log].sort()]).toEqual(['shut_down', 'shut_down', ['request', 'scope']])
})

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

function raceScene({ hasSecond = true, isStuck = false } = {}) {
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
  const { log, clock, first } = raceScene()
  await clock.advance(999)
  first.resolve('a')
  await clock.advance(10_000)
  expect(log).toEqual(['won a'])
})

test('the second call starts after the delay and wins if it succeeds first; the other is aborted', async () => {
  const { log, clock, second } = raceScene()
  await clock.advance(1_000)
  second.resolve('b')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort first', 'won b'])
})

test('the first call may still win after the second started, and then the second is aborted', async () => {
  const { log, clock, first } = raceScene()
  await clock.advance(1_000)
  first.resolve('a')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort second', 'won a'])
})

test('a call that fails leaves the race to the other', async () => {
  const { log, clock, first, second } = raceScene()
  await clock.advance(1_000)
  first.resolve(undefined)
  await clock.advance(0)
  expect(log).toEqual(['begin second'])
  second.resolve('b')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'won b'])
})

test('the race is lost once both have failed, or the only one has', async () => {
  const both = raceScene()
  await both.clock.advance(1_000)
  both.second.resolve(undefined)
  both.first.resolve(undefined)
  await both.clock.advance(10_000)
  expect(both.log).toEqual(['begin second', 'won undefined'])
  const alone = raceScene({ hasSecond: false })
  alone.first.resolve(undefined)
  await alone.clock.advance(10_000)
  expect(alone.log).toEqual(['won undefined'])
  const later = raceScene({ hasSecond: false })
  await later.clock.advance(1_000)
  later.first.resolve('a')
  await later.clock.advance(0)
  expect(later.log).toEqual(['begin second', 'won a'])
})

test('a race is over when the other call has ended; its result is dropped', async () => {
  const { log, clock, first, second } = raceScene({ isStuck: true })
  await clock.advance(1_000)
  first.resolve('a')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort second'])
  second.resolve('b')
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort second', 'drop b', 'won a'])
})

test('an error of one call ends both, and a second error is not reported', async () => {
  const { log, clock, first, second } = raceScene({ isStuck: true })
  await clock.advance(1_000)
  second.reject(new Error('broken'))
  await clock.advance(0)
  first.reject(new Error('later'))
  await clock.advance(0)
  expect(log).toEqual(['begin second', 'abort first', 'error broken'])
})
