import { fakeClock } from '@signalbox/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isReading, noteContent, pausedShare, readerPaused, readerResumed, startStream, startTimer, stopTimer } from './answer-timer.ts'

/** A timer, its reports with their times, and how many timers of the clock it took. */
function started(milliseconds: number) {
  const clock = fakeClock()
  const over: string[] = []
  const state = { timersSet: 0 }
  const counting = {
    ...clock,
    setTimeout(run: () => void, delay: number) {
      state.timersSet += 1
      return clock.setTimeout(run, delay)
    },
  }
  const timer = startTimer(counting, { milliseconds, now: clock.monotonic() }, why => over.push(`${why} at ${clock.monotonic()}`))
  return { clock, over, state, timer }
}

/** The response is a stream that is being read. */
function streaming(milliseconds: number, times: { readonly idleMs: number; readonly deadlineAt: number }) {
  const all = started(milliseconds)
  startStream(all.timer, times)
  readerResumed(all.timer)
  return all
}

describe('before the response begins', () => {
  test('the timer fires after its time limit', async () => {
    const { clock, over } = started(500)
    await clock.advance(499)
    expect(over).toEqual([])
    await clock.advance(1_000)
    expect(over).toEqual(['timed_out at 500'])
    expect(clock.pending()).toBe(0)
  })

  test('a limit of zero fires soon, and not synchronously in the start call', async () => {
    const { clock, over } = started(-5)
    expect(over).toEqual([])
    await clock.advance(1)
    expect(over).toEqual(['timed_out at 1'])
  })

  test('a stopped timer reports nothing and leaves no timer', async () => {
    const { clock, over, timer } = started(500)
    stopTimer(timer)
    expect(clock.pending()).toBe(0)
    await clock.advance(1_000)
    expect(over).toEqual([])
  })
})

describe('a stream', () => {
  test('times out after its longest silence', async () => {
    const { clock, over, timer } = streaming(500, { idleMs: 300, deadlineAt: 60_000 })
    await clock.advance(200)
    noteContent(timer)
    await clock.advance(299)
    expect(over).toEqual([])
    await clock.advance(1)
    expect(over).toEqual(['idle at 500'])
    expect(clock.pending()).toBe(0)
  })

  test('may take longer than a response may take to begin', async () => {
    const { clock, over, timer } = streaming(500, { idleMs: 400, deadlineAt: 60_000 })
    for (let at = 0; at < 10; at += 1) {
      await clock.advance(300)
      noteContent(timer)
    }
    expect(over).toEqual([])
  })

  test('times out at the deadline, however many events arrive', async () => {
    const { clock, over, timer } = streaming(500, { idleMs: 300, deadlineAt: 1_000 })
    for (let at = 0; at < 20; at += 1) {
      await clock.advance(100)
      noteContent(timer)
    }
    expect(over).toEqual(['deadline at 1000'])
  })

  test('whose deadline comes before its silence limit times out by the deadline', async () => {
    const { clock, over } = streaming(5_000, { idleMs: 3_000, deadlineAt: 700 })
    await clock.advance(5_000)
    expect(over).toEqual(['deadline at 700'])
  })

  test('takes one timer at a time, and an event takes none', async () => {
    const { clock, timer, state } = streaming(1_000, { idleMs: 1_000, deadlineAt: 60_000 })
    for (let at = 0; at < 1_000; at += 1) noteContent(timer)
    expect([state.timersSet, clock.pending()]).toEqual([1, 1])
    for (let at = 0; at < 100; at += 1) {
      await clock.advance(100)
      noteContent(timer)
      expect(clock.pending()).toBe(1)
    }
    // Ten seconds: one timer for about each second.
    expect(state.timersSet).toBeLessThanOrEqual(12)
  })
})

describe('a reader that pauses', () => {
  test('does not count as a silent provider, for however long', async () => {
    const { clock, over, timer } = streaming(500, { idleMs: 300, deadlineAt: 60_000 })
    await clock.advance(200)
    readerPaused(timer)
    await clock.advance(10_000)
    expect([over, isReading(timer)]).toEqual([[], false])
    readerResumed(timer)
    await clock.advance(299)
    expect([over, isReading(timer)]).toEqual([[], true])
    await clock.advance(1)
    expect(over).toEqual(['idle at 10500'])
  })

  test('is held to the deadline', async () => {
    const { clock, over, timer } = streaming(500, { idleMs: 300, deadlineAt: 1_000 })
    readerPaused(timer)
    await clock.advance(5_000)
    expect(over).toEqual(['deadline at 1000'])
  })

  test('before its first read is waited for in the same way', async () => {
    const { clock, over, timer } = started(500)
    startStream(timer, { idleMs: 300, deadlineAt: 2_000 })
    await clock.advance(1_999)
    expect([over, isReading(timer)]).toEqual([[], false])
    await clock.advance(1)
    expect(over).toEqual(['deadline at 2000'])
  })

  test('has paused for the share of the time that its pauses took, the current one included', async () => {
    const { clock, timer } = streaming(500, { idleMs: 10_000, deadlineAt: 60_000 })
    await clock.advance(1_000)
    readerPaused(timer)
    await clock.advance(999)
    expect(pausedShare(timer)).toBeCloseTo(999 / 1_999)
    await clock.advance(2)
    expect(pausedShare(timer)).toBeCloseTo(1_001 / 2_001)
    readerResumed(timer)
    await clock.advance(2_001)
    expect(pausedShare(timer)).toBeCloseTo(1_001 / 4_002)
  })

  test('that paused only briefly has not paused, even though the provider was faster still', async () => {
    const { clock, timer } = streaming(500, { idleMs: 10_000, deadlineAt: 60_000 })
    readerPaused(timer)
    await clock.advance(100)
    expect(pausedShare(timer)).toBe(0)
    await clock.advance(1)
    expect(pausedShare(timer)).toBe(1)
  })
})

test('a stream times out exactly if it was silent too long while its reader waited, or at the deadline', async () => {
  const aMove = fc.record({ what: fc.constantFrom('event', 'pause', 'resume'), afterMs: fc.integer({ min: 0, max: 400 }) })
  const times = fc.record({ ceilingMs: fc.integer({ min: 1, max: 600 }), idleMs: fc.integer({ min: 1, max: 500 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(aMove, { maxLength: 12 }), times, async (moves, { ceilingMs, idleMs }) => {
      const deadlineAt = 1_500
      const { clock, over, timer } = streaming(ceilingMs, { idleMs, deadlineAt })
      let since: number | undefined = 0
      let expected: string | undefined
      const passTo = (now: number): void => {
        const idleAt = since === undefined ? Number.POSITIVE_INFINITY : since + idleMs
        if (expected === undefined && Math.min(idleAt, deadlineAt) <= now)
          expected = deadlineAt <= idleAt ? `deadline at ${deadlineAt}` : `idle at ${idleAt}`
      }
      for (const { what, afterMs } of moves) {
        await clock.advance(afterMs)
        passTo(clock.monotonic())
        if (what === 'event') {
          noteContent(timer)
          if (since !== undefined) since = clock.monotonic()
        } else if (what === 'pause') {
          readerPaused(timer)
          since = undefined
        } else {
          readerResumed(timer)
          since ??= clock.monotonic()
        }
      }
      await clock.advance(3_000)
      passTo(clock.monotonic())
      expect(over).toEqual([expected])
    }),
    { numRuns: 200 },
  )
})
