import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

// Writes src/data/models.ts from a catalog of facts (see THIRD_PARTY_NOTICES.md), keeping only what the reader needs.
// Usage: node packages/catalog/tools/compact.ts FACTS.json
//
// Left out for now, since nothing reads them yet: prices of long prompts (`tiers`), of the priority tier, of audio and of
// regions, limits on input alone, deprecated offers.

interface FactPrice {
  readonly in: number
  readonly out: number
  readonly cr?: number
  readonly cw?: number
}

interface FactOffer {
  readonly p: string
  readonly id: string
  readonly wire: string
  readonly price: FactPrice | null
  readonly ctx?: number
  readonly out?: number
  readonly in: readonly string[]
  readonly tools?: 1
  readonly so?: 1
  readonly reason?: 1
  readonly effort?: readonly { readonly effort?: readonly string[] }[]
  readonly interleaved?: string | true
  readonly status?: string
}

interface FactModel {
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
  readonly family: string
  readonly author: string
  readonly released: string
  readonly temperature: boolean
  readonly caps: Readonly<Record<string, boolean>>
  readonly offers: readonly FactOffer[]
}

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
const facts = JSON.parse(readFileSync(source, 'utf8')) as {
  readonly models: readonly FactModel[]
  readonly meta: { readonly as_of: string }
}

const sets: string[] = []
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
    ...(!model.temperature && { unsampled: 1 }),
    offers: offers.filter(({ status }) => status !== 'deprecated').map(offer => compactOffer(offer, model)),
  }
}

function compactOffer(offer: FactOffer, { caps }: FactModel) {
  const { p, id, wire, price, ctx, out, effort, interleaved } = offer
  const dialect = dialects[wire]
  if (dialect === undefined) throw new Error(`The wire format "${wire}" of ${p}/${id} has no dialect.`)
  const efforts = effort?.flatMap(control => control.effort ?? []) ?? []
  return {
    p,
    id,
    d: dialect,
    ...(ctx && { ctx }),
    ...(out && { out }),
    a: abilitiesOf(offer, { caps, dialect }),
    ...(price && { price: [price.in, price.out, price.cr, price.cw].map(usd => (usd === undefined ? null : microdollars(usd))) }),
    ...(efforts.length > 0 && { efforts }),
    ...(typeof interleaved === 'string' && dialect === 'chat' && { reasoning: interleaved }),
  }
}

/** Offers have few sets of abilities among them, so each names its set by its place in the list. */
function abilitiesOf(offer: FactOffer, { caps, dialect }: { readonly caps: FactModel['caps']; readonly dialect: string }): number {
  const set = [
    ...(offer.tools ? ['tools'] : []),
    ...(offer.in.includes('image') ? ['vision'] : []),
    ...(offer.so ? ['structured_output'] : []),
    ...(offer.reason ? ['reasoning'] : []),
    ...ofModel.filter(ability => caps[ability]),
    ...(dialect === 'chat' ? [] : hosted.filter(ability => caps[ability])),
  ]
  const text = JSON.stringify(set)
  if (!sets.includes(text)) sets.push(text)
  return sets.indexOf(text)
}

function moduleText(): string {
  const rows = models.map(model => JSON.stringify(model)).join(',\n')
  const json = `{"abilities":[\n${sets.join(',\n')}\n],"models":[\n${rows}\n]}`
  if (/[`\\]|\$\{/.test(json)) throw new Error('The facts hold a character that a template would read.')
  return `// Made by tools/compact.ts from facts of ${facts.meta.as_of}; do not edit. Their sources and licenses: THIRD_PARTY_NOTICES.md.\n// A price is [input, output, cached, cache write] in microdollars per million tokens; \`a\` is a place in \`abilities\`.\nexport const data = \`${json}\`\n`
}
