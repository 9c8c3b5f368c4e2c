import { abilities } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { catalog, catalogModels } from '../src/index.ts'

const spoken = ['responses', 'chat']
const everyone = catalog().providers.map(({ id }) => id)
const all = catalogModels({ providers: everyone, apis: [...spoken, 'messages', 'gemini', 'bedrock'] })

describe('the built-in models', () => {
  test('have offers only of enabled providers', () => {
    const models = catalogModels({ providers: ['openai'], apis: spoken })
    expect(models.length).toBeGreaterThan(10)
    expect([...new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider)))]).toEqual(['openai'])
  })

  test('have offers only in supported dialects', () => {
    expect(catalogModels({ providers: ['anthropic'], apis: spoken })).toEqual([])
    expect(catalogModels({ providers: ['anthropic'], apis: ['messages'] }).length).toBeGreaterThan(5)
    expect(new Set(all.flatMap(({ offers }) => offers.map(({ api }) => api)))).toEqual(
      new Set(['responses', 'chat', 'messages', 'gemini', 'bedrock']),
    )
  })

  test('of OpenAI use the Responses dialect', () => {
    const offers = catalogModels({ providers: ['openai'], apis: spoken }).flatMap(model => model.offers)
    expect(new Set(offers.map(({ api }) => api))).toEqual(new Set(['responses']))
  })

  test('are none if no provider is enabled', () => {
    expect(catalogModels({ providers: [], apis: spoken })).toEqual([])
  })

  test('are the same objects as in the catalog if all of their offers are enabled', () => {
    expect(all.every(model => catalog().models.includes(model))).toBe(true)
    expect(all.length).toBe(catalog().models.length)
  })

  test('have no price if it is unknown, as opposed to free', () => {
    const unpriced = all.flatMap(({ id, offers }) => offers.flatMap(offer => (offer.price ? [] : [`${id} at ${offer.provider}`])))
    expect(unpriced).toContain('gemma-4-31b-it at google')
  })

  test('have capabilities known to the engine, and limits above zero', () => {
    const offers = all.flatMap(model => model.offers)
    expect(offers.flatMap(offer => offer.abilities ?? []).filter(ability => !abilities.includes(ability))).toEqual([])
    expect(offers.filter(({ contextWindow = 1, maxOutputTokens = 1 }) => contextWindow < 1 || maxOutputTokens < 1)).toEqual([])
    expect(offers.some(offer => offer.abilities?.includes('tools'))).toBe(true)
  })

  const quirksAt = (name: string, model: string): unknown =>
    all.find(({ id }) => id === model)?.offers.find(({ provider }) => provider === name)?.quirks

  test('have their reasoning controls and efforts', () => {
    expect(quirksAt('openai', 'gpt-6.1-sol')).toEqual({
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      sampling: 'none',
      audio: false,
      priorityTier: 'priority',
    })
    expect(quirksAt('openai', 'gpt-6-sol')).toMatchObject({ sampling: 'unless_thinking' })
    expect(quirksAt('deepseek', 'deepseek-v4.1-flash')).toMatchObject({ thinking: ['level', 'toggle'], efforts: ['low', 'high', 'max'] })
    expect(quirksAt('groq', 'qwen3.6-27b')).toMatchObject({ thinking: ['toggle'] })
    expect(quirksAt('amazon-bedrock', 'nova-2-lite')).toMatchObject({ efforts: ['none', 'low', 'medium', 'high'] })
  })

  test('have no such facts if the engine’s are more accurate', () => {
    expect(quirksAt('anthropic', 'claude-opus-5')).toEqual({ audio: false })
    expect(quirksAt('google', 'gemini-2.5-pro')).toBeUndefined()
  })

  test('without reasoning have no effort levels', () => {
    const still = all.flatMap(({ author, offers }) =>
      offers.filter(({ abilities = [], api }) => author !== 'anthropic' && api !== 'gemini' && !abilities.includes('reasoning')),
    )
    expect(still.length).toBeGreaterThan(50)
    expect(still.filter(({ quirks }) => quirks?.efforts?.length !== 0)).toEqual([])
  })

  test('state that documents or audio are not supported', () => {
    expect(quirksAt('groq', 'gpt-oss-120b')).toMatchObject({ files: false, audio: false })
    expect(quirksAt('openai', 'gpt-6-sol')).not.toHaveProperty('files')
    expect(quirksAt('google', 'gemini-3.8-flash')).toBeUndefined()
  })

  test('have a creation time in seconds', () => {
    expect(all.find(({ id }) => id === 'gpt-6.1-sol')?.created).toBe(Date.UTC(2026, 8, 29) / 1000)
    expect(all.filter(({ created }) => !Number.isSafeInteger(created))).toEqual([])
  })
})
