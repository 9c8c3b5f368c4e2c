import { expect, test } from 'vitest'
import { NotSentError } from './client.ts'
import { createGates, Gate } from './gate.ts'

/** Work that ends when it is told to. */
function heldWork() {
  let end = (): void => {}
  const done = new Promise<void>(resolve => {
    end = resolve
  })
  return { end, run: () => done }
}
const turn = () => new Promise(resolve => setImmediate(resolve))

test('so many statements run at once, and the others in order of arrival', async () => {
  const gate = new Gate({ size: 2, waitMs: 5_000 })
  const works = [heldWork(), heldWork(), heldWork(), heldWork()]
  const begun: number[] = []
  const all = works.map(({ run }, at) =>
    gate.run(() => {
      begun.push(at)
      return run()
    }),
  )
  await turn()
  expect(begun).toEqual([0, 1])
  works[1]?.end()
  await turn()
  expect(begun).toEqual([0, 1, 2])
  for (const { end } of works) end()
  await Promise.all(all)
  expect(begun).toEqual([0, 1, 2, 3])
})

test('a statement that finds no place in time was not sent, and its place in the queue is given up', async () => {
  const gate = new Gate({ size: 1, waitMs: 20 })
  const first = heldWork()
  const running = gate.run(first.run)
  await expect(gate.run(async () => 'late')).rejects.toBeInstanceOf(NotSentError)
  first.end()
  await running
  expect(await gate.run(async () => 'next')).toBe('next')
})

test('a statement that fails leaves its place', async () => {
  const gate = new Gate({ size: 1, waitMs: 20 })
  await expect(gate.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await gate.run(async () => 'next')).toBe('next')
})

test.each([
  [1, { all: 1, reports: 1 }],
  [2, { all: 2, reports: 1 }],
  [3, { all: 2, reports: 1 }],
  [10, { all: 9, reports: 5 }],
])('of %i connections, reports may use half, and one of three or more is left', async (connections, sizes) => {
  const gates = createGates({ connections, connectTimeoutMs: 5_000 })
  const placesOf = async (gate: Gate): Promise<number> => {
    const work = heldWork()
    let begun = 0
    const all = Array.from({ length: 20 }, () =>
      gate.run(() => {
        begun++
        return work.run()
      }),
    )
    await turn()
    const places = begun
    work.end()
    await Promise.all(all)
    return places
  }
  expect({ all: await placesOf(gates.all), reports: await placesOf(gates.reports) }).toEqual(sizes)
})
