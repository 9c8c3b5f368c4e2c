import { describe, expect, inject, test, vi } from 'vitest'
import { addressFaults } from '../src/chaos/addresses.ts'
import { builtInDialects } from '../src/chaos/expect.ts'
import { faults, faultsOf, unplayable } from '../src/chaos/faults.ts'
import { meeting } from './meet-fault.ts'
import { isWhole } from './raw-client.ts'

vi.setConfig({ maxConcurrency: 24 })

const { server, meet } = meeting()

describe('the table', () => {
  test('has a playable variant of every row from 1 to 84, or the reason why not', () => {
    const covered = new Set([...faults, ...addressFaults, ...unplayable].map(({ row }) => row))
    expect(Array.from({ length: 84 }, (_, at) => at + 1).filter(row => !covered.has(row))).toEqual([])
    expect(faultsOf(47).length).toBeGreaterThan(2)
  })

  test('has unique variant names, with an expectation for each delivery', () => {
    const names = [...faults, ...addressFaults].map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
    for (const { name, applies, expect: expected } of faults)
      expect([name, Object.keys(expected).sort()]).toEqual([name, [...applies].sort()])
  })

  test('has each variant for every dialect, or the reason why not', () => {
    for (const { name, dialects, lacks } of faults)
      expect([name, [...dialects, ...Object.keys(lacks)].sort()]).toEqual([name, [...builtInDialects].sort()])
  })
})

/** The default run plays each fault in one dialect, in another one for whole than for streamed responses. */
const isPlayed = (at: number, number: number, count: number): boolean => inject('isLongRun') || at === number % count

const cases = faults.flatMap((fault, number) =>
  fault.applies.flatMap((mode, place) =>
    fault.dialects
      .filter((_, at, { length }) => isPlayed(at, number + place, length))
      .map(dialect => ({ fault, mode, dialect, name: fault.name, row: fault.row })),
  ),
)

describe('each fault ends by itself or when the client disconnects', () => {
  const seen = (mark: string) => server().requests.find(({ json }) => json?.mark === mark)
  const gone = (mark: string): Promise<void> => server().until('the server has let go', () => seen(mark)?.closedAt !== undefined)

  const quick = cases.filter(({ fault }) => !fault.hangs)
  test.concurrent.each(quick)('row $row: $name, $mode, $dialect', async ({ name, mode, dialect }) => {
    const size = 300_000
    const mark = `${name} ${mode} ${dialect}`
    const answer = await meet(name, { mode, dialect, mark }, { enough: text => isWhole(text) || text.length > size, timeoutMs: 20_000 })
    expect(answer.ended !== 'open' || answer.text.length > size || isWhole(answer.text)).toBe(true)
    await gone(mark)
  })

  const hanging = cases.filter(({ fault }) => fault.hangs)
  test.concurrent.each(hanging)('row $row: $name, $mode, $dialect', async ({ name, mode, dialect }) => {
    const mark = `${name} ${mode} ${dialect}`
    const answer = await meet(name, { mode, dialect, mark }, { timeoutMs: 100, enough: () => false })
    expect(answer.ended).toBe('open')
    await gone(mark)
    expect(seen(mark)?.left).toBe(true)
  })

  test('and leaves no unfinished response', async () => {
    await server().until('all are gone', ({ unfinished, connections }) => unfinished() === 0 && connections() === 0)
  })
})
