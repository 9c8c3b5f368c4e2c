import type { Credential, Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { authorizing } from '../test/calling.ts'
import * as providers from './index.ts'

const { amazonBedrock, anthropic, azure, cloudflare, compatible, google, googleVertex, openai, ...rest } = providers

const own = (secret = 'own', extra?: Credential['extra']): Credential => ({ id: 'c', owner: 'workspace', secret, ...(extra && { extra }) })

describe('a BYOK key', () => {
  test.each<[string, Provider, string]>([
    ['openai', openai(), 'https://api.openai.com/v1/models'],
    ['anthropic', anthropic(), 'https://api.anthropic.com/v1/models?limit=1'],
    ['google', google(), 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1'],
    ['a vendor', rest.groq(), 'https://api.groq.com/openai/v1/models'],
    ['a gateway with a public model list', rest.openrouter(), 'https://openrouter.ai/api/v1/key'],
    ['a self-hosted server', compatible({ id: 'local', baseURL: 'http://127.0.0.1:1/v1/' }), 'http://127.0.0.1:1/v1/models'],
    ['a vendor behind a proxy', openai({ baseURL: 'https://proxy.example/openai' }), 'https://proxy.example/openai/models'],
  ])('of %s is checked at a URL below the provider’s base URL', (_, provider, url) => {
    expect(provider.account?.check?.(own())?.url).toBe(url)
  })

  test.each<[string, Provider, Readonly<Record<string, string>>]>([
    ['openai', openai(), { authorization: 'Bearer own' }],
    ['anthropic', anthropic(), { 'x-api-key': 'own', 'anthropic-version': '2023-06-01' }],
    ['google', google(), { 'x-goog-api-key': 'own' }],
    ['azure', azure({ resource: 'ours' }), { 'api-key': 'own' }],
  ])('of %s is checked with the same headers as a call', async (_, provider, shown) => {
    const check = provider.account?.check?.(own())
    const headers = { ...check?.headers }
    await provider.authorize(headers, own(), authorizing(check?.api ?? ''))
    expect(headers).toEqual(shown)
  })

  test('of Azure is checked at its own resource', () => {
    expect(azure().account?.check?.(own('k', { resource: 'theirs' }))?.url).toBe('https://theirs.openai.azure.com/openai/v1/models')
    expect(azure({ surface: 'deployments', resource: 'ours' }).account?.check?.(own())?.url).toBe(
      'https://ours.openai.azure.com/openai/models?api-version=2024-10-21',
    )
  })

  test('of Vertex AI is checked by requesting a token, and an express mode key cannot be checked', () => {
    const { check } = googleVertex().account ?? {}
    expect(check?.(own('{"client_email":"e","private_key":"k"}'))).toEqual({ api: 'gemini' })
    expect(check?.(own('express'))).toBeUndefined()
    expect(check?.(own('ya29.token'))).toBeUndefined()
  })

  test.each<[string, Provider]>([
    ['may call models without listing them', amazonBedrock()],
    ['has only a public list', rest.nvidia()],
    ['has no known list', rest.perplexity()],
  ])('is not checked if it %s', (_, provider) => {
    expect(provider.account?.check).toBeUndefined()
  })

  test('needs the account fields that its provider declares', () => {
    const { extra } = cloudflare().account ?? {}
    expect([extra, azure().account?.extra, amazonBedrock().account?.extra, googleVertex().account?.extra]).toEqual([
      ['account_id'],
      ['resource'],
      ['region'],
      ['project', 'location'],
    ])
    expect(openai().account?.extra).toBeUndefined()
    expect(() => cloudflare().endpoint({ api: 'chat', model: 'm', stream: false, credential: own() })).toThrow('`extra.account_id`')
  })
})
