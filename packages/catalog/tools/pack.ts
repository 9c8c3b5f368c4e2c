import { capabilities, type OfferRegion, type ProviderFacts } from '@signalbox/core/protocol'
import type { DatedFact } from '../src/catalog.ts'
import type { StoredModel, StoredOffer } from '../src/stored.ts'
import type { FactModel, FactOffer, FactProvider, Facts } from './facts.ts'
import { listedPriceOf, priceOf } from './prices.ts'
import { quirksOf } from './quirks.ts'

// Facts as they were gathered → as they lie in src/data. Left out, since nothing reads them: prices of audio and of hosted
// searches, the least prompt that is cached, the maker's own endpoints.

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

const modalityOrder = ['text', 'image', 'audio', 'video', 'pdf']

/** What the facts say in words only. */
const dated: readonly DatedFact[] = [
  {
    model: 'claude-sonnet-5',
    until: '2026-08-31',
    note: 'Launch price of 2/10 USD, announced to be 3/15 USD afterwards; the source still lists 2/10.',
  },
]

/** Texts of JSON, each a set that models or offers name by its place. */
type Sets = Readonly<Record<'abilities' | 'quirks' | 'capabilities' | 'modalities', string[]>>

export interface Packed {
  readonly as_of: string
  readonly sets: Sets
  readonly dated: readonly DatedFact[]
  readonly providers: readonly ProviderFacts[]
  readonly models: readonly StoredModel[]
}

export function packed({ meta, providers, models }: Facts): Packed {
  const sets: Sets = { abilities: [], quirks: [], capabilities: [], modalities: [] }
  return {
    as_of: meta.as_of,
    models: models.map(model => storedModel(model, sets)),
    sets,
    dated,
    providers: Object.entries(providers).map(factsOf),
  }
}

function storedModel(model: FactModel, sets: Sets): StoredModel {
  const { id, aliases, family, name, author, released, knowledge, retire, open_weights, input, output, caps, offers } = model
  const known = capabilities.filter(each => caps[each])
  return {
    id,
    ...(aliases.length > 0 && { aliases }),
    ...(family !== null && { family }),
    display_name: name,
    author,
    created: Date.parse(`${released}T00:00:00Z`) / 1000,
    ...(knowledge !== null && { knowledge_cutoff: knowledge }),
    ...(retire !== undefined && { retires_at: retire }),
    open_weights,
    input_modalities: modalitiesOf(input, sets),
    output_modalities: modalitiesOf(output, sets),
    capabilities: placeIn(sets.capabilities, known),
    offers: offers.map(offer => storedOffer(offer, model, sets)),
  }
}

function modalitiesOf(named: readonly string[], { modalities }: Sets): string {
  const strangers = named.filter(each => !modalityOrder.includes(each))
  if (strangers.length > 0) throw new Error(`Nobody knows the modality ${strangers.join(', ')}.`)
  const known = modalityOrder.filter(each => named.includes(each))
  return placeIn(modalities, known)
}

function storedOffer(offer: FactOffer, model: FactModel, sets: Sets): StoredOffer {
  const { p, id, wire, ctx, out, max_in: most, status } = offer
  const { author, caps, temperature: sampled } = model
  const dialect = dialects[wire]
  if (dialect === undefined) throw new Error(`The wire format "${wire}" of ${p}/${id} has no dialect.`)
  const departs = quirksOf({ offer, dialect, author, sampled })
  const price = priceOf(offer, listedPriceOf(model))
  return {
    provider: p,
    provider_model_id: id,
    dialect,
    ...(ctx && { context_window: ctx }),
    ...(out && { max_output_tokens: out }),
    // A limit as large as the window is none.
    ...(most && (!ctx || most < ctx) && { max_input_tokens: most }),
    ...(status && { status }),
    ...(offer.regions && { regions: regionsOf(offer, model) }),
    abilities: placeIn(sets.abilities, abilitiesOf(offer, { caps, dialect })),
    ...(price && { price }),
    ...(departs && { quirks: placeIn(sets.quirks, departs) }),
  }
}

/** Each with a price where it differs. */
function regionsOf(offer: FactOffer, model: FactModel): readonly OfferRegion[] {
  const listed = listedPriceOf(model)
  const usual = JSON.stringify(priceOf({ price: offer.price }, listed))
  return (offer.regions ?? []).map(({ region, id, price }) => {
    const own = priceOf({ price }, listed)
    return { region, provider_model_id: id, ...(own && JSON.stringify(own) !== usual && { price: own }) }
  })
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

function factsOf([id, provider]: readonly [string, FactProvider]): ProviderFacts {
  const { name, data_policy, retention_days, hq, docs, env, tiers } = provider
  return {
    id,
    display_name: name,
    data_policy,
    ...(retention_days !== null && { retention_days }),
    headquarters: hq,
    docs_url: docs,
    env,
    tiers,
  }
}

function placeIn(known: string[], set: unknown): string {
  const text = JSON.stringify(set)
  if (!known.includes(text)) known.push(text)
  return String(known.indexOf(text))
}
