import type { ApiKeys, Provider } from '@signalbox/dialects/protocol'
import { messagesProvider } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { accountTiers } from './account-tiers.ts'
import { claudeQuirks } from './claude-models.ts'
import { defineProvider } from './define-provider.ts'
import { providerOptions } from './provider-options.ts'
import { rateLimits } from './rate-limit-headers.ts'
import { vendorOptions } from './vendor.ts'

/** Options of `anthropic`. */
export interface AnthropicOptions {
  /** API key, or several of different accounts. */
  readonly apiKey?: ApiKeys | undefined
  /** API base URL, including the version. */
  readonly baseURL?: string
}

/** Options of `claudeOnAws`. */
export interface ClaudeOnAwsOptions {
  /** API key of the workspace, or several. */
  readonly apiKey?: ApiKeys | undefined
  /** Default: `us-east-1`. */
  readonly region?: string | undefined
  /** Workspace id, as in `wrkspc_…`. */
  readonly workspace?: string | undefined
  readonly baseURL?: string | undefined
}

const awsOptions: OptionTableOf<ClaudeOnAwsOptions> = { apiKey: vendorOptions.apiKey, region: 'text', workspace: 'text', baseURL: 'text' }

/**
 * Claude Platform on AWS: the Anthropic API with AWS keys on an AWS host. `extra.workspace` and `extra.region` of a credential set the
 * workspace and the region. Source: docs.aws.amazon.com/claude-platform, making requests, 2026-11.
 *
 * @throws {TypeError} An option is unknown or has an invalid value; on a call, if its credential has no workspace.
 * @example claudeOnAws({ apiKey, workspace: 'wrkspc_01', region: 'us-west-2' })
 */
export function claudeOnAws(options: ClaudeOnAwsOptions = {}): Provider<'anthropic-aws'> {
  const { apiKey, region = 'us-east-1', workspace, baseURL = awsUrl } = providerOptions('claudeOnAws', options, awsOptions)
  const provider = defineProvider({
    id: 'anthropic-aws',
    displayName: 'Claude Platform on AWS',
    baseURL,
    dialects: [messagesProvider],
    apiKey,
    extra: { region, ...(workspace !== undefined && { workspace }) },
    keyHeaders: { messages: 'x-api-key' },
    quirks: { rateLimits: rateLimits.anthropic, priorityTier: 'auto', billingHeader: true },
    quirksOf: claudeQuirks,
    dataPolicy: 'no_training',
  })
  return {
    ...provider,
    account: { ...provider.account, extra: ['region', 'workspace'], options: '`apiKey` and `workspace`' },
    countEndpoint: call => `${provider.endpoint(call)}/count_tokens`,
    authorize(headers, credential, call) {
      if (credential.extra?.workspace === undefined) throw new TypeError('The account needs `extra.workspace`.')
      headers['anthropic-workspace-id'] = credential.extra.workspace
      return provider.authorize(headers, credential, call)
    },
  }
}

const awsUrl = 'https://aws-external-anthropic.{region}.api.aws/v1'

/** Anthropic: the Messages API, with its token counter. */
export function anthropic(options: AnthropicOptions = {}): Provider<'anthropic'> {
  const { apiKey, baseURL = 'https://api.anthropic.com/v1' } = providerOptions('anthropic', options, vendorOptions)
  const provider = defineProvider({
    id: 'anthropic',
    displayName: 'Anthropic',
    baseURL,
    dialects: [messagesProvider],
    apiKey,
    keyHeaders: { messages: 'x-api-key' },
    quirks: { rateLimits: rateLimits.anthropic, priorityTier: 'auto', billingHeader: true },
    quirksOf: claudeQuirks,
    dataPolicy: 'no_training',
    check: '/models?limit=1',
    checkHeaders: { 'anthropic-version': '2023-06-01' },
    tierHeaders: accountTiers.anthropic,
  })
  return { ...provider, countEndpoint: call => `${provider.endpoint(call)}/count_tokens` }
}
