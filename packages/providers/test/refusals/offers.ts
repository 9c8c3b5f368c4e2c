import type { Offer, Quirks } from '@signalbox/dialects/protocol'
import { type Provider, quirksFor } from '@signalbox/dialects/protocol'
import { price } from '../../../core/test/routing/routing-fixture.ts'
import * as rows from '../../src/index.ts'

// Every row of a provider, with models that stand for each family of rules.

const apiKey = 'key'
const claude = [
  ...['claude-3-5-haiku-20241022', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-6', 'claude-opus-4-7', 'claude-sonnet-5'],
  ...['claude-opus-5', 'claude-haiku-5-5', 'claude-fable-5-2', 'claude-sonnet-9'],
]
const gemini = ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3.5-flash-lite', 'gemini-3.6-flash', 'gemini-4-argon']
const bedrock = [
  ...claude.map(model => `anthropic.${model}-v1:0`),
  ...[
    'amazon.nova-pro-v1:0',
    'amazon.nova-2-lite-v1:0',
    'openai.gpt-5.6-sol',
    'openai.gpt-oss-120b',
    'meta.llama4-scout-17b-instruct-v1:0',
  ],
  ...['meta.llama3-3-70b-instruct-v1:0', 'qwen.qwen3-235b', 'mistral.mistral-large-3', 'xai.grok-4.7', 'moonshotai.kimi-k3'],
]

interface Row {
  readonly provider: Provider
  readonly dialect: string
  readonly models: readonly string[]
}

const vertex = rows.googleVertex({ project: 'p', accessToken: 'token' })
const special: readonly Row[] = [
  { provider: rows.anthropic({ apiKey }), dialect: 'messages', models: claude },
  { provider: rows.claudeOnAws({ apiKey, workspace: 'w' }), dialect: 'messages', models: claude.slice(-3) },
  { provider: rows.azure({ resource: 'r', apiKey }), dialect: 'messages', models: claude.slice(-5) },
  { provider: vertex, dialect: 'messages', models: claude.slice(-5) },
  { provider: rows.amazonBedrock({ apiKey }), dialect: 'bedrock', models: bedrock },
  { provider: rows.google({ apiKey }), dialect: 'gemini', models: gemini },
  { provider: vertex, dialect: 'gemini', models: gemini.slice(-2) },
  { provider: rows.azure({ resource: 'r', apiKey }), dialect: 'chat', models: ['gpt-5.6-sol'] },
]

/** The other rows, each in every dialect that it is served in, with a model that has no rules of its own. */
const others: readonly Row[] = Object.values(rows).flatMap((make): readonly Row[] => {
  if (typeof make !== 'function' || !rows.isVendor(make)) return []
  const provider = make({ apiKey })
  return provider.dialects.map(({ name }) => ({ provider, dialect: name, models: ['some-model'] }))
})

export interface SoldOffer {
  readonly name: string
  readonly provider: Provider
  readonly offer: Offer
  readonly quirks: Quirks
}

export const offers: readonly SoldOffer[] = [...special, ...others].flatMap(({ provider, dialect, models }) =>
  models.map((provider_model_id): SoldOffer => {
    const offer: Offer = { provider: provider.id, model: provider_model_id, api: dialect, price, maxOutputTokens: 64_000 }
    return { name: `${provider.id} ${dialect} ${provider_model_id}`, provider, offer, quirks: quirksFor(provider, offer) }
  }),
)
