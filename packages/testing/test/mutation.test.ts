import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, expect, test } from 'vitest'
import { draw } from '../tools/mutation/draw.ts'
import { findMutants, type Mutant } from '../tools/mutation/find-mutants.ts'
import { instrument } from '../tools/mutation/instrument.ts'

const folder = mkdtempSync(join(tmpdir(), 'signalbox-mutants-'))
const file = join(folder, 'sample.ts')
const text = `
const log: string[] = []
let total = 0
export function add(amount: number, limit = 10): string {
  if (amount < 0) throw new Error('below')
  total += amount
  log.push('added')
  return total > limit && log.length > 0 ? 'over' : 'under'
}
`
writeFileSync(file, text)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const mutants = findMutants([file], { target: ts.ScriptTarget.ES2023, strict: true, noLib: false })
const mutant = (operator: string, original: string): Mutant => {
  const found = mutants.find(each => each.operator === operator && each.original === original)
  if (!found) throw new Error(`No mutant "${operator}" of ${original}.`)
  return found
}

async function outcome(chosen: Mutant | undefined): Promise<string> {
  const javascript = ts.transpile(instrument(text, chosen ? [{ ...chosen, id: 7 }] : []), { target: ts.ScriptTarget.ES2023 })
  Object.assign(globalThis, { __mutant: (id: number) => id === 7 })
  const { add } = await import(`data:text/javascript,${encodeURIComponent(`${javascript}// ${Math.random()}`)}`)
  return `${add(4)} ${add(4)} ${add(4)}`
}

test('a mutant that is on changes what the code does, and none changes nothing', async () => {
  expect(await outcome(undefined)).toBe('under under over')
  expect(await outcome(mutant('+= to -=', 'total += amount'))).toBe('under under under')
  expect(await outcome(mutant('remove statement', "log.push('added')"))).toBe('under under under')
  expect(await outcome(mutant('n + 1', '10'))).toBe('under under over')
  expect(await outcome(mutant('&& to ||', 'total > limit && log.length > 0'))).toBe('over over over')
  await expect(outcome(mutant('condition to true', 'amount < 0'))).rejects.toThrow('below')
})

test('the same seed draws the same mutants, at most one a line, and another seed others', () => {
  const drawing = { rooms: [{ name: 'sample', files: [file] }], mutants, count: 4 }
  const lines = (seed: number): string =>
    draw({ ...drawing, seed })
      .map(({ line, operator }) => `${line} ${operator}`)
      .join()
  expect(lines(1)).toBe(lines(1))
  expect(new Set([1, 2, 3, 4].map(lines)).size).toBeGreaterThan(1)
  for (const seed of [1, 2, 3]) {
    const drawn = draw({ ...drawing, seed })
    expect(new Set(drawn.map(({ line }) => line)).size).toBe(drawn.length)
  }
})

test('a file that changed after its mutants were found is refused', () => {
  expect(() => instrument(`\n${text}`, [{ ...mutant('n + 1', '10'), id: 0 }])).toThrow('has changed since its mutants were found')
})
