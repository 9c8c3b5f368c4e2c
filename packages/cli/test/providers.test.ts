import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Provider } from '@signalbox/dialects/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { builtIns } from '../src/built-in.ts'
import type { Environment } from '../src/environment.ts'
import { StartError } from '../src/fault.ts'
import { type ProviderSetup, providersOf } from '../src/providers.ts'
import type { Config } from '../src/schema.ts'

const from = (environment: Environment): ProviderSetup => providersOf({ providers: [] }, environment)
const listed = (listed: Config['providers'][number], environment: Environment = {}): Provider => {
  const [provider] = providersOf({ providers: [listed] }, environment).providers
  if (!provider) throw new Error('It is not on.')
  return provider
}
const addressOf = (provider: Provider, dialect = provider.dialects[0]?.name ?? ''): string =>
  provider.endpoint({
    api: dialect,
    model: 'm',
    stream: false,
    credential: provider.credential ?? { id: '', owner: 'platform', secret: '' },
  })

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function keyFile(key: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'))
  folders.push(folder)
  writeFileSync(join(folder, 'key.json'), JSON.stringify(key))
  return join(folder, 'key.json')
}

describe('the environment', () => {
  test('enables no provider if nothing is set', () => {
    expect(from({ OPENAI_API_KEY: ' ', AWS_REGION: 'us-east-1' })).toEqual({ providers: [], notices: [] })
  })

  test.each(builtIns.filter(({ methods }) => methods.length === 1 && methods[0]?.length === 1))(
    'enables $id with any one of its variables',
    ({ id, fields, methods }) => {
      const variables = methods.flatMap(([sign]) => fields[sign] ?? [])
      expect(variables.length).toBeGreaterThan(0)
      for (const variable of variables) {
        const { providers, notices } = from({ [variable]: 'http://127.0.0.1:1/v1' })
        expect(providers.map(provider => provider.id)).toEqual([id])
        expect(notices).toEqual([])
      }
    },
  )

  const vertex = { GOOGLE_VERTEX_PROJECT: 'p', GOOGLE_VERTEX_LOCATION: 'europe-west4' }
  const bedrock = 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse'
  test.each<readonly [Environment, string]>([
    [
      { CLOUDFLARE_API_KEY: 'k', CLOUDFLARE_ACCOUNT_ID: 'acct' },
      'https://api.cloudflare.com/client/v4/accounts/acct/ai/v1/chat/completions',
    ],
    [{ AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'contoso' }, 'https://contoso.openai.azure.com/openai/v1/responses'],
    [
      { AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: 'https://contoso.openai.azure.com/' },
      'https://contoso.openai.azure.com/openai/v1/responses',
    ],
    [{ CLOUDFLARE_API_TOKEN: 'k', CLOUDFLARE_ACCOUNT_ID: 'a' }, 'https://api.cloudflare.com/client/v4/accounts/a/ai/v1/chat/completions'],
    [
      { ANTHROPIC_AWS_API_KEY: 'k', ANTHROPIC_AWS_WORKSPACE_ID: 'wrkspc_1', AWS_REGION: 'eu-central-1' },
      'https://aws-external-anthropic.eu-central-1.api.aws/v1/messages',
    ],
    [{ OLLAMA_HOST: '0.0.0.0' }, 'http://127.0.0.1:11434/v1/chat/completions'],
    [{ OLLAMA_HOST: 'gpu.example:8080' }, 'http://gpu.example:8080/v1/chat/completions'],
    [{ OLLAMA_HOST: 'https://gpu.example' }, 'https://gpu.example/v1/chat/completions'],
    [{ OLLAMA_HOST: '[::1]:11434' }, 'http://[::1]:11434/v1/chat/completions'],
    [{ OLLAMA_BASE_URL: 'http://gpu.example/ollama/v1' }, 'http://gpu.example/ollama/v1/chat/completions'],
    [{ AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'eu-central-1' }, bedrock],
    [{ AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', AWS_DEFAULT_REGION: 'eu-central-1' }, bedrock],
    [{ GOOGLE_VERTEX_API_KEY: 'k' }, 'https://aiplatform.googleapis.com/v1beta1/publishers/google/models/m:generateContent'],
    [
      { ...vertex, GOOGLE_APPLICATION_CREDENTIALS: keyFile({ client_email: 'a@b', private_key: 'PEM' }) },
      'https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p/locations/europe-west4/publishers/google/models/m:generateContent',
    ],
  ])('enables a provider that needs more than a key if all is set: %o', (environment, address) => {
    const { providers, notices } = from(environment)
    expect(providers.map(provider => addressOf(provider))).toEqual([address])
    expect(notices).toEqual([])
  })

  test('authenticates to AWS with all of its keys', () => {
    const keys = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't', AWS_REGION: 'us-east-1' }
    const [provider] = from(keys).providers
    expect(JSON.parse(provider?.credential?.secret ?? '')).toEqual({ access_key_id: 'k', secret_access_key: 's', session_token: 't' })
  })

  test.each<readonly [Environment, string]>([
    [{ CLOUDFLARE_API_KEY: 'k' }, 'cloudflare-workers-ai stays disabled: CLOUDFLARE_API_KEY is set, but CLOUDFLARE_ACCOUNT_ID is not.'],
    [{ AZURE_API_KEY: 'k' }, 'azure stays disabled: AZURE_API_KEY is set, but AZURE_RESOURCE_NAME is not.'],
    [{ AZURE_RESOURCE_NAME: 'r' }, 'azure stays disabled: AZURE_RESOURCE_NAME is set, but AZURE_API_KEY or AZURE_OPENAI_API_KEY is not.'],
    [{ AWS_ACCESS_KEY_ID: 'k' }, 'amazon-bedrock stays disabled: AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not.'],
    [{ AWS_SECRET_ACCESS_KEY: 'k' }, 'amazon-bedrock stays disabled: AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not.'],
    [
      { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' },
      'amazon-bedrock stays disabled: AWS_ACCESS_KEY_ID is set, but AWS_REGION or AWS_DEFAULT_REGION is not.',
    ],
    [
      { AWS_BEARER_TOKEN_BEDROCK: 'k' },
      'amazon-bedrock stays disabled: AWS_BEARER_TOKEN_BEDROCK is set, but AWS_REGION or AWS_DEFAULT_REGION is not.',
    ],
    [vertex, 'google-vertex stays disabled: GOOGLE_VERTEX_PROJECT is set, but GOOGLE_APPLICATION_CREDENTIALS is not.'],
  ])('names what is missing in %o', (environment, notice) => {
    expect(from(environment)).toEqual({ providers: [], notices: [notice] })
  })

  test('ignores variables of other programs', () => {
    const others = { GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json', AWS_REGION: 'us-east-1', CLOUDFLARE_ACCOUNT_ID: 'a' }
    expect(from(others)).toEqual({ providers: [], notices: [] })
  })

  test.each<readonly [Environment, string]>([
    [
      { ...vertex, GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json' },
      'The key of the service account /nowhere.json cannot be read (ENOENT).',
    ],
    [
      { ...vertex, GOOGLE_APPLICATION_CREDENTIALS: keyFile({ type: 'authorized_user', refresh_token: 'secret' }) },
      'key.json is not a service account key: it must be JSON with `client_email` and `private_key`.',
    ],
    [{ AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'Contoso_EU' }, 'azure: The resource of an Azure account may only contain'],
    [
      { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'europe' },
      'amazon-bedrock: The region of a Bedrock account must look like "us-east-1".',
    ],
    [
      { OLLAMA_HOST: 'http://127.0.0.1:11434/v1/chat/completions' },
      'ollama: `base_url` ends with "/chat/completions", which each call adds itself; it takes "http://127.0.0.1:11434/v1".',
    ],
    [{ OPENAI_API_KEY: 'two words' }, 'OPENAI_API_KEY is not a valid header value'],
  ])('that is invalid stops the start: %o', (environment, message) => {
    expect(() => from(environment)).toThrow(StartError)
    expect(() => from(environment)).toThrow(message)
  })
})

describe('a built-in provider of the config', () => {
  test('has the provider’s own id', () => {
    const access = { api_key: 'k', base_url: 'http://127.0.0.1:1/v1', account_id: 'a', resource: 'r', region: 'us-east-1' }
    expect(builtIns.map(({ make }) => make(access).id)).toEqual(builtIns.map(({ id }) => id))
  })

  test('takes its key from the config, otherwise from a variable that it names, otherwise from its own', () => {
    const environment = { GROQ_API_KEY: 'usual', MY_KEY: 'mine' }
    const secretOf = (provider: Provider): string | undefined => provider.credential?.secret
    expect(secretOf(listed({ id: 'groq', api_key: 'said' }, environment))).toBe('said')
    expect(secretOf(listed({ id: 'groq', api_key_env: 'MY_KEY' }, environment))).toBe('mine')
    expect(secretOf(listed({ id: 'groq' }, environment))).toBe('usual')
  })

  test.each([
    ['a list in the config', { api_key: ['one', 'two'] }, {}],
    ['a variable that the config names', { api_key_env: 'MY_KEYS' }, { MY_KEYS: 'one,two' }],
    ['its own variable', {}, { GROQ_API_KEY: 'one,two,' }],
  ])('takes several keys from %s', (_, fields, environment) => {
    for (const more of [{}, { base_url: 'http://127.0.0.1:1', speaks: ['gemini' as const] }]) {
      const { credential, moreCredentials = [] } = listed({ id: 'groq', ...fields, ...more }, environment)
      expect([credential, ...moreCredentials].map(each => each?.secret)).toEqual(['one', 'two'])
    }
  })

  test('keeps its facts at another base URL, where it may need no key', () => {
    const provider = listed({ id: 'mistral', base_url: 'http://127.0.0.1:1/v1', data_policy: 'zdr' })
    expect(addressOf(provider)).toBe('http://127.0.0.1:1/v1/chat/completions')
    expect(provider).toMatchObject({ quirks: { seedField: 'random_seed' }, dataPolicy: 'zdr', credential: { secret: '' } })
  })

  test('may use fewer dialects than supported, and at another base URL others', () => {
    const spoken = (provider: Provider): readonly string[] => provider.dialects.map(({ name }) => name)
    expect(spoken(listed({ id: 'groq', api_key: 'k', speaks: ['responses'] }))).toEqual(['responses'])
    const elsewhere = listed({ id: 'deepseek', api_key: 'k', speaks: ['gemini'], base_url: 'http://127.0.0.1:1' })
    expect(spoken(elsewhere)).toEqual(['gemini'])
    expect(elsewhere).toMatchObject({ id: 'deepseek', quirks: { noJsonSchema: true } })
  })

  test('may name its region', () => {
    const address = addressOf(listed({ id: 'amazon-bedrock', api_key: 'k', region: 'us-west-2' }, { AWS_REGION: 'eu-west-1' }))
    expect(address).toBe('https://bedrock-runtime.us-west-2.amazonaws.com/model/m/converse')
    const file = keyFile({ client_email: 'a@b', private_key: 'PEM', project_id: 'theirs' })
    const vertex = listed({ id: 'google-vertex', project: 'ours', location: 'us-central1', credentials_file: file })
    expect(addressOf(vertex)).toContain('https://us-central1-aiplatform.googleapis.com/v1beta1/projects/ours/locations/us-central1/')
  })

  test('reports which field is missing', () => {
    const missing =
      (field: object): unknown =>
      () =>
        listed({ id: 'google-vertex', ...field })
    expect(missing({ project: 'p' })).toThrow('`providers[0].credentials_file` is missing')
    expect(missing({ credentials_file: 'f' })).toThrow('`providers[0].project` is missing')
    expect(missing({})).toThrow(
      '`providers[0].project` is missing; it takes the project of "google-vertex", which may also be in GOOGLE_VERTEX_PROJECT.',
    )
  })

  test('that is a local server needs no key', () => {
    expect(addressOf(listed({ id: 'ollama' }))).toBe('http://127.0.0.1:11434/v1/chat/completions')
    expect(addressOf(listed({ id: 'ollama' }, { OLLAMA_BASE_URL: 'http://gpu:1/v1' }))).toBe('http://gpu:1/v1/chat/completions')
  })
})

describe('any other server', () => {
  test('uses the dialects of the config, at its base URL', () => {
    const speaks = ['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const
    const provider = listed({ id: 'mine', speaks: [...speaks], base_url: 'http://127.0.0.1:1', api_key: 'k' })
    expect(speaks.map(dialect => addressOf(provider, dialect))).toEqual([
      'http://127.0.0.1:1/responses',
      'http://127.0.0.1:1/chat/completions',
      'http://127.0.0.1:1/messages',
      'http://127.0.0.1:1/models/m:generateContent',
      'http://127.0.0.1:1/model/m/converse',
    ])
    expect(provider.dialects.map(({ name }) => name)).toEqual(speaks)
  })
})
