import type { Provider } from '@signalbox/core/protocol'
import { describe, expect, test } from 'vitest'
import { builtIns } from '../src/built-in.ts'
import type { Environment } from '../src/environment.ts'
import { type ProvidersOn, providersOf } from '../src/providers.ts'
import type { Config } from '../src/schema.ts'

const from = (environment: Environment): ProvidersOn => providersOf({ providers: [] }, environment)
const listed = (listed: Config['providers'][number], environment: Environment = {}): Provider => {
  const [provider] = providersOf({ providers: [listed] }, environment).providers
  if (!provider) throw new Error('It is not on.')
  return provider
}
const addressOf = (provider: Provider, dialect = provider.dialects[0]?.name ?? ''): string =>
  provider.endpoint({ dialect, model: 'm', stream: false, credential: provider.credential ?? { id: '', owner: 'platform', secret: '' } })

describe('the environment', () => {
  test('turns nobody on where nothing is set', () => {
    expect(from({ OPENAI_API_KEY: ' ', AWS_REGION: 'us-east-1' })).toEqual({ providers: [], notices: [] })
  })

  test.each(builtIns.flatMap(row => (row.ways.length === 1 && row.ways[0]?.length === 1 ? [row] : [])))(
    'turns on $id with any one of its variables',
    ({ id, fields, ways: [[sign]] }) => {
      const variables = fields[sign] ?? []
      expect(variables.length).toBeGreaterThan(0)
      for (const variable of variables) {
        const { providers, notices } = from({ [variable]: 'http://127.0.0.1:1/v1' })
        expect(providers.map(provider => provider.id)).toEqual([id])
        expect(notices).toEqual([])
      }
    },
  )

  test('turns on who needs more than a key, where all of it is there', () => {
    const cloudflare = from({ CLOUDFLARE_API_KEY: 'k', CLOUDFLARE_ACCOUNT_ID: 'acct' })
    expect(cloudflare.providers.map(provider => addressOf(provider))).toEqual([
      'https://api.cloudflare.com/client/v4/accounts/acct/ai/v1/chat/completions',
    ])
  })

  test.each([
    [{ CLOUDFLARE_API_KEY: 'k' }, 'cloudflare-workers-ai stays off: CLOUDFLARE_API_KEY is set, but CLOUDFLARE_ACCOUNT_ID is not.'],
  ])('names what is missing beside %o', (environment, notice) => {
    expect(from(environment)).toEqual({ providers: [], notices: [notice] })
  })
})

describe('a built-in provider of the config', () => {
  test('has an id that is the provider’s own', () => {
    const access = { api_key: 'k', base_url: 'http://127.0.0.1:1/v1', account_id: 'a' }
    expect(builtIns.map(({ make }) => make(access).id)).toEqual(builtIns.map(({ id }) => id))
  })

  test('takes its key from the config, else from a variable that it names, else from its own', () => {
    const environment = { GROQ_API_KEY: 'usual', MY_KEY: 'mine' }
    const secretOf = (provider: Provider): string | undefined => provider.credential?.secret
    expect(secretOf(listed({ id: 'groq', api_key: 'said' }, environment))).toBe('said')
    expect(secretOf(listed({ id: 'groq', api_key_env: 'MY_KEY' }, environment))).toBe('mine')
    expect(secretOf(listed({ id: 'groq' }, environment))).toBe('usual')
  })

  test('keeps its facts at another address, where it may do without a key', () => {
    const provider = listed({ id: 'mistral', base_url: 'http://127.0.0.1:1/v1', data_policy: 'zdr' })
    expect(addressOf(provider)).toBe('http://127.0.0.1:1/v1/chat/completions')
    expect(provider).toMatchObject({ quirks: { seed_field: 'random_seed' }, data_policy: 'zdr', credential: { secret: '' } })
  })

  test('may speak less than it can, and at another address what it cannot', () => {
    const spoken = (provider: Provider): readonly string[] => provider.dialects.map(({ name }) => name)
    expect(spoken(listed({ id: 'groq', api_key: 'k', speaks: ['responses'] }))).toEqual(['responses'])
    const elsewhere = listed({ id: 'deepseek', api_key: 'k', speaks: ['gemini'], base_url: 'http://127.0.0.1:1' })
    expect(spoken(elsewhere)).toEqual(['gemini'])
    expect(elsewhere).toMatchObject({ id: 'deepseek', quirks: { no_json_schema: true } })
  })

  test('that is a server of one’s own asks for nothing', () => {
    expect(addressOf(listed({ id: 'ollama' }))).toBe('http://127.0.0.1:11434/v1/chat/completions')
    expect(addressOf(listed({ id: 'ollama' }, { OLLAMA_BASE_URL: 'http://gpu:1/v1' }))).toBe('http://gpu:1/v1/chat/completions')
  })
})
