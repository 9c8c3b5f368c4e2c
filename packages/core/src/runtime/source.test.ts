import type { Sink, Source } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asIterator, asSource, iteratorOf, sourceOf } from './source.ts'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A reader that records what it receives; `at` runs at each value. */
function noting<T>(at: (value: T) => void = () => {}) {
  const state = { values: [] as T[], ends: 0, failures: [] as unknown[] }
  const sink: Sink<T> = {
    next(value) {
      state.values.push(value)
      at(value)
    },
    end: () => {
      state.ends += 1
    },
    fail: error => void state.failures.push(error),
  }
  return { state, sink }
}

/** An async iterator that counts calls of `next` and `return`. */
function counted<T>(values: readonly T[], { fails }: { readonly fails?: boolean } = {}) {
  const counts = { asked: 0, left: 0 }
  const iterator: AsyncIterator<T, undefined> = {
    async next() {
      counts.asked += 1
      const value = values[counts.asked - 1]
      if (counts.asked <= values.length) return { done: false, value: value as T }
      if (fails) throw new Error('broken')
      return { done: true, value: undefined }
    },
    async return() {
      counts.left += 1
      return { done: true, value: undefined }
    },
  }
  return { counts, iterator }
}

/** A source whose values are pushed by the test, with a log of the calls made to it. */
function pushed<T>() {
  const log: string[] = []
  const state = { sink: undefined as Sink<T> | undefined, log }
  const source: Source<T> = {
    read(sink) {
      log.push('read')
      state.sink = sink
    },
    pause: () => void log.push('pause'),
    resume: () => void log.push('resume'),
    cancel: () => void log.push('cancel'),
  }
  return { state, source }
}

/** A source that pushes all values at once. */
function atOnce<T>(values: readonly T[]): Source<T> {
  let sink: Sink<T> | undefined
  let isPaused = false
  let at = 0
  const push = (): void => {
    while (!isPaused && sink !== undefined && at < values.length) {
      at += 1
      sink.next(values[at - 1] as T)
    }
    if (isPaused || sink === undefined) return
    const ended = sink
    sink = undefined
    ended.end()
  }
  return {
    read(reader) {
      sink = reader
      push()
    },
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
      push()
    },
    cancel: () => {
      sink = undefined
    },
  }
}

async function collected<T>(iterator: AsyncIterator<T, undefined>): Promise<readonly T[]> {
  const values: T[] = []
  for (let step = await iterator.next(); !step.done; step = await iterator.next()) values.push(step.value)
  return values
}

describe('an iterator as a source', () => {
  test('is not requested before it is read, and pushes all values and one end', async () => {
    const { counts, iterator } = counted([1, 2, 3])
    const source = sourceOf(iterator)
    await turn()
    expect(counts.asked).toBe(0)
    const { state, sink } = noting<number>()
    source.read(sink)
    await turn()
    expect(state).toEqual({ values: [1, 2, 3], ends: 1, failures: [] })
    expect(counts).toEqual({ asked: 4, left: 0 })
  })

  test('is not requested while its reader is paused', async () => {
    const { counts, iterator } = counted([1, 2, 3])
    const source = sourceOf(iterator)
    const { state, sink } = noting<number>(value => {
      if (value === 2) source.pause()
    })
    source.read(sink)
    await turn()
    expect([state.values, counts.asked]).toEqual([[1, 2], 2])
    source.resume()
    source.resume()
    await turn()
    expect([state.values, state.ends, counts.asked]).toEqual([[1, 2, 3], 1, 4])
  })

  test('is not requested if it was paused before it was read', async () => {
    const { counts, iterator } = counted([1])
    const source = sourceOf(iterator)
    const { state, sink } = noting<number>()
    source.pause()
    source.read(sink)
    await turn()
    expect(counts.asked).toBe(0)
    source.resume()
    await turn()
    expect(state).toEqual({ values: [1], ends: 1, failures: [] })
  })

  test('reports its failure once', async () => {
    const { iterator } = counted([1], { fails: true })
    const { state, sink } = noting<number>()
    sourceOf(iterator).read(sink)
    await turn()
    expect([state.values, state.ends, state.failures.map(String)]).toEqual([[1], 0, ['Error: broken']])
  })

  test('is closed when it is cancelled, and a pending value is not pushed', async () => {
    const { counts, iterator } = counted([1, 2])
    const source = sourceOf(iterator)
    const { state, sink } = noting<number>()
    source.read(sink)
    source.cancel()
    await turn()
    expect(state).toEqual({ values: [], ends: 0, failures: [] })
    expect(counts).toEqual({ asked: 1, left: 1 })
  })

  test('may be closed in the middle of a value, and may have no `return`', async () => {
    const { iterator } = counted([1, 2])
    const source = sourceOf({ next: () => iterator.next() })
    const { state, sink } = noting<number>(() => source.cancel())
    source.read(sink)
    await turn()
    expect(state).toEqual({ values: [1], ends: 0, failures: [] })
  })

  test('may fail to close without consequences', async () => {
    const source = sourceOf({ next: () => new Promise<never>(() => {}), return: () => Promise.reject(new Error('stuck')) })
    source.read(noting().sink)
    source.cancel()
    await turn()
  })
})

describe('a source as an iterator', () => {
  test('starts at the first read, and is paused while no read is pending', async () => {
    const { state, source } = pushed<number>()
    const iterator = iteratorOf(source)
    expect(state.log).toEqual([])
    const first = iterator.next()
    state.sink?.next(1)
    expect(state.log).toEqual(['read', 'pause'])
    expect(await first).toEqual({ done: false, value: 1 })
    const second = iterator.next()
    expect(state.log).toEqual(['read', 'pause', 'resume'])
    state.sink?.end()
    expect(await second).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  test('keeps values that are pushed while paused, and then its end', async () => {
    const { state, source } = pushed<number>()
    const iterator = iteratorOf(source)
    const first = iterator.next()
    for (const value of [1, 2, 3]) state.sink?.next(value)
    state.sink?.end()
    expect([(await first).value, ...(await collected(iterator))]).toEqual([1, 2, 3])
  })

  test('rejects once with its failure, after the earlier values, and is then over', async () => {
    const { state, source } = pushed<number>()
    const iterator = iteratorOf(source)
    const first = iterator.next()
    for (const value of [1, 2]) state.sink?.next(value)
    state.sink?.fail(new Error('broken'))
    expect([(await first).value, (await iterator.next()).value]).toEqual([1, 2])
    await expect(iterator.next()).rejects.toThrow('broken')
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    const waiting = pushed<number>()
    const other = iteratorOf(waiting.source)
    const pending = other.next()
    waiting.state.sink?.fail(new Error('broken'))
    await expect(pending).rejects.toThrow('broken')
    expect(await other.next()).toEqual({ done: true, value: undefined })
  })

  test('cancels the source once when closed, ends a pending read, and yields nothing more', async () => {
    const { state, source } = pushed<number>()
    const iterator = iteratorOf(source)
    const first = iterator.next()
    for (const value of [1, 2]) state.sink?.next(value)
    await first
    await iterator.next()
    const waiting = iterator.next()
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
    await iterator.return?.()
    expect(state.log.filter(each => each === 'cancel')).toHaveLength(1)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  test('never starts the source if it is closed before its first read', async () => {
    const { state, source } = pushed<number>()
    const iterator = iteratorOf(source)
    await iterator.return?.()
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(state.log).toEqual(['cancel'])
  })

  test('answers concurrent reads in order', async () => {
    const iterator = iteratorOf(sourceOf(counted([1, 2]).iterator))
    const steps = await Promise.race([Promise.all([iterator.next(), iterator.next(), iterator.next()]), turn().then(() => 'stuck')])
    expect(steps).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: true, value: undefined },
    ])
  })
})

describe('either kind', () => {
  test('an iterator is returned unchanged if one is wanted', () => {
    const { iterator } = counted([1])
    expect(asIterator(iterator)).toBe(iterator)
  })

  test.each(['read', 'pause', 'resume'] as const)(
    'a source that throws in %s is cancelled, and its reader is told in a later turn',
    async verb => {
      const { state: asked, source } = pushed<number>()
      const broken = new Error('broken')
      const thrower = (): never => {
        throw broken
      }
      const outer = asSource<number>({ ...source, [verb]: thrower })
      const { state, sink } = noting<number>()
      outer.read(sink)
      if (verb !== 'read') outer[verb]()
      expect(state.failures).toEqual([])
      await turn()
      expect([state.failures, asked.log.at(-1)]).toEqual([[broken], 'cancel'])
    },
  )

  test('a source or an iterator that throws when cancelled is cancelled anyway', () => {
    const thrower = (): never => {
      throw new Error('broken')
    }
    expect(asSource<number>({ ...pushed<number>().source, cancel: thrower }).cancel()).toBe(undefined)
    expect(asSource<number>({ ...counted([1]).iterator, return: thrower }).cancel()).toBe(undefined)
  })

  test('an iterator that throws when requested has failed', () => {
    const broken = new Error('broken')
    const { state, sink } = noting<number>()
    const next = (): never => {
      throw broken
    }
    asSource<number>({ next }).read(sink)
    expect(state.failures).toEqual([broken])
  })

  test('all values arrive in order, however reads and pauses are interleaved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer()), fc.array(fc.nat(3)), fc.boolean(), async (values, pauses, isPulled) => {
        const source = asSource<number>(isPulled ? counted(values).iterator : atOnce(values))
        // Each value pauses the source for the given number of event loop turns.
        const { state, sink } = noting<number>(() => {
          const turns = pauses[state.values.length - 1] ?? 0
          if (turns === 0) return
          source.pause()
          const waited = Array.from({ length: turns }).reduce((before: Promise<void>) => before.then(turn), Promise.resolve())
          void waited.then(() => source.resume())
        })
        const ended = new Promise<void>(resolve => source.read({ ...sink, end: resolve }))
        await ended
        expect(state.values).toEqual(values)
      }),
      { numRuns: 50 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer()), async values => {
        expect(await collected(asIterator(sourceOf(counted(values).iterator)))).toEqual(values)
        expect(await collected(asIterator(asSource(atOnce(values))))).toEqual(values)
      }),
    )
  })
})
