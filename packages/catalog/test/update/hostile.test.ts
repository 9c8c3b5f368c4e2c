import { describe, expect, inject, test } from 'vitest'
import { catalogText, readCatalog } from '../../src/schema/index.ts'
import { current, modelsDev, opinion, routed, unchanged, update } from './samples.ts'

// Each source with each of its fields replaced by invalid values: the result is a valid catalog, or one clear error.

type Source = 'models.dev' | 'openrouter' | 'openai' | 'genai-prices'

const good: Readonly<Record<Source, unknown>> = {
  'models.dev': modelsDev(unchanged),
  openrouter: { data: [routed('openai/gpt-5', ['0.00000125', '0.00001'], { input_cache_read: '0.000000125' })] },
  openai: { object: 'list', data: [{ id: 'gpt-5', object: 'model', created: 1, owned_by: 'openai', shutdown_date: '2027-01-31' }] },
  'genai-prices': [opinion('openai', 'gpt-5', [{ prices: { input_mtok: 1.25, output_mtok: 10, cache_read_mtok: 0.125 } }])],
}

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
const hostile: readonly unknown[] = [
  ...[null, [], {}, -1, -0.000001, 1e308, Number.MAX_SAFE_INTEGER, 0.1 + 0.2],
  ...['1e999', '-0.5', 'NaN', 'Infinity', '__proto__', '<b>', '\u0000', '2026-13-45'],
  ...['x'.repeat(100_000), nested(1_000), { input: {} }, [[[1]]], JSON.parse('{"__proto__":{"polluted":1}}')],
]

/** Copies of a value, each with one of its parts replaced. */
function* replaced(value: unknown, by: unknown): Generator<unknown> {
  yield by
  if (typeof value !== 'object' || value === null) return
  const entries = Object.entries(value)
  for (const [key, inner] of entries)
    for (const other of replaced(inner, by))
      yield Array.isArray(value)
        ? value.map((item, at) => (String(at) === key ? other : item))
        : Object.fromEntries(entries.map(([name, item]) => [name, name === key ? other : item]))
}

const isLine = (text: string): boolean => text.length > 0 && text.length <= 1_000 && !/[\n\r]/.test(text)

describe.each(Object.keys(good) as Source[])('%s with invalid fields', source => {
  test('updates to a valid catalog, or is refused in a few lines', () => {
    const before = JSON.stringify(current)
    let [taken, refused] = [0, 0]
    for (const [at, value] of hostile.entries())
      for (const [place, odd] of [...replaced(good[source], value)].entries()) {
        // The default run tries each value in a ninth of the places.
        if (!inject('isLongRun') && (at + place) % 9 !== 0) continue
        const result = update({ 'models.dev': good['models.dev'], [source]: odd })
        const lines = result.ok ? [...result.diff, ...result.warnings] : result.problems
        expect(lines.filter(line => !isLine(line))).toEqual([])
        if (result.ok) {
          expect(() => readCatalog(JSON.parse(catalogText(result.catalog)))).not.toThrow()
          const offers = result.catalog.models.flatMap(model => model.offers)
          expect(offers.filter(({ model }) => model === 'gpt-5').length).toBeGreaterThan(0)
          taken++
        } else refused++
      }
    expect(JSON.stringify(current)).toBe(before)
    expect(Object.keys(Object.prototype)).toEqual([])
    expect('polluted' in {}).toBe(false)
    expect([taken > (inject('isLongRun') ? 50 : 5), refused > 0]).toEqual([true, true])
  })
})
