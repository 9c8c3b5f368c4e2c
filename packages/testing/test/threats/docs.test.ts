import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../../..')
const page = readFileSync(resolve(root, 'docs/security.md'), 'utf8')
const rows = page
  .split('\n')
  .filter(line => /^\| [A-Z]\d+ /.test(line))
  .map(line => line.split(' | ').map(cell => cell.replace(/^\| | \|$/g, '')))
const pathsIn = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)

/** How many promises there are of each kind. */
const counts = { K: 8, A: 10, B: 7, M: 11, R: 6, U: 4, H: 6, I: 4, O: 7 }

test('docs/security.md has a row for each promise', () => {
  const all = Object.entries(counts).flatMap(([letter, count]) => Array.from({ length: count }, (_, at) => `${letter}${at + 1}`))
  expect(rows.map(([name]) => name)).toEqual(all)
})

test.each(rows.map(([name, , kept, shown]) => [name, kept, shown]))(
  '%s names existing files that implement and test it',
  (_, kept, shown) => {
    expect(pathsIn(kept).length).toBeGreaterThan(0)
    expect(pathsIn(shown).length).toBeGreaterThan(0)
    expect([...pathsIn(kept), ...pathsIn(shown)].filter(path => !existsSync(resolve(root, path)))).toEqual([])
    expect(pathsIn(shown).filter(path => !path.endsWith('.test.ts'))).toEqual([])
    expect(pathsIn(kept).filter(path => !path.includes('/src/'))).toEqual([])
  },
)
