import type { Ability, Model, Offer, Price, Quirks, Rates, Surcharge, ThinkingStyle } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import { microdollars } from './prices.ts'
import { dollarAmount, type OfferList, offerKey, type SourceOffer, sourceId, tokenLimit, unreadableWarning } from './source.ts'

// models.dev/api.json: providers by id, each with its models by id. Prices in US dollars per million tokens.

const listedRates = z.object({
  input: dollarAmount(),
  output: dollarAmount(),
  input_audio: dollarAmount().optional(),
  cache_read: dollarAmount().optional(),
  cache_write: dollarAmount().optional(),
  reasoning: dollarAmount().optional(),
})
const cost = listedRates.extend({
  tiers: z.array(listedRates.extend({ tier: z.object({ size: tokenLimit() }) })).optional(),
  context_over_200k: listedRates.optional(),
})
const mode = z.object({
  cost: listedRates.optional(),
  provider: z
    .object({ body: z.record(z.string(), z.unknown()).optional(), headers: z.record(z.string(), z.unknown()).optional() })
    .optional(),
})

/** `reasoning_options` of models.dev. Budgets are ignored, because core has rows for the providers that accept them. */
const reasoningOptions = z.array(z.object({ type: z.string(), values: z.array(z.string().nullable()).optional() }))

const listedModel = z.object({
  id: sourceId(),
  name: z.string().regex(/^[^\p{Cc}]{1,255}$/u),
  family: z
    .string()
    .regex(/^[^\p{Cc}]{1,255}$/u)
    .optional(),
  base_model: sourceId().optional(),
  canonical_model_id: sourceId().optional(),
  reasoning: z.boolean().optional(),
  reasoning_options: reasoningOptions.optional(),
  temperature: z.boolean().optional(),
  tool_call: z.union([z.boolean(), z.object({ supported: z.boolean() }).transform(({ supported }) => supported)]).optional(),
  structured_output: z.boolean().optional(),
  knowledge: z
    .string()
    .regex(/^\d{4}-\d\d(-\d\d)?$/)
    .optional(),
  release_date: z
    .string()
    .regex(/^\d{4}-\d\d(-\d\d)?$/)
    .optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  open_weights: z.boolean().optional(),
  cost: cost.optional(),
  limit: z.object({ context: tokenLimit(), output: tokenLimit(), input: tokenLimit().optional() }),
  status: z.enum(['alpha', 'beta', 'deprecated']).optional(),
  provider: z.object({ npm: z.string().optional(), shape: z.string().optional() }).optional(),
  experimental: z.object({ modes: z.record(z.string(), mode).optional() }).optional(),
})
type ListedModel = z.infer<typeof listedModel>

const providerEntry = z.object({ npm: z.string().optional(), models: z.record(z.string(), z.unknown()) })

/**
 * Reads `https://models.dev/api.json`: the offers of built-in providers. An entry with an unknown format causes a warning.
 *
 * @example readModelsDev(await response.json()).offers[0]?.offer.price // { input: 1250000, output: 10000000 }
 */
export function readModelsDev(json: unknown): OfferList {
  const offers: SourceOffer[] = []
  const complete = new Set<string>()
  const unreadable = new Set<string>()
  for (const [name, value] of Object.entries(json as object)) {
    const listed = listedProviders.get(name)
    const { data: provider } = providerEntry.safeParse(value)
    if (!listed || !provider) continue
    complete.add(listed.id)
    for (const [id, model] of Object.entries(provider.models)) {
      const { data: entry } = listedModel.safeParse(model)
      if (!entry) unreadable.add(offerKey({ provider: listed.id, model: id }))
      else if (isTextModel(entry)) offers.push(sourceOffer(entry, { listed, npm: entry.provider?.npm ?? provider.npm }))
    }
  }
  return { source: 'https://models.dev/api.json', complete, offers, unreadable, warnings: unreadableWarning('models.dev', unreadable) }
}

const isTextModel = ({ modalities: { input, output } }: ListedModel): boolean => input.includes('text') && output.includes('text')

/** A provider of models.dev, and how its offers are stored. */
interface ListedProvider {
  readonly id: string
  /** The default dialect of its offers. */
  readonly dialect: string
  /** Whether it lists its own models, under their canonical ids. */
  readonly isMaker?: boolean
}

/** Providers of models.dev by id. Others are ignored. */
const listedProviders: ReadonlyMap<string, ListedProvider> = new Map<string, ListedProvider>([
  ['openai', { id: 'openai', dialect: 'responses', isMaker: true }],
  ['anthropic', { id: 'anthropic', dialect: 'messages', isMaker: true }],
  ['google', { id: 'google', dialect: 'gemini', isMaker: true }],
  ['google-vertex', { id: 'google-vertex', dialect: 'gemini' }],
  ['google-vertex-anthropic', { id: 'google-vertex', dialect: 'messages' }],
  ['amazon-bedrock', { id: 'amazon-bedrock', dialect: 'bedrock' }],
  ['azure', { id: 'azure', dialect: 'responses' }],
  ['xai', { id: 'xai', dialect: 'responses', isMaker: true }],
  ['mistral', { id: 'mistral', dialect: 'chat', isMaker: true }],
  ['deepseek', { id: 'deepseek', dialect: 'chat', isMaker: true }],
  ['alibaba', { id: 'alibaba', dialect: 'chat', isMaker: true }],
  ['meta', { id: 'meta', dialect: 'responses', isMaker: true }],
  ['llama', { id: 'meta', dialect: 'responses', isMaker: true }],
  ['moonshotai', { id: 'moonshotai', dialect: 'chat', isMaker: true }],
  ['zai', { id: 'zai', dialect: 'chat', isMaker: true }],
  ['minimax', { id: 'minimax', dialect: 'chat', isMaker: true }],
  ['cohere', { id: 'cohere', dialect: 'chat', isMaker: true }],
  ['perplexity', { id: 'perplexity', dialect: 'responses', isMaker: true }],
  ['groq', { id: 'groq', dialect: 'chat' }],
  ['togetherai', { id: 'together', dialect: 'chat' }],
  ['fireworks-ai', { id: 'fireworks', dialect: 'chat' }],
  ['deepinfra', { id: 'deepinfra', dialect: 'chat' }],
  ['cerebras', { id: 'cerebras', dialect: 'chat' }],
  ['cloudflare-workers-ai', { id: 'cloudflare-workers-ai', dialect: 'chat' }],
  ['nebius', { id: 'nebius', dialect: 'chat' }],
  ['novita-ai', { id: 'novita', dialect: 'chat' }],
  ['baseten', { id: 'baseten', dialect: 'chat' }],
  ['nvidia', { id: 'nvidia', dialect: 'chat' }],
])

/** Packages that models.dev names for a model, and the dialect they use. */
const packageDialects: ReadonlyMap<string, string> = new Map([
  ['@ai-sdk/anthropic', 'messages'],
  ['@ai-sdk/google-vertex/anthropic', 'messages'],
  ['@ai-sdk/openai-compatible', 'chat'],
])

/** The dialect of an offer: by its package and shape, by its vendor on Bedrock and Vertex, or else the default of the host. */
function dialectOf(
  { id: provider, dialect }: ListedProvider,
  { id, npm, shape }: { readonly id: string; readonly npm?: string | undefined; readonly shape?: string | undefined },
): string {
  if (provider === 'amazon-bedrock') return /^(?:[a-z-]+\.)?(?:openai\.gpt-[5-9]|xai\.)/.test(id) ? 'responses' : dialect
  if (shape === 'completions') return 'chat'
  if (provider === 'google-vertex' && id.includes('/')) return 'chat'
  return packageDialects.get(npm ?? '') ?? dialect
}

interface EntryContext {
  readonly listed: ListedProvider
  readonly npm: string | undefined
}

function sourceOffer(entry: ListedModel, { listed, npm }: EntryContext): SourceOffer {
  const canonical = entry.base_model ?? entry.canonical_model_id
  const [maker] = canonical?.includes('/') ? canonical.split('/') : []
  const author = listedProviders.get(maker ?? '')?.id ?? maker ?? (listed.isMaker ? listed.id : '')
  const id = (canonical ?? entry.id).split('/').at(-1) ?? entry.id
  const dialect = dialectOf(listed, { id: entry.id, npm, shape: entry.provider?.shape })
  return {
    offer: readOffer(entry, { provider: listed.id, api: dialect, author }),
    names: [...(canonical === undefined ? [] : [canonical, id]), entry.id, ...(listed.isMaker ? [`${listed.id}/${entry.id}`] : [])],
    ...((listed.isMaker || canonical !== undefined) && author !== '' && { newModel: modelOf(entry, { id, author }) }),
  }
}

function modelOf(entry: ListedModel, { id, author }: { readonly id: string; readonly author: string }): Omit<Model, 'offers'> {
  const created = Date.parse(`${entry.release_date ?? ''}T00:00:00Z`)
  return {
    id,
    aliases: [`${author}/${id}`],
    ...(entry.family !== undefined && { family: entry.family }),
    displayName: entry.name,
    author,
    ...(!Number.isNaN(created) && created > 0 && { created: created / 1000 }),
    ...(entry.knowledge !== undefined && { knowledgeCutoff: entry.knowledge }),
    openWeights: entry.open_weights ?? false,
    inputModalities: knownModalities(entry.modalities.input),
    outputModalities: knownModalities(entry.modalities.output),
    capabilities: abilitiesOf(entry) as NonNullable<Model['capabilities']>,
  }
}

const modalities = ['text', 'image', 'audio', 'video', 'pdf']
const knownModalities = (listed: readonly string[]): readonly string[] => modalities.filter(each => listed.includes(each))

type OfferContext = Pick<Offer, 'provider' | 'api'> & { readonly author: string }

function readOffer(entry: ListedModel, { provider, api, author }: OfferContext): Offer {
  const { context, output, input } = entry.limit
  const quirks = quirksOf(entry, { provider, api, author })
  const price = entry.cost && priceOf(entry)
  return {
    provider,
    model: entry.id,
    api,
    ...(context > 0 && { contextWindow: context }),
    ...(output > 0 && { maxOutputTokens: output }),
    // A limit as large as the context window is not a limit.
    ...(input !== undefined && input > 0 && input < context && { maxInputTokens: input }),
    ...(entry.status && { status: entry.status === 'deprecated' ? ('deprecated' as const) : ('beta' as const) }),
    abilities: abilitiesOf(entry),
    ...(price && { price }),
    ...(Object.keys(quirks).length > 0 && { quirks }),
  }
}

const abilitiesOf = (entry: ListedModel): readonly Ability[] => [
  ...(entry.tool_call ? (['tools'] as const) : []),
  ...(entry.modalities.input.includes('image') ? (['vision'] as const) : []),
  ...(entry.structured_output ? (['structured_output'] as const) : []),
  ...(entry.reasoning ? (['reasoning'] as const) : []),
  'streaming',
  ...(entry.cost?.cache_read === undefined ? [] : (['prompt_caching'] as const)),
]

function quirksOf(entry: ListedModel, { provider, api, author }: OfferContext): Quirks {
  const { input } = entry.modalities
  const tier = priorityOf(entry)?.tier
  // On Bedrock, documents become text; in the OpenAI dialects, models that read images read pages.
  const takesFiles = input.includes('pdf') || api === 'bedrock' || (api === 'responses' && input.includes('image'))
  const { reasoning: reasons = false, reasoning_options: options, temperature: sampled = true } = entry
  return {
    ...reasoningQuirks({ provider, author, dialect: api, reasons, options, sampled }),
    ...(!takesFiles && { files: false }),
    ...(!input.includes('audio') && { audio: false }),
    ...(tier !== undefined && { priorityTier: tier }),
  }
}

/** Efforts in ascending order. */
const ladder = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** What an entry says about reasoning. */
interface ReasoningFacts {
  readonly provider: string
  readonly author: string
  readonly dialect: string
  readonly reasons: boolean
  readonly options?: z.infer<typeof reasoningOptions> | undefined
  /** Whether `temperature`, `top_p` and `top_k` are accepted. */
  readonly sampled: boolean
}

/**
 * Quirks for how a model's thinking is configured, and whether it accepts sampling parameters. None for Claude and Gemini, of which the
 * dialects have more precise facts.
 */
function reasoningQuirks(facts: ReasoningFacts): Quirks {
  const { provider, author, dialect, reasons, options = [], sampled } = facts
  if (author === 'anthropic' || dialect === 'gemini') return {}
  if (!reasons) return { efforts: [] }
  const named = new Set(options.filter(({ type }) => type === 'effort').flatMap(({ values = [] }) => values))
  const listed = ladder.filter(effort => named.has(effort))
  // `default` is not a level: a list with only that and `none` is a switch.
  const isSwitch = named.has('default') && listed.every(effort => effort === 'none')
  const efforts = isSwitch ? [] : listed
  const hasToggle = isSwitch || options.some(({ type }) => type === 'toggle')
  const canStop = hasToggle || efforts.includes('none')
  const onBedrock = provider === 'amazon-bedrock'
  return {
    ...(onBedrock ? bedrockEfforts(efforts, hasToggle) : thinkingStyles(efforts, { hasToggle, dialect })),
    ...(!sampled && !(onBedrock && author === 'openai') && { sampling: canStop ? 'unless_thinking' : 'none' }),
  }
}

function thinkingStyles(
  efforts: readonly string[],
  { hasToggle, dialect }: { readonly hasToggle: boolean; readonly dialect: string },
): Quirks {
  const level: readonly ThinkingStyle[] = efforts.length > 0 ? ['level'] : []
  const styles: readonly ThinkingStyle[] = hasToggle ? [...level, 'toggle'] : level
  return { ...(efforts.length > 0 && { efforts }), ...(dialect === 'chat' && styles.length > 0 && { thinking: styles }) }
}

/** A switch becomes an additional level. */
function bedrockEfforts(efforts: readonly string[], hasToggle: boolean): Quirks {
  if (efforts.length === 0) return {}
  return { efforts: hasToggle && !efforts.includes('none') ? ['none', ...efforts] : efforts }
}

function priceOf(entry: ListedModel): Price | undefined {
  const { cost } = entry
  if (!cost) return undefined
  const over200k = cost.context_over_200k && [{ ...cost.context_over_200k, tier: { size: 200_000 } }]
  const tiers = (cost.tiers ?? over200k ?? [])
    .toSorted((a, b) => a.tier.size - b.tier.size)
    .filter(({ tier }, index, all) => tier.size > 0 && tier.size !== all[index - 1]?.tier.size)
  const priority = priorityOf(entry)?.rates
  const surcharges = surchargesOf(entry)
  return {
    ...ratesOf(cost),
    ...(tiers.length > 0 && { tiers: tiers.map(tier => ({ over: tier.tier.size, ...ratesOf(tier) })) }),
    ...(priority && { priority: ratesOf(priority) }),
    ...(surcharges.length > 0 && { surcharges }),
  }
}

/** Modes selected by `speed` that raise all rates equally. */
function surchargesOf({ cost: usual, experimental }: ListedModel): readonly Surcharge[] {
  return Object.values(experimental?.modes ?? {}).flatMap(({ cost, provider }): readonly Surcharge[] => {
    const { speed, ...others } = provider?.body ?? {}
    if (!cost || !usual || typeof speed !== 'string' || Object.keys(others).length > 0) return []
    const percent = Math.round((cost.input / usual.input) * 100)
    const isUniform = percent > 100 && Math.round((cost.output / usual.output) * 100) === percent
    return isUniform ? [{ field: 'speed', value: speed, percent }] : []
  })
}

/** The mode selected by `service_tier` alone. Others need fields and headers that the gateway does not send. */
function priorityOf({ experimental }: ListedModel): { readonly tier: string; readonly rates: z.infer<typeof listedRates> } | undefined {
  for (const { cost, provider } of Object.values(experimental?.modes ?? {})) {
    const { service_tier: tier, ...others } = provider?.body ?? {}
    if (!cost || typeof tier !== 'string' || tier === 'flex' || Object.keys({ ...others, ...provider?.headers }).length > 0) continue
    return { tier, rates: cost }
  }
  return undefined
}

/** If reasoning costs more than output, output is priced as reasoning, which is the default of such models. */
const ratesOf = ({
  input,
  output,
  reasoning = 0,
  input_audio: audio,
  cache_read: read,
  cache_write: write,
}: z.infer<typeof listedRates>): Rates => ({
  input: microdollars(input),
  output: microdollars(Math.max(output, reasoning)),
  ...(audio !== undefined && audio !== input && { inputAudio: microdollars(audio) }),
  ...(read !== undefined && { cached: microdollars(read) }),
  ...(write !== undefined && { cacheWrite: microdollars(write) }),
})
