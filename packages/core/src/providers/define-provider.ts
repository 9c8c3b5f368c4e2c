import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'

export interface ProviderRow {
  readonly id: string
  readonly display_name?: string
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** One path per dialect spoken there. */
  readonly paths: Readonly<Record<string, string>>
  readonly dialects: readonly ProviderDialect[]
  /** `''`: a provider that asks for none. Absent: the provider is known, and off. */
  readonly apiKey?: string | undefined
  readonly quirks?: Quirks
  readonly data_policy?: string | undefined
}

/**
 * The common case: one base URL, a bearer token.
 *
 * @example defineProvider({ id: 'acme', baseUrl: 'https://llm.acme.example/v1', paths: { chat: '/chat/completions' }, dialects: [chatProvider], apiKey })
 */
export function defineProvider({ id, display_name, baseUrl, paths, dialects, apiKey, quirks, data_policy }: ProviderRow): Provider {
  const root = baseUrl.replace(/\/+$/, '')
  if (!URL.canParse(root) || !/^https?:$/.test(new URL(root).protocol)) {
    throw new TypeError(
      `The base URL of the provider "${id}" is "${baseUrl}"; it takes an http or https address, as in https://api.example.com/v1.`,
    )
  }
  return {
    id,
    dialects,
    ...(display_name !== undefined && { display_name }),
    ...(apiKey !== undefined && { credential: { id: `${id}:platform`, owner: 'platform', secret: apiKey } }),
    ...(quirks && { quirks }),
    ...(data_policy !== undefined && { data_policy }),
    endpoint: ({ dialect }) => root + (paths[dialect] ?? ''),
    authorize: (headers, { secret }) => {
      if (secret !== '') headers.authorization = `Bearer ${secret}`
    },
  }
}
