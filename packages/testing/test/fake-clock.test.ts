import { describe, expect, test } from 'vitest'
import { fakeClock } from '../src/fake-clock.ts'

describe('the fake clock', () => {
  test('does not advance by itself', async () => {
    const clock = fakeClock({ now: 1_000 })
    await new Promise(resolve => setTimeout(resolve, 5))
    expect(clock.now()).toBe(1_000)
    expect(clock.monotonic()).toBe(0)
  })

  test('runs due timers in order of time, then of creation', async () => {
    const clock = fakeClock({ now: 0 })
    const ran: string[] = []
    clock.setTimeout(() => ran.push(`late at ${clock.now()}`), 20)
    clock.setTimeout(() => ran.push(`early at ${clock.now()}`), 10)
    clock.setTimeout(() => ran.push(`second at ${clock.now()}`), 20)
    clock.setTimeout(() => ran.push('never'), 21)
    await clock.advance(20)
    expect(ran).toEqual(['early at 10', 'late at 20', 'second at 20'])
    expect(clock.pending()).toBe(1)
    expect(clock.now()).toBe(20)
  })

  test('is whole after part of a millisecond, as the clock of the runtime is', async () => {
    const clock = fakeClock({ now: 1_000 })
    await clock.advance(1_000 / 3)
    expect([clock.now(), clock.monotonic()]).toEqual([1_333, expect.closeTo(333.333, 3)])
    await clock.advance(1_000 / 3)
    expect(clock.now()).toBe(1_666)
    clock.jump(0.5)
    expect(clock.now()).toBe(1_667)
  })

  test('a timer set by a timer runs within the same advance', async () => {
    const clock = fakeClock({ now: 0 })
    const at: number[] = []
    const wait = (ms: number): Promise<void> => new Promise(resolve => clock.setTimeout(resolve, ms))
    const work = async (): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        await wait(10)
        await Promise.resolve().then(() => Promise.resolve())
        at.push(clock.now())
      }
    }
    const working = work()
    await clock.advance(30)
    await working
    expect(at).toEqual([10, 20, 30])
  })

  test('a cleared timer does not run, even if a timer of the same advance clears it', async () => {
    const clock = fakeClock()
    let ran = 0
    const second = clock.setTimeout(() => ran++, 2)
    clock.setTimeout(() => clock.clearTimeout(second), 1)
    await clock.advance(5)
    expect(ran).toBe(0)
    expect(clock.pending()).toBe(0)
  })

  test('a repeating timer stops at the end of the advance', async () => {
    const clock = fakeClock()
    let ticks = 0
    const tick = (): void => {
      ticks++
      clock.setTimeout(tick, 100)
    }
    clock.setTimeout(tick, 100)
    await clock.advance(1_000)
    expect(ticks).toBe(10)
  })
})
