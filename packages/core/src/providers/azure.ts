import { chatProvider, messagesProvider, responsesProvider } from '../dialects/index.ts'
import type { OptionTableOf } from '../errors/option-table.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import { type Credential, credentialOf, type EndpointContext, type Provider } from '../protocol/provider.ts'
import { claudeQuirks } from './claude-models.ts'
import { openaiQuirksOf } from './openai-models.ts'
import { providerOptions } from './provider-options.ts'
import { rateLimits } from './rate-limits.ts'

/** The options of `azure`. */
export interface AzureOptions {
  /** The name of the resource, as in `https://NAME.openai.azure.com`. */
  readonly resource?: string | undefined
  /** Instead of the resource's own address: what stands before `/openai`. */
  readonly baseUrl?: string | undefined
  /** A key of the resource. */
  readonly apiKey?: string | undefined
  /** Of Microsoft Entra ID, instead of a key; a function where it changes. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /** `?api-version=`. Default: none on the `v1` surface, `2024-10-21` on the old one, which asks for it. */
  readonly apiVersion?: string | undefined
  /** `v1`: the model in the body, Responses and Chat Completions. `deployments`: the old one, Chat Completions with the deployment in the path. */
  readonly surface?: 'v1' | 'deployments' | undefined
}

const azureOptions: OptionTableOf<AzureOptions> = {
  resource: 'text',
  baseUrl: 'text',
  apiKey: 'text',
  accessToken: 'text or function',
  apiVersion: 'text',
  surface: 'text',
}

/**
 * Azure OpenAI and Foundry. A model goes by the name of its deployment. A credential is a key; its `extra.resource` names the
 * resource that it belongs to.
 *
 * @throws {TypeError} An option is unknown or of another kind, or `resource` is missing beside a key.
 * @example azure({ resource: 'contoso-eu', apiKey: process.env.AZURE_API_KEY })
 */
export function azure(given: AzureOptions = {}): Provider<'azure'> {
  const options = providerOptions('azure', given, azureOptions)
  const { accessToken, surface = 'v1', resource, baseUrl } = options
  if (!Object.hasOwn(surfaces, surface)) throw new TypeError(`azure: \`surface\` is "${surface}"; it takes "v1" or "deployments".`)
  if (platformOf(options).credential && resource === undefined && baseUrl === undefined)
    throw new TypeError('azure: `resource` is missing; it takes the name of the resource, as in https://NAME.openai.azure.com.')
  const { dialects, pathOf, listPath } = surfaces[surface]
  const endpoint = (call: EndpointContext): string => {
    if (call.dialect === messagesProvider.name) return `${rootOf(call.credential, options, 'services.ai')}/anthropic/v1/messages`
    return rootOf(call.credential, options, 'openai') + pathOf(call, options)
  }
  return {
    id: 'azure',
    display_name: 'Azure OpenAI',
    dialects: [...dialects, messagesProvider],
    ...platformOf(options),
    quirks: { developer_role: true, refuses: ['top_k'], min_output_tokens: 16, sealed_reasoning: true, rate_limits: rateLimits.openai },
    quirksOf: azureQuirksOf,
    data_policy: 'no_training',
    endpoint,
    countEndpoint: call => (call.dialect === messagesProvider.name ? `${endpoint(call)}/count_tokens` : undefined),
    account: {
      extra: ['resource'],
      check: credential => ({ dialect: chatProvider.name, url: rootOf(credential, options, 'openai') + listPath(options) }),
    },
    async authorize(headers, { owner, secret, extra }, { dialect }) {
      const own = owner === 'platform' && typeof accessToken === 'function' ? accessToken : undefined
      if (own || extra?.proof === 'token') headers.authorization = `Bearer ${own ? await own() : secret}`
      else headers[dialect === messagesProvider.name ? 'x-api-key' : 'api-key'] = secret
    },
  }
}

interface Surface {
  readonly dialects: readonly ProviderDialect[]
  pathOf(call: EndpointContext, options: AzureOptions): string
  /** Of the list of models. */
  listPath(options: AzureOptions): string
}

const oldVersion = '2024-10-21'
const versioned = (path: string, apiVersion?: string): string =>
  apiVersion === undefined ? path : `${path}?api-version=${encodeURIComponent(apiVersion)}`

const surfaces: Readonly<Record<'v1' | 'deployments', Surface>> = {
  v1: {
    dialects: [responsesProvider, chatProvider],
    pathOf: ({ dialect }, { apiVersion }) => {
      const path = dialect === chatProvider.name ? '/openai/v1/chat/completions' : '/openai/v1/responses'
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

function platformOf({ apiKey, accessToken }: AzureOptions): { readonly credential?: Credential } {
  const make = (secret: string, extra?: Credential['extra']): { readonly credential: Credential } => ({
    credential: credentialOf({ id: 'azure:platform', owner: 'platform', ...(extra && { extra }) }, secret),
  })
  if (accessToken !== undefined) return make(typeof accessToken === 'string' ? accessToken : '', { proof: 'token' })
  return apiKey === undefined ? {} : make(apiKey)
}

/** The account's own resource before the operator's address. A workspace names it too, and it becomes a part of a host name. */
function rootOf({ extra }: Credential, { resource, baseUrl }: AzureOptions, service: 'openai' | 'services.ai'): string {
  if (extra?.resource === undefined && baseUrl !== undefined) return baseUrl.replace(/\/+$/, '')
  const name = extra?.resource ?? resource ?? ''
  if (!/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name))
    throw new TypeError('The resource of an Azure account is a name of small letters, digits and hyphens.')
  return `https://${name}.${service}.azure.com`
}

/** Makers other than OpenAI, in the Chat Completions language. */
const others: Quirks = { developer_role: false, max_tokens_field: 'max_tokens', sealed_reasoning: false }

/** By the name of the model, which is the default name of a deployment. */
function azureQuirksOf(model: string): Quirks | undefined {
  const claude = claudeQuirks(model)
  if (claude) return { refuses: [], ...claude }
  return /^(?:grok|deepseek|(?:meta-)?llama|kimi|cohere|(?:mi|mini)stral|codestral|phi|qwen|gpt-oss)/i.test(model)
    ? others
    : { earlier_reasoning: 'own', ...openaiQuirksOf(model) }
}
