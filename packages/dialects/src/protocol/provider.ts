import type { ProviderDialect } from './dialect.ts'
import type { Offer, Quirks } from './model.ts'
import type { Transport } from './transport.ts'
import type { DialectName, Frame, JsonObject } from './wire.ts'

/** A provider: its URLs, credential and authorization. Its dialects build the bodies. */
export interface Provider<Id extends string = string, Dialect extends string = DialectName> {
  readonly id: Id
  readonly displayName?: string
  readonly dialects: readonly ProviderDialect<Dialect>[]
  /** The operator's account, if any. Workspaces may bring their own. */
  readonly credential?: Credential
  /** Further accounts of the operator. Each has rate limits of its own; the router spreads requests over all of them. */
  readonly moreCredentials?: readonly Credential[]
  /** Quirks of all offers. An offer's own quirks take precedence, field by field. */
  readonly quirks?: Quirks
  readonly dataPolicy?: string
  /** Hosts at which tokens cost more than the offers' prices. */
  readonly hostSurcharges?: readonly HostSurcharge[]
  /** Quirks of individual models, by the provider's model id. They override `quirks`; an offer's quirks override both. */
  readonly quirksOf?: (model: string) => Quirks | undefined
  /** The URL to POST to. */
  endpoint(call: EndpointContext): string
  /** The URL of the token counter, if the provider has one for this dialect. */
  countEndpoint?(call: EndpointContext): string | undefined
  /** Adds the credential to `headers`, by lower-case name. */
  authorize(headers: Record<string, string>, credential: Credential, call: AuthorizationContext): void | Promise<void>
  /** Rules for accounts that workspaces bring, and how they are checked. */
  readonly account?: AccountFacts
  /** Whether workspaces may bring their own keys. If false, the list of BYOK providers omits it. Default: true. */
  readonly byok?: boolean
  /**
   * Whether requests with the operator's credential may name what is stored in the operator's account: files, containers, vector stores,
   * skills, `gs:` addresses. Then every workspace can use what it knows the name of. With a key of the workspace they always may.
   * Default: false.
   */
  readonly providerStorage?: boolean
  /**
   * What happens to requests with the operator's credential that make the provider run a tool whose calls have no known price or cannot be
   * counted, such as `web_search_options` of Chat Completions: `allow` serves them with the warning `unpriced_tool`, and the operator pays.
   * Default: `allow`.
   */
  readonly unpricedTools?: 'allow' | 'refuse'
  /** Responds in this process instead of over the network (simulated providers). */
  readonly answer?: LocalAnswer
}

/** A host at which tokens cost more than the offers' prices: `{ host: '*.api.openai.com', percent: 110 }`. */
export interface HostSurcharge {
  /** Host name in lower case, with at most one `*` as a wildcard. */
  readonly host: string
  /** Percentage of the usual rates, each rounded up. Undefined if the rates are higher by an unknown amount. */
  readonly percent?: number
  /** Provider model ids that cost more. Default: all. */
  readonly model?: RegExp
  /** ISO date. Models created earlier cost the same as elsewhere. Default: no limit on age. */
  readonly since?: string
}

/** Responds in the provider's dialect, as a server would: with frames for a stream, otherwise with a body. */
export type LocalAnswer = (call: {
  readonly body: JsonObject
  readonly stream: boolean
  readonly signal: AbortSignal
}) => Promise<LocalReply>
/** The response of an in-process provider: a whole body, or the frames of a stream. */
export type LocalReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: JsonObject }
  | { readonly status: 200; readonly frames: AsyncIterable<readonly Frame[]> }

/** The facts of a call that determine its URL. */
export interface EndpointContext {
  readonly api: DialectName
  readonly model: string
  readonly stream: boolean
  readonly credential: Credential
}

/** The call to authorize: everything that a signature covers or that is needed to fetch a token first. */
export interface AuthorizationContext {
  readonly api: DialectName
  readonly url: string
  /** The body exactly as it will be sent. */
  readonly body: string
  readonly transport: Transport
  /** Unix milliseconds, the date of a signature. */
  readonly now: number
  /** Monotonic milliseconds, for the age of a token. */
  readonly monotonic: number
  readonly signal: AbortSignal
}

/** A secret for a provider, owned by the platform or by one workspace. */
export interface Credential {
  readonly id: string
  readonly owner: 'platform' | 'workspace'
  readonly secret: string
  /** Account facts other than the secret: a region, a resource, a project. */
  readonly extra?: Readonly<Record<string, string>>
  /** Data policy of this account, if it differs from that of the offer. */
  readonly dataPolicy?: string
}

/** Rules for the accounts of a provider: their `extra` facts, how a credential is checked, and how a tier is detected. */
export interface AccountFacts {
  /** Names of the `extra` facts that a workspace may set. Default: none. */
  readonly extra?: readonly string[]
  /** The options that enable the provider, for messages. Default: `apiKey`. */
  readonly options?: string
  /** Whether the secret may be a JSON object, such as access keys. */
  readonly json?: boolean
  /** How to check a credential at no cost. Undefined: only a call shows whether it is valid. */
  check?(credential: Credential): AccountCheck | undefined
  /** Rate limit headers that reveal the tier of an account. */
  readonly tierHeaders?: readonly TierHeader[]
}

/** A request that shows at no cost whether a credential is valid. */
export interface AccountCheck {
  /** The dialect that authorizes the check and decodes its failure. */
  readonly api: DialectName
  /**
   * A URL that only a valid credential can GET, such as the model list. If undefined, a credential is valid if it can be authorized, for
   * example if a token can be fetched.
   */
  readonly url?: string
  /** Headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A response header of some models whose values map to account tiers. */
export interface TierHeader {
  readonly header: string
  readonly model: RegExp
  readonly tiers: Readonly<Record<string, string>>
}

/** The dialect of `provider` that serves the offer; undefined if the provider does not have it. */
export const dialectFor = ({ dialects }: Partial<Pick<Provider, 'dialects'>>, { api }: Pick<Offer, 'api'>): ProviderDialect | undefined =>
  dialects?.find(({ name }) => name === api)

/** Whether workspaces may bring their own keys for a provider. In-process providers accept none. */
export const takesOwnKeys = ({ answer, byok = true }: Pick<Provider, 'answer' | 'byok'>): boolean => !answer && byok

/** The quirks of the provider, the model and the offer, merged. */
export const quirksFor = (provider: Pick<Provider, 'quirks' | 'quirksOf'>, offer: Offer): Quirks => ({
  ...provider.quirks,
  ...provider.quirksOf?.(offer.model),
  ...offer.quirks,
})

/**
 * Creates a credential whose secret can only be read by name: it is absent from the credential's JSON, from copies, and from printed errors
 * that contain the credential.
 *
 * @example credentialOf({ id: 'acme:platform', owner: 'platform' }, apiKey).secret
 */
export const credentialOf = (shown: Omit<Credential, 'secret'>, secret: string): Credential =>
  Object.freeze(Object.defineProperty({ ...shown }, 'secret', { get: () => secret }) as Credential)

/** One API key, or several of different accounts. */
export type ApiKeys = string | readonly string[]

/**
 * The operator's credentials of a provider, one for each API key. In a list, `''` and repeated keys are left out.
 *
 * @example platformCredentials({ id: 'acme' }, ['sk-one', 'sk-two']).moreCredentials
 */
export function platformCredentials(
  { id, extra }: Pick<Provider, 'id'> & Pick<Credential, 'extra'>,
  apiKey: ApiKeys | undefined,
): Pick<Provider, 'credential' | 'moreCredentials'> {
  const keys = typeof apiKey === 'string' ? [apiKey] : [...new Set(apiKey)].filter(key => key !== '')
  const [credential, ...moreCredentials] = keys.map((key, index) =>
    credentialOf({ id: `${id}:platform${index === 0 ? '' : `:${index + 1}`}`, owner: 'platform', ...(extra && { extra }) }, key),
  )
  return { ...(credential && { credential }), ...(moreCredentials.length > 0 && { moreCredentials }) }
}
