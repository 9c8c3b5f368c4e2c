import { chatProvider, responsesClient } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { type Credential, fold, type Provider, quirksFor } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { decode } from '../../dialects/test/laws.ts'
import { addressing, authorizing } from '../test/calling.ts'
import { azure } from './azure.ts'

const workspace = (secret: string, extra?: Credential['extra']): Credential => ({
  id: 'own',
  owner: 'workspace',
  secret,
  ...(extra && { extra }),
})
const at = (provider: Provider, dialect: string, model = 'm') => provider.endpoint(addressing(provider, dialect, { model }))

async function proof(provider: Provider, dialect: string, credential = provider.credential) {
  if (!credential) throw new Error('It is off.')
  const headers: Record<string, string> = {}
  await provider.authorize(headers, credential, authorizing(dialect))
  return headers
}

describe('the URLs of Azure', () => {
  const provider = azure({ resource: 'contoso-eu', apiKey: 'k' })

  test('are those of the v1 surface', () => {
    expect(at(provider, 'responses')).toBe('https://contoso-eu.openai.azure.com/openai/v1/responses')
    expect(at(provider, 'chat')).toBe('https://contoso-eu.openai.azure.com/openai/v1/chat/completions')
    expect(at(azure({ resource: 'x', apiKey: 'k', apiVersion: 'preview' }), 'responses')).toBe(
      'https://x.openai.azure.com/openai/v1/responses?api-version=preview',
    )
  })

  test('are those of Claude and its token counter', () => {
    expect(at(provider, 'messages')).toBe('https://contoso-eu.services.ai.azure.com/anthropic/v1/messages')
    expect(provider.countEndpoint?.(addressing(provider, 'messages'))).toBe(
      'https://contoso-eu.services.ai.azure.com/anthropic/v1/messages/count_tokens',
    )
    expect(provider.countEndpoint?.(addressing(provider, 'chat'))).toBeUndefined()
  })

  test('are those of the deployments surface, which has Chat Completions only', () => {
    const old = azure({ resource: 'x', apiKey: 'k', surface: 'deployments' })
    expect(at(old, 'chat', 'our gpt/4')).toBe(
      'https://x.openai.azure.com/openai/deployments/our%20gpt%2F4/chat/completions?api-version=2024-10-21',
    )
    expect(at(azure({ resource: 'x', apiKey: 'k', surface: 'deployments', apiVersion: '2025-01-01-preview' }), 'chat')).toMatch(
      /\?api-version=2025-01-01-preview$/,
    )
    expect(old.dialects.map(({ name }) => name)).toEqual(['chat', 'messages'])
    expect(provider.dialects.map(({ name }) => name)).toEqual(['responses', 'chat', 'messages'])
  })

  test('may be set by the operator; an account’s own resource takes precedence', () => {
    const own = azure({ baseURL: 'https://proxy.example/azure/', apiKey: 'k' })
    expect(at(own, 'chat')).toBe('https://proxy.example/azure/openai/v1/chat/completions')
    expect(at(own, 'messages')).toBe('https://proxy.example/azure/anthropic/v1/messages')
    const credential = workspace('k', { resource: 'fabrikam' })
    expect(own.endpoint({ ...addressing(own, 'chat'), credential })).toBe('https://fabrikam.openai.azure.com/openai/v1/chat/completions')
  })

  test('cannot be set by an account', () => {
    for (const resource of ['evil.example/', 'evil.example#', 'a.b', 'a@b', 'A', '-a', 'a-', '', 'a b', '../a', 'x'.repeat(65)])
      expect(() => provider.endpoint({ ...addressing(provider, 'chat'), credential: workspace('k', { resource }) }), resource).toThrow(
        /resource/,
      )
    expect(() => at(azure({ apiKey: 'k' }), 'chat')).toThrow(/resource/)
  })
})

describe('the authorization of Azure', () => {
  test('has the key in the header of each dialect', async () => {
    const provider = azure({ resource: 'x', apiKey: 'secret' })
    expect(await proof(provider, 'responses')).toEqual({ 'api-key': 'secret' })
    expect(await proof(provider, 'chat')).toEqual({ 'api-key': 'secret' })
    expect(await proof(provider, 'messages')).toEqual({ 'x-api-key': 'secret' })
  })

  test('has an Entra token as a bearer, requested for each call if it is a function', async () => {
    expect(await proof(azure({ resource: 'x', accessToken: 'token' }), 'chat')).toEqual({ authorization: 'Bearer token' })
    let issued = 0
    const provider = azure({ resource: 'x', accessToken: async () => `token-${++issued}` })
    expect(await proof(provider, 'responses')).toEqual({ authorization: 'Bearer token-1' })
    expect(await proof(provider, 'messages')).toEqual({ authorization: 'Bearer token-2' })
    expect(await proof(provider, 'chat', workspace('their key'))).toEqual({ 'api-key': 'their key' })
  })

  test('is missing without a key, and the provider is off', () => {
    expect(azure({ resource: 'x' }).credential).toBeUndefined()
  })
})

test.each([
  ['gpt-5.4', { developerRole: true, sealedReasoning: true, refuses: ['top_k', 'stop'], sampling: 'unless_thinking' }],
  ['our-deployment', { developerRole: true, refuses: ['top_k'] }],
  ['claude-sonnet-5', { refuses: [], thinking: ['adaptive'] }],
  ['grok-4.6', { developerRole: false, maxTokensField: 'max_tokens' }],
  ['llama-3.3-70b-instruct', { developerRole: false, sealedReasoning: false }],
])('%s has the quirks of its maker', (provider_model_id, facts) => {
  expect(quirksFor(azure(), { provider: 'azure', model: provider_model_id, api: 'chat' })).toMatchObject(facts)
})

describe('Azure’s own behavior', () => {
  const chunk = (body: JsonObject) => ({ data: JSON.stringify({ id: 'chatcmpl-1', model: 'gpt-4.1', created: 1, ...body }) })

  test('includes a first chunk without choices, with the filter results of the prompt', () => {
    const response = fold(
      decode(chatProvider, [
        {
          data: '{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}',
        },
        chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, content_filter_results: {} }] }),
        chunk({
          choices: [{ index: 0, delta: { content: 'Hi' }, content_filter_results: { hate: { filtered: false, severity: 'safe' } } }],
        }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] }),
        chunk({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }),
        { data: '[DONE]' },
      ]),
    )
    expect(response).toMatchObject({
      output: [{ type: 'message', content: [{ text: 'Hi' }] }],
      outcome: { status: 'incomplete', reason: 'content_filter' },
      usage: { input_tokens: 3, output_tokens: 1 },
    })
  })

  test('sends a Responses request to the v1 surface with the deployment as its model', () => {
    const provider = azure({ resource: 'x', apiKey: 'k' })
    const offer = { provider: 'azure', model: 'our-gpt', api: 'responses' }
    const request = responsesClient.decodeRequest({ model: 'gpt-5.4', input: 'Hi', top_k: 3 })
    const encoded = provider.dialects[0]?.encodeRequest(request, offer, quirksFor(provider, offer))
    expect(encoded?.body).toMatchObject({ model: 'our-gpt', store: false })
    expect(encoded?.body).not.toHaveProperty('top_k')
    expect(encoded?.warnings.map(({ param }) => param)).toEqual(['top_k'])
  })
})

describe('function tools with a reasoning effort, in Chat Completions', () => {
  const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }]
  const sent = (model: string, fields: JsonObject) => {
    const request = responsesClient.decodeRequest({ model, input: 'Hi', ...fields })
    const offer = { provider: 'azure', model, api: 'chat' }
    const { body, warnings } = chatProvider.encodeRequest(request, offer, quirksFor(azure({ resource: 'x', apiKey: 'k' }), offer))
    return [body.reasoning_effort, warnings.map(({ param }) => param)]
  }

  test.each(['gpt-5.6-luna', 'gpt-6-sol', 'gpt-6.1-terra'])('are sent without the effort to %s', model => {
    expect(sent(model, { tools, reasoning: { effort: 'high' } })).toEqual(['none', ['reasoning.effort']])
    expect(sent(model, { tools, reasoning: { effort: 'none' } })).toEqual(['none', []])
    expect(sent(model, { tools })).toEqual([undefined, []])
    expect(sent(model, { reasoning: { effort: 'high' } })).toEqual(['high', []])
  })

  test.each(['gpt-5', 'gpt-5.2', 'gpt-5.5', 'o3'])('are supported by %s', model => {
    expect(sent(model, { tools, reasoning: { effort: 'high' } })).toEqual(['high', []])
  })
})
