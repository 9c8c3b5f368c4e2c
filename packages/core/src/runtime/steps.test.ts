import type { Awaitable } from '@signalbox/storage'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runSteps, type Step, wait } from './steps.ts'

function* sumOf(values: readonly Awaitable<number>[]): Step<number> {
  let sum = 0
  for (const value of values) sum += yield* wait(value)
  return sum
}

const rejected = (reason: string): Promise<never> => Promise.reject(new Error(reason))

function throwing(): Step<never> {
  throw new Error('at once')
}

describe('a step that waits for nothing', () => {
  test('gives its value without a promise', () => {
    expect(runSteps(sumOf([1, 2, 3]))).toBe(6)
  })

  test('throws what it throws', () => {
    function* failing(): Step<number> {
      const value = yield* sumOf([1])
      throw new Error(`at ${value}`)
    }
    expect(() => runSteps(failing())).toThrow('at 1')
    expect(() => runSteps(throwing())).toThrow('at once')
  })
})

describe('a step that waits', () => {
  test('gives a promise of its value, whatever is here and whatever is waited for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.integer(), fc.boolean())), async values => {
        const sum = values.reduce((sum, [value]) => sum + value, 0)
        const result = runSteps(sumOf(values.map(([value, isLate]) => (isLate ? Promise.resolve(value) : value))))
        expect(result instanceof Promise).toBe(values.some(([, isLate]) => isLate))
        expect(await result).toBe(sum)
      }),
    )
  })

  test('goes on in order: nothing behind it runs before what it waits for is here', async () => {
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

  test('rejects with what it throws later', async () => {
    function* failing(): Step<void> {
      yield* wait(Promise.resolve())
      throw new Error('later')
    }
    await expect(runSteps(failing())).rejects.toThrow('later')
  })

  test('is thrown what it waits for rejects with, and may go on', async () => {
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

  test('is thrown it through the steps that called it, each of which cleans up', async () => {
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

  test('cleans up before what it throws at once is thrown', () => {
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

test('what may be waited for is anything that has a `then`', async () => {
  const later = { then: (resolve: (value: number) => void) => resolve(5) } as unknown as Promise<number>
  expect(await runSteps(sumOf([later]))).toBe(5)
})
