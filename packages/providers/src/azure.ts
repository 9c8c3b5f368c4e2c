import type { ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { type ApiKeys, type Credential, type EndpointContext, type Provider, platformCredentials } from '@signalbox/dialects/protocol'
import { chatProvider, messagesProvider, responsesProvider } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { claudeQuirks } from './claude-models.ts'
import { openaiQuirksOf } from './openai-models.ts'
import { providerOptions } from './provider-options.ts'
import { rateLimits } from './rate-limit-headers.ts'

/** Options of `azure`. */
export interface AzureOptions {
  /** Resource name, as in `https://NAME.openai.azure.com`. */
  readonly resource?: string | undefined
  /** The URL before `/openai`, used instead of the resource's own host. */
  readonly baseURL?: string | undefined
  /** API key of the resource, or several. */
  readonly apiKey?: ApiKeys | undefined
  /** Microsoft Entra ID token, used instead of a key. Pass a function if the token changes. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /** `?api-version=`. Default: none on the `v1` surface; `2024-10-21` on `deployments`, which requires one. */
  readonly apiVersion?: string | undefined
  /**
   * `v1`: Responses and Chat Completions, with the model in the body. `deployments`: the legacy API, Chat Completions only, with the
   * deployment in the path.
   */
  readonly surface?: 'v1' | 'deployments' | undefined
}

const azureOptions: OptionTableOf<AzureOptions> = {
  resource: 'text',
  baseURL: 'text',
  apiKey: 'text or texts',
  accessToken: 'text or function',
  apiVersion: 'text',
  surface: 'text',
}

/**
 * Azure OpenAI and Foundry. A model is named by its deployment. A credential is a key; its `extra.resource` names the resource it belongs
 * to.
 *
 * @throws {TypeError} An option is unknown or has the wrong type, or `resource` is missing although a key or token is given.
 * @example azure({ resource: 'contoso-eu', apiKey: process.env.AZURE_API_KEY })
 */
export function azure(given: AzureOptions = {}): Provider<'azure'> {
  const options = providerOptions('azure', given, azureOptions)
  const { accessToken, surface = 'v1', resource, baseURL } = options
  if (!Object.hasOwn(surfaces, surface)) throw new TypeError(`azure: \`surface\` is "${surface}"; it takes "v1" or "deployments".`)
  if (platformOf(options).credential && resource === undefined && baseURL === undefined)
    throw new TypeError('azure: `resource` is missing; it takes the name of the resource, as in https://NAME.openai.azure.com.')
  const { dialects, pathOf, listPath } = surfaces[surface]
  const endpoint = (call: EndpointContext): string => {
    if (call.api === messagesProvider.name) return `${rootOf(call.credential, options, 'services.ai')}/anthropic/v1/messages`
    return rootOf(call.credential, options, 'openai') + pathOf(call, options)
  }
  return {
    id: 'azure',
    displayName: 'Azure OpenAI',
    dialects: [...dialects, messagesProvider],
    ...platformOf(options),
    quirks: {
      developerRole: true,
      refuses: ['top_k'],
      minOutputTokens: 16,
      sealedReasoning: true,
      sharedFields: ['prompt_cache_options', 'prompt_cache_retention'],
      standardTier: 'default',
      // learn.microsoft.com, Flex processing with Azure OpenAI, read on 2026-11-28.
      flexPercent: 50,
      rateLimits: rateLimits.openai,
    },
    quirksOf: azureQuirksOf,
    dataPolicy: 'no_training',
    endpoint,
    countEndpoint: call => (call.api === messagesProvider.name ? `${endpoint(call)}/count_tokens` : undefined),
    account: {
      extra: ['resource'],
      options: '`resource` and `apiKey`, or `resource` and `accessToken`',
      check: credential => ({ api: chatProvider.name, url: rootOf(credential, options, 'openai') + listPath(options) }),
    },
    async authorize(headers, { owner, secret, extra }, { api }) {
      const getToken = owner === 'platform' && typeof accessToken === 'function' ? accessToken : undefined
      if (getToken || extra?.proof === 'token') headers.authorization = `Bearer ${getToken ? await getToken() : secret}`
      else headers[api === messagesProvider.name ? 'x-api-key' : 'api-key'] = secret
    },
  }
}

interface Surface {
  readonly dialects: readonly ProviderDialect[]
  pathOf(call: EndpointContext, options: AzureOptions): string
  /** Path of the model list. */
  listPath(options: AzureOptions): string
}

const oldVersion = '2024-10-21'
const versioned = (path: string, apiVersion?: string): string =>
  apiVersion === undefined ? path : `${path}?api-version=${encodeURIComponent(apiVersion)}`

const surfaces: Readonly<Record<'v1' | 'deployments', Surface>> = {
  v1: {
    dialects: [responsesProvider, chatProvider],
    pathOf: ({ api }, { apiVersion }) => {
      const path = api === chatProvider.name ? '/openai/v1/chat/completions' : '/openai/v1/responses'
      return versioned(path, apiVersion)
    },
    listPath: ({ apiVersion }) => versioned('/openai/v1/models', apiVersion),
  },
  deployments: {
    dialects: [chatProvider],
    pathOf: ({ model }, { apiVersion = oldVersion }) =>
      versioned(`/openai/deployments/${encodeURIComponent(model)}/chat/completions`, apiVersion),
    listPath: ({ apiVersion = oldVersion }) => versioned('/openai/models', apiVersion),
  },
}

const platformOf = ({ apiKey, accessToken }: AzureOptions): Pick<Provider, 'credential' | 'moreCredentials'> =>
  accessToken === undefined
    ? platformCredentials({ id: 'azure' }, apiKey)
    : platformCredentials({ id: 'azure', extra: { proof: 'token' } }, typeof accessToken === 'string' ? accessToken : '')

/**
 * The root URL. The account's own resource takes precedence over the operator's base URL. The name is validated because workspaces can set
 * it, and it becomes part of a host name.
 */
function rootOf({ extra }: Credential, { resource, baseURL }: AzureOptions, service: 'openai' | 'services.ai'): string {
  if (extra?.resource === undefined && baseURL !== undefined) return baseURL.replace(/\/+$/, '')
  const name = extra?.resource ?? resource ?? ''
  if (!/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name))
    throw new TypeError('The resource of an Azure account may only contain lower-case letters, digits and hyphens.')
  return `https://${name}.${service}.azure.com`
}

/** Models of vendors other than OpenAI, served through Chat Completions. */
const others: Quirks = { developerRole: false, maxTokensField: 'max_tokens', sealedReasoning: false, sharedFields: [] }

/** Looks up quirks by model name, which is the default deployment name. */
function azureQuirksOf(model: string): Quirks | undefined {
  const claude = claudeQuirks(model)
  if (claude) return { refuses: [], ...claude }
  return /^(?:grok|deepseek|(?:meta-)?llama|kimi|cohere|(?:mi|mini)stral|codestral|phi|qwen|gpt-oss)/i.test(model)
    ? others
    : { earlierReasoning: 'own', ...openaiQuirksOf(model) }
}
