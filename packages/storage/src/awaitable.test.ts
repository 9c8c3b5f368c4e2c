import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type Awaitable, allOf, allSettled, andThen, isPromise, promised, recover } from './awaitable.ts'

/** The outcome of a callback, and whether it is delivered by a promise. */
interface Way {
  readonly value: number
  readonly fails: boolean
  readonly waits: boolean
}
const aWay: fc.Arbitrary<Way> = fc.record({ value: fc.integer(), fails: fc.boolean(), waits: fc.boolean() })

const runOf =
  ({ value, fails, waits }: Way) =>
  (): Awaitable<number> => {
    if (waits) return fails ? Promise.reject(new Error(`${value}`)) : Promise.resolve(value)
    if (fails) throw new Error(`${value}`)
    return value
  }

/** The outcome of a function, and whether it was available synchronously. */
async function endOf(run: () => unknown): Promise<{ readonly end: unknown; readonly atOnce: boolean }> {
  let value: unknown
  try {
    value = run()
  } catch (error) {
    return { end: `threw ${String(error)}`, atOnce: true }
  }
  if (!isPromise(value)) return { end: value, atOnce: true }
  return { end: await value.catch((error: unknown) => `threw ${String(error)}`), atOnce: false }
}

/** Unhandled rejections during the test. */
function unhandled(): { readonly reasons: unknown[]; readonly turn: () => Promise<void> } {
  const reasons: unknown[] = []
  const note = (reason: unknown): void => void reasons.push(reason)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', note)
  onTestFinished(() => {
    process.removeListener('unhandledRejection', note)
    for (const other of others) process.on('unhandledRejection', other)
  })
  return { reasons, turn: () => new Promise(resolve => setImmediate(resolve)) }
}

test('andThen continues synchronously with a value and asynchronously with a promise, with the same result', () =>
  fc.assert(
    fc.asyncProperty(fc.integer(), fc.boolean(), aWay, async (given, waits, way) => {
      const value: Awaitable<number> = waits ? Promise.resolve(given) : given
      const next = (input: number): Awaitable<readonly number[]> => andThen(runOf(way)(), output => [input, output])
      const { end, atOnce } = await endOf(() => andThen(value, next))
      expect(end).toEqual(way.fails ? `threw Error: ${way.value}` : [given, way.value])
      expect(atOnce).toBe(!waits && !way.waits)
    }),
  ))

test('andThen passes on a rejection and does not call its function', async () => {
  let went = false
  const later = andThen(Promise.reject(new Error('down')), () => {
    went = true
  })
  await expect(later).rejects.toThrow('down')
  expect(went).toBe(false)
})

test('recover handles a thrown error and a rejection alike', () =>
  fc.assert(
    fc.asyncProperty(aWay, aWay, async (first, second) => {
      const { end, atOnce } = await endOf(() => recover(runOf(first), error => andThen(runOf(second)(), value => `${error} ${value}`)))
      const instead = second.fails ? `threw Error: ${second.value}` : `Error: ${first.value} ${second.value}`
      expect(end).toBe(first.fails ? instead : first.value)
      expect(atOnce).toBe(!first.waits && !(first.fails && second.waits))
    }),
  ))

test('allOf settles like Promise.all of the same functions made async, and calls all of them', () =>
  fc.assert(
    fc.asyncProperty(fc.array(aWay, { maxLength: 6 }), async ways => {
      let calls = 0
      const counted = ways.map(way => () => {
        calls += 1
        return runOf(way)()
      })
      const { end, atOnce } = await endOf(() => allOf(counted))
      expect(calls).toBe(ways.length)
      expect(atOnce).toBe(!ways.some(({ waits }) => waits))
      const failures = ways.filter(({ fails }) => fails).map(({ value }) => `threw Error: ${value}`)
      if (failures.length === 0) expect(end).toEqual(ways.map(({ value }) => value))
      else expect(failures).toContain(end)
    }),
  ))

test('allOf fails with the first failure without waiting for the others', async () => {
  const never = (): Promise<never> => new Promise(() => {})
  const fails = (): never => {
    throw new Error('at once')
  }
  await expect(allOf([never, fails, () => Promise.reject(new Error('later'))])).rejects.toThrow('at once')
  await expect(allOf([never, () => Promise.reject(new Error('first')), () => Promise.reject(new Error('second'))])).rejects.toThrow('first')
})

test('allOf and allSettled leave no rejection unhandled, even if another function throws', async () => {
  const { reasons, turn } = unhandled()
  await fc.assert(
    fc.asyncProperty(fc.array(aWay, { maxLength: 6 }), async ways => {
      await endOf(() => allOf(ways.map(runOf)))
      await endOf(() => allSettled(ways.map(runOf)))
      await turn()
      expect(reasons).toEqual([])
    }),
  )
  void Promise.reject(new Error('seen'))
  await turn()
  expect(reasons).toHaveLength(1)
})

test('allSettled returns how each ended, as Promise.allSettled does, and never fails', () =>
  fc.assert(
    fc.asyncProperty(fc.array(aWay, { maxLength: 6 }), async ways => {
      const { end, atOnce } = await endOf(() => allSettled(ways.map(runOf)))
      expect(end).toEqual(await Promise.allSettled(ways.map(way => promised(runOf(way)))))
      expect(atOnce).toBe(!ways.some(({ waits }) => waits))
    }),
  ))

test('promised returns a promise for any value, promise or error', () =>
  fc.assert(
    fc.asyncProperty(aWay, async way => {
      const { end, atOnce } = await endOf(() => promised(runOf(way)))
      expect(end).toBe(way.fails ? `threw Error: ${way.value}` : way.value)
      expect(atOnce).toBe(false)
    }),
  ))

test('thenables and promises of another realm are awaited; an object whose then is not a function is not', async () => {
  const thenable = { then: (resolve: (value: number) => void) => resolve(7) } as unknown as Promise<number>
  expect(await andThen(thenable, value => value + 1)).toBe(8)
  expect(await recover(() => thenable, String)).toBe(7)
  for (const value of [{ then: 'later' }, { metadata: { then: 1 } }, null, undefined, 0, '', () => 1]) expect(isPromise(value)).toBe(false)
})
