import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, expect, test } from 'vitest'
import { equivalents } from '../tools/mutation/equivalents-list.ts'
import { findMutants, type Mutant } from '../tools/mutation/find-mutants.ts'
import { sqlVariants } from '../tools/mutation/find-sql-mutants.ts'
import { instrument } from '../tools/mutation/instrument.ts'
import { draw } from '../tools/mutation/sample.ts'

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

test('an active mutant changes the behaviour, and without one nothing changes', async () => {
  expect(await outcome(undefined)).toBe('under under over')
  expect(await outcome(mutant('+= to -=', 'total += amount'))).toBe('under under under')
  expect(await outcome(mutant('remove statement', "log.push('added')"))).toBe('under under under')
  expect(await outcome(mutant('n + 1', '10'))).toBe('under under over')
  expect(await outcome(mutant('&& to ||', 'total > limit && log.length > 0'))).toBe('over over over')
  await expect(outcome(mutant('condition to true', 'amount < 0'))).rejects.toThrow('below')
})

test('a statement between if and else keeps them together', () => {
  const source = 'let is = 0; if (is) is = 1\nelse is = 2'
  const start = source.indexOf('is = 1')
  const removed = {
    file,
    start,
    end: start + 6,
    line: 1,
    original: 'is = 1',
    mutated: '',
    operator: '',
    kind: 'statement',
    atLoad: true,
  } as const
  const compiled = instrument(source, [{ ...removed, id: 3 }])
  Object.assign(globalThis, { __mutant: () => false })
  expect(new Function(`${compiled}; return is`)()).toBe(2)
})

test('the same seed selects the same mutants, at most one a line, and another seed others', () => {
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

test('a file that changed after its mutants were listed is refused', () => {
  expect(() => instrument(`\n${text}`, [{ ...mutant('n + 1', '10'), id: 0 }])).toThrow('has changed since its mutants were found')
})

test('a later selection excludes earlier mutants, and continues their numbers', () => {
  const drawing = { rooms: [{ name: 'sample', files: [file] }], mutants }
  const before = draw({ ...drawing, count: 3, seed: 1 })
  const after = draw({ ...drawing, count: 9, seed: 1, before })
  expect(new Set([...before, ...after].map(({ line }) => line)).size).toBe(before.length + after.length)
  expect([...before, ...after].map(({ id }) => id)).toEqual([...before, ...after].map((_, at) => at))
})

test('comparisons in SQL have mutants; comments, inserted values and other texts have none', () => {
  const inserted = '$' + '{x > y}'
  const variants = (text: string) => sqlVariants(text).map(({ operator, mutated }) => [operator, mutated])
  expect(variants(`\`SELECT a FROM b WHERE a >= ${inserted} -- a > b\``)).toEqual([
    ['SQL >= to >', `\`SELECT a FROM b WHERE a > ${inserted} -- a > b\``],
  ])
  expect(variants("'UPDATE a SET b = b + 1 WHERE c = 2 AND d = 3'").map(([operator]) => operator)).toEqual([
    'SQL = to <>',
    'SQL = to <>',
    'SQL + to -',
    'SQL AND to OR',
  ])
  expect(variants("'more AND less'")).toEqual([])
})

const root = join(import.meta.dirname, '../../..')

test.each(equivalents)('a mutant marked as equivalent still exists: $file, $line', ({ file, line, original, reason }) => {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  expect(lines.map(each => each.trim())).toContain(line)
  expect(line).toContain(original.split('\n')[0])
  expect(reason.length).toBeGreaterThan(20)
})
