import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { catalog, sold } from '../src/index.ts'

// The cost of importing the catalog: bytes to load, and text to parse. Unlike time, these do not depend on the machine.

const source = readFileSync(resolve(import.meta.dirname, '../src/data/models-and-prices.ts'), 'utf8')

afterEach(() => {
  vi.restoreAllMocks()
  vi.resetModules()
})

/** The texts that are parsed from now on. */
function parsedTexts(): readonly string[] {
  const texts: string[] = []
  const parse = JSON.parse
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    texts.push(text)
    return parse(text, reviver)
  })
  return texts
}

const sizeOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0)
const withOffers = (texts: readonly string[]): readonly string[] => texts.filter(text => text.includes('"api"'))

/** A catalog of which nothing is parsed yet. */
async function freshCatalog(): Promise<typeof import('../src/index.ts')> {
  vi.resetModules()
  return import('../src/index.ts')
}

test('the facts are less than 22 kB compressed', () => {
  expect(gzipSync(source, { level: 9 }).length).toBeLessThan(22_000)
})

test('loading the package parses nothing', async () => {
  const texts = parsedTexts()
  await freshCatalog()
  expect(texts).toEqual([])
})

test('the first use parses the models and providers, less than 70 kB, and no offer', async () => {
  const fresh = await freshCatalog()
  const ids = catalog().models.map(({ id }) => id)
  const texts = parsedTexts()
  expect(fresh.catalog().models.map(({ id }) => id)).toEqual(ids)
  expect(sizeOf(texts)).toBeLessThan(70_000)
  expect(withOffers(texts)).toEqual([])
})

test('the models of one provider parse the offers of these models alone, once', async () => {
  const query = { providers: ['groq'], apis: ['chat'] }
  const expected = sold(catalog(), query)
  const fresh = await freshCatalog()
  const known = fresh.catalog()
  const texts = parsedTexts()
  expect(fresh.sold(known, query)).toEqual(expected)
  expect(fresh.sold(known, query)).toEqual(expected)
  expect(expected.length).toBeGreaterThan(2)
  expect(withOffers(texts).length).toBe(expected.length)
})

test('all facts are less than 300 kB, and 15,000 values', async () => {
  const fresh = await freshCatalog()
  const texts = parsedTexts()
  const offers = fresh.catalog().models.flatMap(model => model.offers)
  expect(sizeOf(texts)).toBeLessThan(300_000)
  expect(offers.length).toBeGreaterThan(400)
  vi.restoreAllMocks()
  let values = 0
  for (const text of texts)
    JSON.parse(text, (_, value: unknown) => {
      values++
      return value
    })
  expect(values).toBeLessThan(15_000)
})

test('sets shared by many offers are one object each', () => {
  const sets = catalog().models.flatMap(({ offers }) => offers.map(({ abilities }) => abilities))
  expect(new Set(sets).size).toBeLessThan(sets.length / 8)
})
