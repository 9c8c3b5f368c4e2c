import type { Ability, Offer, Price } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import { microdollars } from './prices.ts'
import { type OfferList, offerKey, type SourceOffer, sourceId, tokenLimit, unreadableWarning } from './source.ts'

// openrouter.ai/api/v1/models: `data`, a list of models. Prices are strings in US dollars per token, or per request.

/** A negative price means that it varies, as for `openrouter/auto`. */
const dollars = () =>
  z
    .string()
    .regex(/^-?\d{1,6}(\.\d{1,20})?(e-\d{1,2})?$/i)
    .transform(Number)
const routedModel = z.object({
  id: sourceId(),
  name: z.string().regex(/^[^\p{Cc}]{1,255}$/u),
  created: z.number().min(0).max(1e11).optional(),
  context_length: tokenLimit().nullish(),
  architecture: z.object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) }),
  pricing: z.object({
    prompt: dollars(),
    completion: dollars(),
    request: dollars().optional(),
    input_cache_read: dollars().optional(),
    input_cache_write: dollars().optional(),
    internal_reasoning: dollars().optional(),
  }),
  top_provider: z.object({ max_completion_tokens: tokenLimit().nullish() }).nullish(),
  supported_parameters: z.array(z.string()).optional(),
})
type RoutedModel = z.infer<typeof routedModel>

const routedModels = z.object({ data: z.array(z.unknown()) })
const source = 'https://openrouter.ai/api/v1/models'

/**
 * Reads `https://openrouter.ai/api/v1/models`: an offer of the provider `openrouter` for each text model with a fixed price. Variants,
 * whose ids end in `:free` or similar, are left out.
 *
 * @example readOpenRouter({ data: [{ id: 'openai/gpt-5', ...entry }] }).offers
 */
export function readOpenRouter(json: unknown): OfferList {
  const { data: list } = routedModels.safeParse(json)
  if (!list) return { source, complete: new Set(), offers: [], unreadable: new Set(), warnings: ['openrouter has no list `data`.'] }
  const offers: SourceOffer[] = []
  const unreadable = new Set<string>()
  for (const item of list.data) {
    const { data: entry } = routedModel.safeParse(item)
    if (!entry) unreadable.add(offerKey({ provider: 'openrouter', model: idOf(item) }))
    else if (isSold(entry)) offers.push(sourceOffer(entry))
  }
  return { source, complete: new Set(['openrouter']), offers, unreadable, warnings: unreadableWarning('openrouter', unreadable) }
}

const idOf = (item: unknown): string => {
  const id: unknown = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined
  return typeof id === 'string' ? id.slice(0, 200) : '?'
}

const isSold = ({ id, pricing, architecture: { input_modalities: input, output_modalities: output } }: RoutedModel): boolean =>
  !/[:~]/.test(id) && pricing.prompt >= 0 && pricing.completion >= 0 && input.includes('text') && output.includes('text')

function sourceOffer(entry: RoutedModel): SourceOffer {
  const [author = '', ...rest] = entry.id.split('/')
  const id = rest.join('/') || entry.id
  const { input_modalities: input, output_modalities: output } = entry.architecture
  const abilities = abilitiesOf(entry)
  const modalities = (listed: readonly string[]) => ['text', 'image', 'audio', 'video'].filter(each => listed.includes(each))
  return {
    offer: offerOf(entry, abilities),
    names: [entry.id, id],
    newModel: {
      id,
      aliases: entry.id === id ? [] : [entry.id],
      displayName: entry.name,
      author,
      ...(entry.created !== undefined && { created: Math.trunc(entry.created) }),
      inputModalities: modalities(input),
      outputModalities: modalities(output),
      capabilities: abilities as readonly ('tools' | 'vision')[],
    },
  }
}

function offerOf(entry: RoutedModel, abilities: readonly Ability[]): Offer {
  const { input_modalities: input } = entry.architecture
  const maxOutput = entry.top_provider?.max_completion_tokens
  const quirks = { ...(!abilities.includes('reasoning') && { efforts: [] }), ...(!input.includes('audio') && { audio: false }) }
  return {
    provider: 'openrouter',
    model: entry.id,
    api: 'chat',
    ...(entry.context_length && { contextWindow: entry.context_length }),
    ...(maxOutput && { maxOutputTokens: maxOutput }),
    abilities,
    price: priceOf(entry),
    ...(Object.keys(quirks).length > 0 && { quirks }),
  }
}

function abilitiesOf({ architecture, supported_parameters: parameters = [], pricing }: RoutedModel): readonly Ability[] {
  const has = (name: string): boolean => parameters.includes(name)
  return [
    ...(has('tools') ? (['tools'] as const) : []),
    ...(architecture.input_modalities.includes('image') ? (['vision'] as const) : []),
    ...(has('structured_outputs') ? (['structured_output'] as const) : []),
    ...(has('reasoning') ? (['reasoning'] as const) : []),
    'streaming',
    ...(has('response_format') ? (['json_mode'] as const) : []),
    ...(pricing.input_cache_read === undefined ? [] : (['prompt_caching'] as const)),
  ]
}

function priceOf({ pricing }: RoutedModel): Price {
  const { prompt, completion, request = 0, input_cache_read: read, input_cache_write: write, internal_reasoning: reasoning = 0 } = pricing
  const perMillion = (usd: number): number => microdollars(usd * 1_000_000)
  return {
    input: perMillion(prompt),
    output: perMillion(Math.max(completion, reasoning)),
    ...(read !== undefined && read >= 0 && { cached: perMillion(read) }),
    ...(write !== undefined && write > 0 && { cacheWrite: perMillion(write) }),
    ...(request > 0 && { request: microdollars(request) }),
  }
}
