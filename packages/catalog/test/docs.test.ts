import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Offer, Price, Rates } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { catalog, overridden } from '../src/index.ts'
import { catalogText, readCatalog, readOverrides } from '../src/schema/index.ts'
import { atMaker, usedModels } from './used-models.ts'

const path = resolve(import.meta.dirname, '../../../docs/catalog.md')
const page = readFileSync(path, 'utf8')

function example(kind: string): unknown {
  const [, text = ''] = new RegExp(`\`\`\`json ${kind}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  return JSON.parse(text)
}

test('the page has the current counts and date', () => {
  const { models, providers, asOf } = catalog()
  const offers = models.flatMap(model => model.offers)
  expect(page).toContain(`${models.length} models and ${offers.length} offers of ${providers.length} providers, as of ${asOf}.`)
})

test('the catalog and the overrides on the page are valid', () => {
  const own = example('catalog')
  expect(JSON.parse(catalogText(readCatalog(own)))).toEqual(own)
  const next = overridden(catalog(), readOverrides(example('overrides')))
  expect(next.models.at(-1)?.id).toBe('house')
  expect(next.models.some(({ id }) => id === 'gpt-4o')).toBe(false)
  const { catalog: named } = example('config') as { readonly catalog: { readonly overrides: unknown } }
  expect(overridden(readCatalog(own), readOverrides(named.overrides)).models[0]?.displayName).toBe('Rather small')
})

const usd = (rate: number): string => String(rate / 1_000_000)
const pair = ({ input, output }: Rates): string => `${usd(input)} / ${usd(output)}`
const thousands = (tokens = 0): string => tokens.toLocaleString('en-US')

/** Announced and hourly price changes, as text. */
function laterOf({ windows = [], changes = [], ...now }: Price, { retiresAt }: Pick<Offer, 'retiresAt'>): string {
  const hours = windows.map(window => `${window.from}–${window.to} UTC${window.days ? ' on some days' : ''}: ${pair(window)}`)
  const days = changes.filter(({ price }) => pair(price) !== pair(now)).map(({ from, price }) => `from ${from}: ${pair(price)}`)
  return [...hours, ...days, ...(retiresAt === undefined ? [] : [`until ${retiresAt}`])].join('; ')
}

const shown = ['tools', 'vision', 'structured_output', 'reasoning'] as const

/** The most used models, at their makers. `UPDATE_DOCS=1 pnpm test docs` writes it. */
function tableOfModels(): string {
  const rows = Object.keys(usedModels).map(id => {
    const { model, offer } = atMaker(id)
    const { price = { input: 0, output: 0 }, abilities = [] } = offer
    const { cached, cacheWrite } = price
    const cache = [cached === undefined ? '–' : usd(cached), ...(cacheWrite === undefined ? [] : [usd(cacheWrite)])].join(' / ')
    const long = (price.tiers ?? []).map(tier => `over ${thousands(tier.over)}: ${pair(tier)}`).join('; ')
    const can = shown.filter(ability => abilities.includes(ability)).join(', ')
    const later = laterOf(price, { ...(model.retiresAt !== undefined && { retiresAt: model.retiresAt }), ...offer })
    const cells = [`\`${id}\``, pair(price), cache, long, thousands(offer.contextWindow), thousands(offer.maxOutputTokens), can, later]
    return `| ${cells.join(' | ')} |`
  })
  const head =
    '| model | input / output | cache read / write | long prompts | window | output | abilities | hours, dates |\n|---|---|---|---|--:|--:|---|---|'
  return `<!-- most used models -->\n\n${head}\n${rows.join('\n')}\n\n<!-- end -->`
}

test('the table of the most used models matches the catalog', () => {
  const table = tableOfModels()
  if (process.env.UPDATE_DOCS)
    writeFileSync(
      path,
      page.replace(/<!-- most used models -->[\s\S]*<!-- end -->/, () => table),
    )
  expect(readFileSync(path, 'utf8')).toContain(table)
})
