import { renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Model, Offer, ProviderFacts } from '@signalbox/dialects/protocol'
import type { Catalog } from '../src/stored.ts'
import { usualSource } from '../src/stored.ts'

// A catalog as the text of src/data/models-and-prices.ts, which src/stored.ts reads: sets that many models share are listed once.

/** Texts of JSON; models and offers name each by its position. */
type Sets = Readonly<Record<'abilities' | 'quirks' | 'capabilities' | 'modalities', string[]>>

/**
 * Writes the module that holds a catalog, a line for each provider and two for each model, so that a change of facts is easy to read.
 *
 * @example writeFileSync('src/data/models-and-prices.ts', moduleOf(catalog))
 */
export function moduleOf({ asOf, providers, models }: Catalog): string {
  const sets: Sets = { abilities: [], quirks: [], capabilities: [], modalities: [] }
  const lines = models.map(model => `${storedModel(model, sets)}\n${storedOffers(model, { sets, asOf })}`).join('\n')
  const listed = Object.entries(sets).map(([name, items]) => `"${name}":{\n${items.map((item, at) => `"${at}":${item}`).join(',\n')}\n}`)
  const head = `{"asOf":"${asOf}",
"sets":{${listed.join(',')}},
"providers":${linesOf(providers.map(facts => storedFacts(facts, asOf)))}}`
  if (/[`\\]|\$\{/.test(head + lines)) throw new Error('The facts hold a character that has a meaning in a template literal.')
  return `// Written by tools/correct.ts; do not edit. Sources and licenses: THIRD_PARTY_NOTICES.md. The shape is that of src/stored.ts.
export const head = \`${head}\`
export const lines = \`${lines}\`
`
}

const linesOf = (items: readonly unknown[]): string => `[\n${items.map(item => JSON.stringify(item)).join(',\n')}\n]`

interface StoreContext {
  readonly sets: Sets
  readonly asOf: string
}

/** What `unpackCatalog` puts there by itself is left out. */
const storedFacts = ({ source, asOf, ...facts }: ProviderFacts, usual: string): object => ({
  ...facts,
  ...(source !== facts.docsURL && { source }),
  ...(asOf !== usual && { asOf }),
})

const storedModel = ({ offers: _, ...model }: Model, sets: Sets): string =>
  JSON.stringify({
    ...model,
    ...(model.aliases && { aliases: model.aliases.map(alias => (alias === `${model.author}/${model.id}` ? '' : alias)) }),
    inputModalities: positionOf(model.inputModalities ?? [], sets.modalities),
    outputModalities: positionOf(model.outputModalities ?? [], sets.modalities),
    capabilities: positionOf(model.capabilities ?? [], sets.capabilities),
  })

const storedOffers = ({ offers }: Model, context: StoreContext): string => JSON.stringify(offers.map(offer => storedOffer(offer, context)))

const storedOffer = ({ quirks, source, asOf, ...offer }: Offer, { sets, asOf: usual }: StoreContext): object => ({
  ...offer,
  ...(source !== usualSource && { source }),
  ...(asOf !== usual && { asOf }),
  abilities: positionOf(offer.abilities ?? [], sets.abilities),
  ...(quirks && { quirks: positionOf(quirks, sets.quirks) }),
})

function positionOf(set: unknown, known: string[]): string {
  const text = JSON.stringify(set)
  if (!known.includes(text)) known.push(text)
  return String(known.indexOf(text))
}

const target = resolve(import.meta.dirname, '../src/data/models-and-prices.ts')

/** Writes the built-in catalog, whole or not at all, and returns a line about it. */
export function writeFacts(catalog: Catalog): string {
  writeFileSync(`${target}.tmp`, moduleOf(catalog))
  renameSync(`${target}.tmp`, target)
  const sold = catalog.models.flatMap(model => model.offers).length
  return `${catalog.models.length} models, ${sold} offers, as of ${catalog.asOf} → ${target}\n`
}
