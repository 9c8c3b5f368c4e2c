import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FactModel, FactOffer, Facts } from './facts.ts'
import { quirksOf } from './quirks.ts'

// Writes src/data/models.ts from a catalog of facts (see THIRD_PARTY_NOTICES.md), keeping only what the reader needs.
// Usage: node packages/catalog/tools/compact.ts FACTS.json
//
// Left out for now, since nothing reads them yet: prices of long prompts (`tiers`), of the priority tier, of audio and of
// regions, limits on input alone, deprecated offers.

const dialects: Readonly<Record<string, string>> = {
  'openai-responses': 'responses',
  'openai-chat': 'chat',
  'anthropic-messages': 'messages',
  'google-generate-content': 'gemini',
  'bedrock-converse': 'bedrock',
}

/** Said of the model; an offer has them too, but for the hosted tools, which no chat endpoint takes. */
const ofModel = ['streaming', 'json_mode', 'prompt_caching'] as const
const hosted = ['web_search', 'computer_use', 'code_interpreter'] as const

const microdollars = (usd: number): number => Math.round(usd * 1_000_000)

const [source] = process.argv.slice(2)
if (source === undefined) throw new Error('Name the file of facts: node packages/catalog/tools/compact.ts FACTS.json')
const facts = JSON.parse(readFileSync(source, 'utf8')) as Facts

/** Offers have few sets of abilities and of quirks among them, so each names its set by its place in a list. */
const abilities: string[] = []
const quirks: string[] = []
const models = facts.models.map(compactModel).filter(({ offers }) => offers.length > 0)
const target = resolve(import.meta.dirname, '../src/data/models.ts')
writeFileSync(target, moduleText())
process.stdout.write(`${models.length} models, ${models.reduce((sum, { offers }) => sum + offers.length, 0)} offers → ${target}\n`)

function compactModel(model: FactModel) {
  const { id, aliases, family, name, author, released, offers } = model
  return {
    id,
    ...(aliases.length > 0 && { aliases }),
    family,
    name,
    author,
    created: Date.parse(`${released}T00:00:00Z`) / 1000,
    offers: offers.filter(({ status }) => status !== 'deprecated').map(offer => compactOffer(offer, model)),
  }
}

function compactOffer(offer: FactOffer, { author, caps, temperature: sampled }: FactModel) {
  const { p, id, wire, price, ctx, out } = offer
  const dialect = dialects[wire]
  if (dialect === undefined) throw new Error(`The wire format "${wire}" of ${p}/${id} has no dialect.`)
  const departs = quirksOf({ offer, dialect, author, sampled })
  return {
    p,
    id,
    d: dialect,
    ...(ctx && { ctx }),
    ...(out && { out }),
    a: placeIn(abilities, abilitiesOf(offer, { caps, dialect })),
    ...(departs && { q: placeIn(quirks, departs) }),
    ...(price && { price: [price.in, price.out, price.cr, price.cw].map(usd => (usd === undefined ? null : microdollars(usd))) }),
  }
}

function abilitiesOf(
  offer: FactOffer,
  { caps, dialect }: { readonly caps: FactModel['caps']; readonly dialect: string },
): readonly string[] {
  return [
    ...(offer.tools ? ['tools'] : []),
    ...(offer.in.includes('image') ? ['vision'] : []),
    ...(offer.so ? ['structured_output'] : []),
    ...(offer.reason ? ['reasoning'] : []),
    ...ofModel.filter(ability => caps[ability]),
    ...(dialect === 'chat' ? [] : hosted.filter(ability => caps[ability])),
  ]
}

function placeIn(sets: string[], set: unknown): number {
  const text = JSON.stringify(set)
  if (!sets.includes(text)) sets.push(text)
  return sets.indexOf(text)
}

function moduleText(): string {
  const lists = { abilities, quirks, models: models.map(model => JSON.stringify(model)) }
  const json = `{${Object.entries(lists)
    .map(([name, lines]) => `"${name}":[\n${lines.join(',\n')}\n]`)
    .join(',')}}`
  if (/[`\\]|\$\{/.test(json)) throw new Error('The facts hold a character that a template would read.')
  return `// Made by tools/compact.ts from facts of ${facts.meta.as_of}; do not edit. Their sources and licenses: THIRD_PARTY_NOTICES.md.
// A price is [input, output, cached, cache write] in microdollars per million tokens; \`a\` and \`q\` are places in \`abilities\` and \`quirks\`.
export const data = \`${json}\`
`
}
