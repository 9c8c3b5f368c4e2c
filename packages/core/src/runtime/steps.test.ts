import type { Awaitable } from '@signalbox/storage'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Interruption, runSteps, type Step, wait } from './steps.ts'

function* sumOf(values: readonly Awaitable<number>[]): Step<number> {
  let sum = 0
  for (const value of values) sum += yield* wait(value)
  return sum
}

const rejected = (reason: string): Promise<never> => Promise.reject(new Error(reason))

function throwing(): Step<never> {
  throw new Error('at once')
}

describe('a step that never waits', () => {
  test('returns its value without a promise', () => {
    expect(runSteps(sumOf([1, 2, 3]))).toBe(6)
  })

  test('throws its error synchronously', () => {
    function* failing(): Step<number> {
      const value = yield* sumOf([1])
      throw new Error(`at ${value}`)
    }
    expect(() => runSteps(failing())).toThrow('at 1')
    expect(() => runSteps(throwing())).toThrow('at once')
  })
})

describe('a step that waits', () => {
  test('returns a promise of its value, whether waited values are available or pending', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.integer(), fc.boolean())), async values => {
        const sum = values.reduce((sum, [value]) => sum + value, 0)
        const result = runSteps(sumOf(values.map(([value, isLate]) => (isLate ? Promise.resolve(value) : value))))
        expect(result instanceof Promise).toBe(values.some(([, isLate]) => isLate))
        expect(await result).toBe(sum)
      }),
    )
  })

  test('continues in order: no later code runs before the awaited value is available', async () => {
    const log: string[] = []
    function* logging(): Step<void> {
      log.push('before')
      yield* wait(Promise.resolve())
      log.push('after')
    }
    const result = runSteps(logging())
    log.push('outside')
    await result
    expect(log).toEqual(['before', 'outside', 'after'])
  })

  test('rejects with an error that it throws later', async () => {
    function* failing(): Step<void> {
      yield* wait(Promise.resolve())
      throw new Error('later')
    }
    await expect(runSteps(failing())).rejects.toThrow('later')
  })

  test('throws the reason of an awaited rejection inside the step, which may continue', async () => {
    function* catching(): Step<string> {
      try {
        yield* wait(rejected('gone'))
        return 'not here'
      } catch (error) {
        const again = yield* wait(Promise.resolve('again'))
        return `${String(error)}, ${again}`
      }
    }
    expect(await runSteps(catching())).toBe('Error: gone, again')
    await expect(runSteps(sumOf([1, rejected('gone'), 2]))).rejects.toThrow('gone')
  })

  test('throws it through the calling steps, each of which cleans up', async () => {
    const log: string[] = []
    function* inner(value: Awaitable<number>): Step<number> {
      try {
        return yield* wait(value)
      } finally {
        log.push('inner')
      }
    }
    function* outer(value: Awaitable<number>): Step<number> {
      try {
        return yield* inner(value)
      } finally {
        yield* wait(Promise.resolve())
        log.push('outer')
      }
    }
    expect(await runSteps(outer(1))).toBe(1)
    expect(await runSteps(outer(Promise.resolve(2)))).toBe(2)
    await expect(runSteps(outer(rejected('gone')))).rejects.toThrow('gone')
    expect(log).toEqual(['inner', 'outer', 'inner', 'outer', 'inner', 'outer'])
  })

  test('cleans up before a synchronous error is thrown', () => {
    const log: string[] = []
    function* cleaning(): Step<void> {
      try {
        yield* throwing()
      } finally {
        log.push('clean')
      }
    }
    expect(() => runSteps(cleaning())).toThrow('at once')
    expect(log).toEqual(['clean'])
  })
})

test('anything with a `then` can be awaited', async () => {
  const later = { then: (resolve: (value: number) => void) => resolve(5) } as unknown as Promise<number>
  expect(await runSteps(sumOf([later]))).toBe(5)
})

describe('an interruption', () => {
  function watching() {
    const state = { interrupt: undefined as ((error: unknown) => void) | undefined, watches: 0 }
    const interruption: Interruption = {
      isOn: true,
      watch(interrupt) {
        state.interrupt = interrupt
        state.watches += 1
        return () => {
          state.watches -= 1
        }
      },
    }
    return { state, interruption }
  }

  test('ends a wait that would never end; the step releases what it holds, and waits for nothing more', async () => {
    const { state, interruption } = watching()
    const log: string[] = []
    function* waiting(): Step<void> {
      try {
        yield* wait(new Promise<void>(() => {}))
      } finally {
        log.push('gives back')
        yield* wait(new Promise<void>(() => {}))
        yield* wait(rejected('late'))
        log.push('and is over')
      }
    }
    const result = runSteps(waiting(), interruption)
    state.interrupt?.(new Error('interrupted'))
    await expect(result).rejects.toThrow('interrupted')
    expect([log, state.watches]).toEqual([['gives back', 'and is over'], 0])
  })

  test('ends a wait once, even if it comes at once, twice, or together with a rejection', async () => {
    const error = new Error('interrupted')
    let thrown = 0
    function* waiting(): Step<void> {
      try {
        yield* wait(rejected('by itself'))
      } catch (error) {
        thrown += 1
        throw error
      }
    }
    const interruption: Interruption = {
      isOn: true,
      watch(interrupt) {
        interrupt(error)
        interrupt(new Error('again'))
        return () => {}
      },
    }
    await expect(runSteps(waiting(), interruption)).rejects.toBe(error)
    expect(thrown).toBe(1)
  })

  test('does not affect waits after it is off, or later waits', async () => {
    const { state, interruption } = watching()
    function* waiting(): Step<number> {
      const first = yield* wait(Promise.resolve(1))
      interruption.isOn = false
      return first + (yield* wait(Promise.resolve(2)))
    }
    const result = runSteps(waiting(), interruption)
    expect(await result).toBe(3)
    state.interrupt?.(new Error('too late'))
    expect(state.watches).toBe(0)
  })
})
