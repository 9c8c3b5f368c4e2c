import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { catalog, overridden } from '../src/index.ts'
import { readCatalog, readOverrides } from '../src/schema/index.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/catalog.md'), 'utf8')

function example(kind: string): unknown {
  const [, text = ''] = new RegExp(`\`\`\`json ${kind}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  return JSON.parse(text)
}

test('the page tells how much there is, and of when', () => {
  const { models, providers, as_of } = catalog()
  const offers = models.flatMap(model => model.offers)
  expect(page).toContain(`${models.length} models and ${offers.length} offers of ${providers.length} providers, as of ${as_of}.`)
})

test('the catalog and the overrides on the page are good ones', () => {
  const own = example('catalog')
  expect(readCatalog(own)).toEqual(own)
  const next = overridden(catalog(), readOverrides(example('overrides')))
  expect(next.models.at(-1)?.id).toBe('house')
  expect(next.models.some(({ id }) => id === 'gpt-4o')).toBe(false)
  const { catalog: named } = example('config') as { readonly catalog: { readonly overrides: unknown } }
  expect(overridden(readCatalog(own), readOverrides(named.overrides)).models[0]?.display_name).toBe('Rather small')
})
