import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Facts } from './facts.ts'
import { type Packed, packed } from './pack.ts'

// Writes src/data/facts.ts from a catalog of facts (see THIRD_PARTY_NOTICES.md), keeping only what the reader needs.
// Usage: node --conditions=signalbox-source packages/catalog/tools/compact.ts FACTS.json

const [source] = process.argv.slice(2)
if (source === undefined) throw new Error('Name the file of facts: node packages/catalog/tools/compact.ts FACTS.json')
const facts = packed(JSON.parse(readFileSync(source, 'utf8')) as Facts)
const target = resolve(import.meta.dirname, '../src/data/facts.ts')
writeFileSync(target, moduleText(facts))
process.stdout.write(`${facts.models.length} models, ${facts.models.flatMap(({ offers }) => offers).length} offers → ${target}\n`)

/** A line for each, so that a change of facts reads well. */
function moduleText({ as_of, sets, dated, providers, models }: Packed): string {
  const lines = (items: readonly string[]): string => `[\n${items.join(',\n')}\n]`
  const linesOf = (items: readonly unknown[]): string => lines(items.map(item => JSON.stringify(item)))
  const named = (items: readonly string[]): string => items.map((item, at) => `"${at}":${item}`).join(',\n')
  const listed = Object.entries(sets).map(([name, items]) => `"${name}":{\n${named(items)}\n}`)
  const json = `{"as_of":"${as_of}",
"sets":{${listed.join(',')}},
"dated":${linesOf(dated)},
"providers":${linesOf(providers)},
"models":${linesOf(models)}}`
  if (/[`\\]|\$\{/.test(json)) throw new Error('The facts hold a character that a template would read.')
  return `// Made by tools/compact.ts from facts of ${as_of}; do not edit. Their sources and licenses: THIRD_PARTY_NOTICES.md.
// The shape is that of src/stored.ts.
export const data = \`${json}\`
`
}
