import { shownUrl } from '@signalbox/dialects/errors'
import type { DialectName, ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import {
  type AccountFacts,
  type ApiKeys,
  type Credential,
  type EndpointContext,
  type HostSurcharge,
  type Provider,
  platformCredentials,
  type TierHeader,
} from '@signalbox/dialects/protocol'

/** Input of `defineProvider`: base URL, dialects, key and quirks of a provider. */
export interface ProviderRow<Id extends string = string, Dialect extends string = DialectName> {
  readonly id: Id
  readonly displayName?: string
  /** API base URL, without a trailing slash. `{name}` is replaced by that field of `Credential.extra`. */
  readonly baseURL: string
  /** Paths below the base URL, by dialect; `../` goes up one level. Default: the dialect's usual path. */
  readonly paths?: Readonly<Record<string, Path>>
  readonly dialects: readonly ProviderDialect<Dialect>[]
  /** API key, or several of different accounts. `''` means that the provider needs none; if undefined, the provider is listed but disabled. */
  readonly apiKey?: ApiKeys | undefined
  /** Account facts other than the key, such as a region. */
  readonly extra?: Readonly<Record<string, string>>
  /** The header that carries the raw key, by dialect. Default: `authorization`, as a bearer token. */
  readonly keyHeaders?: Readonly<Record<string, string>>
  readonly quirks?: Quirks
  readonly quirksOf?: Provider['quirksOf']
  readonly dataPolicy?: string | undefined
  /** Hosts at which tokens cost more than the offers' prices. */
  readonly hostSurcharges?: readonly HostSurcharge[]
  /** Whether workspaces may bring their own keys. Default: true. */
  readonly byok?: boolean | undefined
  /** A path that only a valid key can GET, at no cost. A public path would not show whether the key is valid. */
  readonly check?: string | undefined
  /** Headers of the check, in lower case. */
  readonly checkHeaders?: Readonly<Record<string, string>>
  /** Rate limit headers that reveal the tier of an account. */
  readonly tierHeaders?: readonly TierHeader[] | undefined
}

/** A path below the base URL, or a function of the call that returns one. */
export type Path = string | ((call: EndpointContext) => string)

/**
 * Creates a provider with one base URL and one kind of key, which is the common case.
 *
 * @example defineProvider({ id: 'acme', baseURL: 'https://llm.acme.example/v1', paths: { chat: '/chat/completions' }, dialects:
 * [chatProvider], apiKey })
 * @throws {TypeError} `baseURL` is not an http or https URL.
 */
export function defineProvider<const Id extends string, const Dialect extends string = DialectName>(
  row: ProviderRow<Id, Dialect>,
): Provider<Id, Dialect> {
  const { id, displayName, baseURL, dialects, apiKey, extra, keyHeaders, quirks, quirksOf, dataPolicy, hostSurcharges } = row
  const root = baseURL.replace(/\/+$/, '')
  if (!URL.canParse(root) || !/^https?:$/.test(new URL(root).protocol)) {
    throw new TypeError(
      `The base URL of the provider "${id}" is "${shownUrl(baseURL)}"; it takes an http or https address, as in https://api.example.com/v1.`,
    )
  }
  const paths: Readonly<Record<string, Path>> = { ...Object.fromEntries(dialects.map(({ name, path = '' }) => [name, path])), ...row.paths }
  const isTemplate = root.includes('{')
  const rootOf = (credential: Credential): string => (isTemplate ? fill(root, credential.extra) : root)
  return {
    id,
    dialects,
    displayName,
    ...platformCredentials({ id, extra }, apiKey),
    quirks,
    quirksOf,
    dataPolicy,
    hostSurcharges,
    byok: row.byok,
    endpoint: call => {
      const path = paths[call.api] ?? ''
      const below = typeof path === 'string' ? path : path(call)
      const own = rootOf(call.credential)
      return below.startsWith('../') ? new URL(below, `${own}/`).href : own + below
    },
    account: accountOf(row, root, rootOf),
    authorize: (headers, { secret }, { api }) => {
      if (secret === '') return
      const header = keyHeaders?.[api]
      if (header === undefined) headers.authorization = `Bearer ${secret}`
      else headers[header] = secret
    },
  }
}

function accountOf(
  { dialects: [first], check, checkHeaders: headers, tierHeaders }: ProviderRow,
  root: string,
  rootOf: (credential: Credential) => string,
): AccountFacts {
  const extra = Array.from(root.matchAll(placeholder), ([, name = '']) => name)
  return {
    extra: extra.length > 0 ? extra : undefined,
    tierHeaders,
    check: first && check !== undefined ? credential => ({ api: first.name, url: rootOf(credential) + check, headers }) : undefined,
  }
}

const placeholder = /\{(\w+)\}/g

function fill(root: string, extra: Readonly<Record<string, string>> = {}): string {
  return root.replace(placeholder, (_, name: string) => {
    const value = extra[name]
    if (value === undefined || value === '') throw new TypeError(`The account needs \`extra.${name}\`.`)
    return encodeURIComponent(value)
  })
}
