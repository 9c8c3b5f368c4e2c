import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { catalog } from '../src/index.ts'

// What the catalog costs an app that imports it: bytes to load, and values to read. Time depends on the machine, and these do not.

const source = readFileSync(resolve(import.meta.dirname, '../src/data/facts.ts'), 'utf8')

test('the facts are less than 20 kB compressed', () => {
  expect(gzipSync(source, { level: 9 }).length).toBeLessThan(20_000)
})

test('what is parsed at the first use is less than 300 kB, and 15,000 values', () => {
  const json = source.slice(source.indexOf('`') + 1, source.lastIndexOf('`'))
  expect(Buffer.byteLength(json)).toBeLessThan(300_000)
  let values = 0
  JSON.parse(json, (_, value: unknown) => {
    values++
    return value
  })
  expect(values).toBeLessThan(15_000)
})

test('sets that many offers share are one object each', () => {
  const sets = catalog().models.flatMap(({ offers }) => offers.map(({ abilities }) => abilities))
  expect(new Set(sets).size).toBeLessThan(sets.length / 8)
})
