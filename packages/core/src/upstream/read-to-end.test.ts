import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import type { Clock } from '../runtime/ports.ts'
import { ProviderStream, type StreamParts } from './answer-stream.ts'
import { startTimer } from './answer-timer.ts'

/** A stream whose last event was delivered at the given time. */
function ended(clock: Clock, { closeFails = false } = {}) {
  const log: string[] = []
  const connection = {
    cancellation: { onCancel: () => () => {} },
    close() {
      log.push('closed')
      if (closeFails) throw new Error('It belongs to another request.')
    },
    release: () => void log.push('released'),
  }
  const source = { resume: () => void log.push('resumed'), cancel: () => void log.push('cancelled') }
  const format = { push: () => [], end: () => [] }
  const decoder = { read: () => [{ type: 'finished', outcome: { status: 'completed' } }] }
  const timer = startTimer(clock, { milliseconds: 1, now: clock.monotonic() }, () => {})
  const parts = { source, format, decoder, connection, timer, isWhole: true } as unknown as StreamParts<Uint8Array>
  const sink = { next: () => {}, end: () => {}, fail: () => {} }
  const stream = new ProviderStream(parts, { onContent: answer => answer.read(sink), onFailure: () => {} })
  stream.next(new Uint8Array())
  // Resumed by its reader, then to be read to its end.
  expect(log.splice(0, 1)).toEqual(['resumed'])
  return { stream, log }
}

test('a connection that the provider keeps open is closed a second after the last event', async () => {
  const clock = fakeClock()
  const { log } = ended(clock)
  await clock.advance(999)
  expect(log).toEqual(['resumed'])
  await clock.advance(1)
  expect(log).toEqual(['resumed', 'closed', 'cancelled', 'released'])
  expect(clock.pending()).toBe(0)
})

test('a connection that ends is released at once, and is not closed later', async () => {
  const clock = fakeClock()
  const { stream, log } = ended(clock)
  await clock.advance(10)
  stream.end()
  await clock.advance(5_000)
  expect(log).toEqual(['resumed', 'released'])
})

test('a provider that keeps sending after the last event is closed at its eighth read', async () => {
  const clock = fakeClock()
  const { stream, log } = ended(clock)
  await clock.advance(0)
  for (let reads = 0; reads < 7; reads += 1) stream.next(new Uint8Array())
  expect(log).toEqual(['resumed'])
  stream.next(new Uint8Array())
  expect(log).toEqual(['resumed', 'closed', 'cancelled', 'released'])
})

test('many connections share one timer, and each is closed a second after its own last event', async () => {
  const clock = fakeClock()
  const logs: string[][] = []
  for (let at = 0; at < 5; at += 1) {
    logs.push(ended(clock).log)
    await clock.advance(300)
    expect(clock.pending()).toBe(1)
  }
  const closed = () => logs.map(log => log.includes('closed'))
  expect(closed()).toEqual([true, true, false, false, false])
  await clock.advance(300)
  expect(closed()).toEqual([true, true, true, false, false])
  await clock.advance(600)
  expect(closed()).toEqual([true, true, true, true, true])
  expect(clock.pending()).toBe(0)
})

test('a connection that cannot be closed, because its request is over, does not keep the others open', async () => {
  const clock = fakeClock()
  const foreign = ended(clock, { closeFails: true })
  const { log } = ended(clock)
  await clock.advance(1_000)
  expect(log).toContain('closed')
  foreign.stream.end()
  expect(foreign.log).toEqual(['resumed', 'closed'])
})

test('a timer that the runtime dropped with its request is set again by a later stream', async () => {
  const clock = fakeClock()
  let isDropping = true
  const dropping: Clock = { ...clock, setTimeout: (run, ms) => (isDropping ? 0 : clock.setTimeout(run, ms)) }
  const first = ended(dropping)
  await clock.advance(0)
  isDropping = false
  await clock.advance(10_000)
  const second = ended(dropping)
  await clock.advance(1_000)
  expect([first.log.includes('closed'), second.log.includes('closed')]).toEqual([true, true])
})
