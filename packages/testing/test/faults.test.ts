import { describe, expect, inject, test } from 'vitest'
import { addressFaults } from '../src/chaos/addresses.ts'
import { builtInDialects } from '../src/chaos/expect.ts'
import { faults, faultsOf, unplayable } from '../src/chaos/faults.ts'
import { checkRows } from './check-rows.ts'
import { meeting } from './meet-fault.ts'
import { isWhole } from './raw-client.ts'

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

/** The default run plays each fault in one dialect and once, in another dialect and manner for each fault after it. */
const share = <T>(list: readonly T[], number: number): readonly T[] =>
  inject('isLongRun') ? list : list.filter((_, at) => at === number % list.length)

const cases = faults.flatMap((fault, number) =>
  share(fault.applies, number).flatMap(mode =>
    share(fault.dialects, Math.floor(number / 2)).map(
      dialect => [`row ${fault.row}: ${fault.name}, ${mode}, ${dialect}`, { hangs: fault.hangs, name: fault.name, mode, dialect }] as const,
    ),
  ),
)
const atOnce = 24

describe('each fault ends by itself or when the client disconnects', () => {
  const seen = (mark: string) => server().requests.find(({ json }) => json?.mark === mark)
  const gone = (mark: string): Promise<void> => server().until('the server has let go', () => seen(mark)?.closedAt !== undefined)

  test('those that end by themselves', { timeout: 600_000 }, () => {
    const size = 300_000
    const quick = cases.filter(([, { hangs }]) => !hangs)
    const check = async ({ name, mode, dialect }: (typeof cases)[number][1], mark: string): Promise<void> => {
      const answer = await meet(name, { mode, dialect, mark }, { enough: text => isWhole(text) || text.length > size, timeoutMs: 20_000 })
      expect(answer.ended !== 'open' || answer.text.length > size || isWhole(answer.text)).toBe(true)
      await gone(mark)
    }
    return checkRows(quick, check, atOnce)
  })

  test('those that hang', { timeout: 600_000 }, () => {
    const hanging = cases.filter(([, { hangs }]) => hangs)
    const check = async ({ name, mode, dialect }: (typeof cases)[number][1], mark: string): Promise<void> => {
      const answer = await meet(name, { mode, dialect, mark }, { timeoutMs: 100, enough: () => false })
      expect(answer.ended).toBe('open')
      await gone(mark)
      expect(seen(mark)?.left).toBe(true)
    }
    return checkRows(hanging, check, atOnce)
  })

  test('none of them leaves an unfinished response', async () => {
    await server().until('all are gone', ({ unfinished, connections }) => unfinished() === 0 && connections() === 0)
  })
})
