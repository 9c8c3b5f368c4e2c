import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalog } from '@signalbox/catalog'
import type { Offer, Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { fieldsOf } from '../src/access.ts'
import { builtIns } from '../src/built-in.ts'
import { type ModelSetup, modelsOf } from '../src/models.ts'
import { providersOf } from '../src/providers.ts'
import { configSchema } from '../src/schema.ts'
import { newFolder } from './launch.ts'

/** What a config makes of the catalog, with keys of two providers. */
function on(config: object): ModelSetup {
  const read = configSchema.parse(config)
  return modelsOf(read, providersOf(read, { OPENAI_API_KEY: 'sk-1', GROQ_API_KEY: 'gsk-1' }).providers)
}

const offerIn = ({ models }: ModelSetup, id: string): Offer | undefined => models.find(model => model.id === id)?.offers[0]
const policyIn = ({ providers }: ModelSetup, id: string): string | undefined => providers.find(provider => provider.id === id)?.dataPolicy

function fileOf(json: unknown): string {
  const file = join(newFolder(), 'own.json')
  writeFileSync(file, `\ufeff${JSON.stringify(json)}`)
  return file
}

describe('the catalog of the config', () => {
  test('is the built-in one by default, for enabled providers', () => {
    const { models, facts } = on({})
    expect(facts).toBe(catalog().providers)
    expect(new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider)))).toEqual(new Set(['openai', 'groq']))
  })

  test('may be none, and then no models or facts are known', () => {
    expect(on({ catalog: 'none' })).toMatchObject({ models: [], facts: [] })
  })

  test('may override a model, an offer and a provider', () => {
    const overrides = {
      models: { 'gpt-6-sol': { display_name: 'Sol' }, 'gpt-4o': null },
      offers: { openai: { 'gpt-6-sol': { price: { input: 1_000, output: 2_000 } } } },
      providers: { groq: { data_policy: 'may_train' } },
    }
    const it = on({ catalog: { overrides } })
    expect(it.models.find(({ id }) => id === 'gpt-6-sol')?.displayName).toBe('Sol')
    expect(it.models.find(({ id }) => id === 'gpt-4o')).toBeUndefined()
    expect(offerIn(it, 'gpt-6-sol')?.price).toEqual({ input: 1_000, output: 2_000 })
    expect(it.facts.find(({ id }) => id === 'groq')?.dataPolicy).toBe('may_train')
    expect([policyIn(it, 'groq'), policyIn(it, 'openai')]).toEqual(['may_train', 'no_training'])
  })

  test('is overridden by the config of a provider', () => {
    const it = on({
      catalog: { overrides: { providers: { openai: { data_policy: 'may_train' } } } },
      providers: [{ id: 'openai', data_policy: 'zdr' }],
    })
    expect(policyIn(it, 'openai')).toBe('zdr')
  })

  test('may be a file in place of the built-in one', () => {
    const offers = [
      { provider: 'groq', provider_model_id: 'x', dialect: 'chat' },
      { provider: 'elsewhere', provider_model_id: 'y', dialect: 'chat' },
      { provider: 'groq', provider_model_id: 'z', dialect: 'gemini' },
    ]
    const file = fileOf({ as_of: '2026-09-30', models: [{ id: 'mine', offers }], providers: [] })
    const { models, facts } = on({ catalog: { file, overrides: { models: { mine: { aliases: ['ours'] } } } } })
    expect(models).toEqual([{ id: 'mine', aliases: ['ours'], offers: [{ asOf: '2026-09-30', provider: 'groq', model: 'x', api: 'chat' }] }])
    expect(facts).toEqual([])
  })

  test('is overridden by the models of the config', () => {
    const offers = [{ provider: 'groq', provider_model_id: 'x', dialect: 'chat', price: { input: 1, output: 1 } }]
    const it = on({
      catalog: {
        overrides: {
          add: { models: [{ id: 'theirs', aliases: ['gpt-house'], offers: [{ ...offers[0], price: { input: 5, output: 5 } }] }] },
        },
      },
      models: [{ id: 'mine', aliases: ['gpt-house'], offers }],
    })
    expect(it.models.find(({ id }) => id === 'theirs')?.aliases).toEqual([])
    expect(offerIn(it, 'mine')?.price).toEqual({ input: 1_000_000, output: 1_000_000 })
  })
})

describe('the catalog and the rows of the engine agree', () => {
  const values = { api_key: 'k', region: 'us-east-1', resource: 'r', project: 'p', location: 'global', account_id: 'a' } as const
  const rows = catalog().providers.map(facts => ({ facts, row: builtIns.find(({ id }) => id === facts.id) }))

  test('on the providers, and on the variables that enable them', () => {
    const strange = rows.flatMap(({ facts, row }) => {
      const known = new Set(row ? Object.values(row.fields).flat() : [])
      return (facts.env ?? []).filter(variable => !known.has(variable)).map(variable => `${facts.id}: ${variable}`)
    })
    expect(strange).toEqual([])
  })

  test('on their data policies', () => {
    const policies = rows.flatMap(({ facts, row }): readonly (readonly [string, string, string])[] => {
      if (!row) return []
      const access = Object.entries(values).filter(([name]) => fieldsOf(row).some(field => field === name))
      const provider: Provider = row.make(Object.fromEntries(access))
      return [[facts.id, facts.dataPolicy, provider.dataPolicy ?? 'unknown']]
    })
    expect(policies.length).toBe(catalog().providers.length)
    expect(policies.filter(([, known, said]) => known !== said)).toEqual([])
  })
})
