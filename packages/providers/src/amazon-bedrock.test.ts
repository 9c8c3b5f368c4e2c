import { createHash, createHmac } from 'node:crypto'
import { type Credential, type Provider, quirksFor } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { addressing, authorizing } from '../test/calling.ts'
import { amazonBedrock } from './amazon-bedrock.ts'

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const now = Date.parse('2026-11-21T09:30:00.123Z')

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** RFC 3986: only letters, digits and -_.~ stay unencoded. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

interface Signed {
  readonly url: string
  readonly body: string
  readonly region: string
  readonly service: string
  readonly token?: string
}

/** Signature Version 4 as the AWS documentation describes it, for a POST without a query. */
function signature({ url, body, region, service, token }: Signed): string {
  const { host, pathname } = new URL(url)
  // Each path segment is encoded once more than in the URL.
  const path = pathname.split('/').map(encoded).join('/')
  const headers = [`host:${host}`, 'x-amz-date:20261121T093000Z', ...(token === undefined ? [] : [`x-amz-security-token:${token}`])]
  const names = headers.map(header => header.slice(0, header.indexOf(':'))).join(';')
  const canonical = ['POST', path, '', ...headers, '', names, sha256(body)].join('\n')
  const scope = `20261121/${region}/${service}/aws4_request`
  const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${keys.secretAccessKey}`, '20261121'))
  const proof = hmac(key, ['AWS4-HMAC-SHA256', '20261121T093000Z', scope, sha256(canonical)].join('\n')).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${proof}`
}

const authorize = async (
  provider: Provider,
  call: { readonly url: string; readonly body: string; readonly dialect?: string },
  credential = provider.credential,
) => {
  if (!credential) throw new Error('It is off.')
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'signalbox' }
  const { dialect = 'bedrock' } = call
  await provider.authorize(headers, credential, { ...authorizing(dialect), ...call, api: dialect, now })
  return headers
}

const workspace = (secret: string, extra?: Credential['extra']): Credential => ({
  id: 'own',
  owner: 'workspace',
  secret,
  ...(extra && { extra }),
})

describe('the URLs of Amazon Bedrock', () => {
  const provider = amazonBedrock({ region: 'eu-central-1', apiKey: 'k' })
  const at = (model: string, more: { readonly dialect?: string; readonly stream?: boolean; readonly credential?: Credential } = {}) =>
    provider.endpoint({
      ...addressing(provider, more.dialect ?? 'bedrock', { model, stream: more.stream ?? false }),
      ...(more.credential && { credential: more.credential }),
    })

  test('have the model and the delivery in the path', () => {
    expect(at('eu.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe(
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    )
    expect(at('amazon.nova-pro-v1:0', { stream: true })).toMatch(/\/model\/amazon\.nova-pro-v1%3A0\/converse-stream$/)
    expect(at('arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc')).toContain(
      '/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse',
    )
  })

  test.each([
    ['openai.gpt-oss-120b', 'responses', '/v1/responses'],
    ['openai.gpt-5.5', 'responses', '/openai/v1/responses'],
    ['google.gemma-4-31b', 'chat', '/openai/v1/chat/completions'],
    ['xai.grok-4.3', 'responses', '/openai/v1/responses'],
    ['qwen.qwen3-32b', 'chat', '/v1/chat/completions'],
  ])('%s in the dialect %s is called at %s', (model, dialect, path) => {
    expect(at(model, { dialect })).toBe(`https://bedrock-mantle.eu-central-1.api.aws${path}`)
  })

  test('have an account’s own region, and no account can set a URL', () => {
    expect(at('m', { credential: workspace('k', { region: 'us-gov-west-1' }) })).toContain(
      'https://bedrock-runtime.us-gov-west-1.amazonaws.com/',
    )
    for (const region of ['evil.example/', 'us-east-1.evil.example', 'us-east-1@evil', '', '../x', 'US-EAST-1', 'us-east-1#'])
      expect(() => at('m', { credential: workspace('k', { region }) }), region).toThrow(/region/)
  })

  test('may be set by the operator, with or without the region', () => {
    const own = amazonBedrock({ apiKey: 'k', baseURL: 'https://vpce-1.bedrock.{region}.example/', mantleURL: 'https://mantle.example' })
    expect(own.endpoint(addressing(own, 'bedrock'))).toBe('https://vpce-1.bedrock.us-east-1.example/model/m/converse')
    expect(own.endpoint(addressing(own, 'chat'))).toBe('https://mantle.example/v1/chat/completions')
  })

  test('have the base model for token counts, in whichever region it runs', () => {
    const count = (model: string, dialect = 'bedrock') => provider.countEndpoint?.(addressing(provider, dialect, { model }))
    expect(count('global.anthropic.claude-haiku-4-5-20251001-v1:0')).toBe(
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/count-tokens',
    )
    expect(count('openai.gpt-5.5', 'responses')).toBeUndefined()
  })
})

describe('the authorization of Amazon Bedrock', () => {
  test('is a bearer token for an API key', async () => {
    const headers = await authorize(amazonBedrock({ apiKey: 'bedrock-api-key' }), { url: 'https://x.example/', body: '{}' })
    expect(headers.authorization).toBe('Bearer bedrock-api-key')
    expect(headers).not.toHaveProperty('x-amz-date')
  })

  test.each(['amazon.nova-pro-v1:0', 'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5', "odd !*'()~ name"])(
    'access keys sign the very bytes that are sent: %s',
    async model => {
      const provider = amazonBedrock({ region: 'us-west-2', ...keys })
      const url = provider.endpoint(addressing(provider, 'bedrock', { model, stream: true }))
      const body = JSON.stringify({ messages: [{ role: 'user', content: [{ text: 'Grüße 🚂' }] }] })
      const headers = await authorize(provider, { url, body })
      expect(headers).toEqual({
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'signalbox',
        'x-amz-date': '20261121T093000Z',
        authorization: signature({ url, body, region: 'us-west-2', service: 'bedrock' }),
      })
      expect((await authorize(provider, { url, body: `${body} ` })).authorization).not.toBe(headers.authorization)
    },
  )

  test('includes the session token of temporary keys, and signs for the account’s region', async () => {
    const provider = amazonBedrock({ region: 'us-west-2', apiKey: 'not this one' })
    const secret = JSON.stringify({ access_key_id: keys.accessKeyId, secret_access_key: keys.secretAccessKey, session_token: 'tok/en+1=' })
    const credential = workspace(secret, { region: 'ap-southeast-2' })
    const url = provider.endpoint({ api: 'bedrock', model: 'm', stream: false, credential })
    const headers = await authorize(provider, { url, body: '{}' }, credential)
    expect(headers['x-amz-security-token']).toBe('tok/en+1=')
    expect(headers.authorization).toBe(signature({ url, body: '{}', region: 'ap-southeast-2', service: 'bedrock', token: 'tok/en+1=' }))
  })

  test('signs for another service in the OpenAI dialects', async () => {
    const provider = amazonBedrock(keys)
    const url = provider.endpoint(addressing(provider, 'chat'))
    const headers = await authorize(provider, { url, body: '{}', dialect: 'chat' })
    expect(headers.authorization).toBe(signature({ url, body: '{}', region: 'us-east-1', service: 'bedrock-mantle' }))
  })

  test('refuses malformed keys without showing them', async () => {
    const provider = amazonBedrock()
    for (const secret of ['{"access_key_id":"AKIA', '{"secret_access_key":"s3cret"}'])
      await expect(authorize(provider, { url: 'https://x.example/', body: '' }, workspace(secret))).rejects.toThrow(
        /^(?!.*(AKIA|s3cret)).*access_key_id/,
      )
  })

  test('is missing without any key, and the provider is off', () => {
    expect(amazonBedrock().credential).toBeUndefined()
    expect(amazonBedrock({ accessKeyId: 'only half' }).credential).toBeUndefined()
  })
})

describe('the models of Amazon Bedrock', () => {
  const provider = amazonBedrock()
  const quirks = (provider_model_id: string) =>
    quirksFor(provider, { provider: 'amazon-bedrock', model: provider_model_id, api: 'bedrock' })

  test('take media only as bytes', () => {
    for (const id of ['anthropic.claude-opus-5', 'meta.llama3-3-70b-instruct-v1:0', 'nobody.knows'])
      expect(quirks(id).inlineMediaOnly).toBe(true)
  })

  test.each([
    [
      'global.anthropic.claude-opus-5-5',
      { thinking: ['adaptive'], sampling: 'none', noForcedTools: true, jsonSchema: 'tool', refuses: ['strict'] },
    ],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', { thinking: ['budget'], anthropicFields: true, jsonSchema: 'native' }],
    ['global.anthropic.claude-sonnet-4-6', { anthropicFields: true, jsonSchema: 'tool' }],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', { anthropicFields: true, jsonSchema: 'tool' }],
    ['anthropic.claude-3-haiku-20240307-v1:0', { thinking: [], jsonSchema: 'tool', anthropicFields: true }],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1', { anthropicFields: true, jsonSchema: 'native' }],
    ['openai.gpt-oss-20b-1:0', { thinking: ['level'], thinkingField: 'reasoning_effort', jsonSchema: 'native' }],
    ['global.openai.gpt-6-sol', { thinkingField: 'reasoning', sampling: 'none', refuses: expect.arrayContaining(['stop']) }],
    ['global.amazon.nova-2-lite-v1:0', { thinkingField: 'reasoningConfig', refuses: ['strict'] }],
    ['us.amazon.nova-pro-v1:0', { thinking: [], refuses: ['strict'] }],
    ['us.meta.llama4-scout-17b-instruct-v1:0', { noForcedTools: true, refuses: ['strict'], cacheMarks: [], textOnlyResults: false }],
    ['qwen.qwen3-32b-v1:0', { jsonSchema: 'native', thinking: [] }],
    ['nobody.knows', { thinking: [], refuses: ['strict'], cacheMarks: [], textOnlyResults: true }],
  ])('have the known facts of %s', (model, facts) => {
    expect(quirks(model)).toMatchObject(facts)
  })

  test('of Anthropic with JSON schemas support strict tools as well', () => {
    expect(quirks('eu.anthropic.claude-haiku-4-5-20251001-v1:0').refuses ?? []).not.toContain('strict')
  })
})
