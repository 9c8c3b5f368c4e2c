import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import {
  type AccountFacts,
  type Credential,
  credentialOf,
  type EndpointContext,
  type HostSurcharge,
  type Provider,
  type TierHeader,
} from '../protocol/provider.ts'

/** What `defineProvider` takes: the address, the dialects and the key of a provider, and how it departs from its dialects. */
export interface ProviderRow<Id extends string = string> {
  readonly id: Id
  readonly display_name?: string
  /** Without a slash at its end. `{name}` stands for what belongs to the account beside its secret (`Credential.extra`). */
  readonly baseUrl: string
  /** Paths below the base URL, by dialect; `../` goes one step up. Default: the usual path of the dialect. */
  readonly paths?: Readonly<Record<string, Path>>
  readonly dialects: readonly ProviderDialect[]
  /** `''`: a provider that asks for none. Absent: the provider is known, and off. */
  readonly apiKey?: string | undefined
  /** What belongs to the account beside its key. */
  readonly extra?: Readonly<Record<string, string>>
  /** The header that takes the key as it is, by dialect. Default: `authorization`, as a bearer token. */
  readonly keyHeaders?: Readonly<Record<string, string>>
  readonly quirks?: Quirks
  readonly quirksOf?: Provider['quirksOf']
  readonly data_policy?: string | undefined
  /** Hosts at which tokens cost more than the prices of its offers say. */
  readonly hostSurcharges?: readonly HostSurcharge[]
  /** false: workspaces bring no keys of their own for it. Default: true. */
  readonly byok?: boolean | undefined
  /** The path below the base URL that only a valid key may GET, at no cost. A public list proves nothing. */
  readonly check?: string | undefined
  /** Sent with the check. Names in lower case. */
  readonly checkHeaders?: Readonly<Record<string, string>>
  /** Rate limits that show the tier of an account. */
  readonly tierHeaders?: readonly TierHeader[] | undefined
}

/** A path below the base URL, or a function of the call that returns one. */
export type Path = string | ((call: EndpointContext) => string)

/**
 * The common case: one base URL, one key.
 *
 * @example defineProvider({ id: 'acme', baseUrl: 'https://llm.acme.example/v1', paths: { chat: '/chat/completions' }, dialects: [chatProvider], apiKey })
 * @throws {TypeError} `baseUrl` is not an http or https address.
 */
export function defineProvider<const Id extends string>(row: ProviderRow<Id>): Provider<Id> {
  const { id, display_name, baseUrl, dialects, apiKey, extra, keyHeaders, quirks, quirksOf, data_policy, hostSurcharges } = row
  const root = baseUrl.replace(/\/+$/, '')
  if (!URL.canParse(root) || !/^https?:$/.test(new URL(root).protocol)) {
    throw new TypeError(
      `The base URL of the provider "${id}" is "${baseUrl}"; it takes an http or https address, as in https://api.example.com/v1.`,
    )
  }
  const paths: Readonly<Record<string, Path>> = { ...Object.fromEntries(dialects.map(({ name, path = '' }) => [name, path])), ...row.paths }
  const isTemplate = root.includes('{')
  const rootOf = (credential: Credential): string => (isTemplate ? fill(root, credential.extra) : root)
  return {
    id,
    dialects,
    ...(display_name !== undefined && { display_name }),
    ...(apiKey !== undefined && { credential: credentialOf({ id: `${id}:platform`, owner: 'platform', ...(extra && { extra }) }, apiKey) }),
    ...(quirks && { quirks }),
    ...(quirksOf && { quirksOf }),
    ...(data_policy !== undefined && { data_policy }),
    ...(hostSurcharges && { hostSurcharges }),
    ...(row.byok !== undefined && { byok: row.byok }),
    endpoint: call => {
      const path = paths[call.dialect] ?? ''
      const below = typeof path === 'string' ? path : path(call)
      const own = rootOf(call.credential)
      return below.startsWith('../') ? new URL(below, `${own}/`).href : own + below
    },
    account: accountOf(row, root, rootOf),
    authorize: (headers, { secret }, { dialect }) => {
      if (secret === '') return
      const header = keyHeaders?.[dialect]
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
    ...(extra.length > 0 && { extra }),
    ...(tierHeaders && { tierHeaders }),
    ...(first &&
      check !== undefined && {
        check: credential => ({ dialect: first.name, url: rootOf(credential) + check, ...(headers && { headers }) }),
      }),
  }
}

const placeholder = /\{(\w+)\}/g

function fill(root: string, extra: Readonly<Record<string, string>> = {}): string {
  return root.replace(placeholder, (_, name: string) => {
    const value = extra[name]
    if (value === undefined || value === '') throw new TypeError(`An account there needs \`extra.${name}\`.`)
    return encodeURIComponent(value)
  })
}
