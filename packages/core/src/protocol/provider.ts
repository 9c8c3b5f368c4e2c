import type { ProviderDialect } from './dialect.ts'
import type { Offer, Quirks } from './model.ts'
import type { Transport } from './transport.ts'
import type { DialectName, Frame, JsonObject } from './wire.ts'

/** A provider: its addresses, its credential and how calls are authorized. Bodies are made by its dialects. */
export interface Provider<Id extends string = string> {
  readonly id: Id
  readonly display_name?: string
  readonly dialects: readonly ProviderDialect[]
  /** The operator's account, if there is one. Workspaces may bring their own. */
  readonly credential?: Credential
  /** Shared by all offers of the provider; an offer's own quirks win field by field. */
  readonly quirks?: Quirks
  readonly data_policy?: string
  /** Hosts at which tokens cost more than the prices of its offers say. */
  readonly hostSurcharges?: readonly HostSurcharge[]
  /** Quirks of single models, by the provider's model id. They win over `quirks`; those of an offer win over both. */
  readonly quirksOf?: (model: string) => Quirks | undefined
  /** Returns the URL to POST to. */
  endpoint(call: EndpointContext): string
  /** Returns the URL of its token counter, if it has one for this dialect. */
  countEndpoint?(call: EndpointContext): string | undefined
  /** Adds the credential to `headers`, by lower-case name. */
  authorize(headers: Record<string, string>, credential: Credential, call: AuthorizationContext): void | Promise<void>
  /** What a workspace states about an account of its own, and how the account is checked. */
  readonly account?: AccountFacts
  /** false: workspaces bring no keys of their own for it, and the list of providers that they may bring keys for leaves it out. Default: true. */
  readonly byok?: boolean
  /** Answers in this process instead of over the network (simulated providers). */
  readonly answer?: LocalAnswer
}

/** A host of a provider at which tokens cost more than the prices of its offers say: `{ host: '*.api.openai.com', percent: 110 }`. */
export interface HostSurcharge {
  /** In lower case. One `*` may stand for a part of it. */
  readonly host: string
  /** Of the usual rates, each rounded up. Absent: they are higher there, and by how much is not known. */
  readonly percent?: number
  /** The provider's ids of the models that cost more. Default: all. */
  readonly model?: RegExp
  /** ISO date: models that were made before cost the same there. Default: those of any age. */
  readonly since?: string
}

/** Answers in the provider's dialect, as a server would: with frames for a stream, with a body otherwise. */
export type LocalAnswer = (call: {
  readonly body: JsonObject
  readonly stream: boolean
  readonly signal: AbortSignal
}) => Promise<LocalReply>
/** What a provider inside the process answers: a whole body, or the frames of a stream. */
export type LocalReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: JsonObject }
  | { readonly status: 200; readonly frames: AsyncIterable<readonly Frame[]> }

/** The call that an endpoint is needed for. */
export interface EndpointContext {
  readonly dialect: DialectName
  readonly model: string
  readonly stream: boolean
  readonly credential: Credential
}

/** The call to authorize: what a signature covers, and what is needed to fetch a token first. */
export interface AuthorizationContext {
  readonly dialect: DialectName
  readonly url: string
  /** Exactly as it will be sent. */
  readonly body: string
  readonly transport: Transport
  /** Unix milliseconds: what a signature is dated with. */
  readonly now: number
  /** Milliseconds of a monotonic clock, for the age of a token. */
  readonly monotonic: number
  readonly signal: AbortSignal
}

/** A secret for a provider, of the platform or of one workspace. */
export interface Credential {
  readonly id: string
  readonly owner: 'platform' | 'workspace'
  readonly secret: string
  /** Facts of the account beside the secret: a region, a resource, a project. */
  readonly extra?: Readonly<Record<string, string>>
  /** The data policy of this account, if it differs from that of the offer. */
  readonly data_policy?: string
}

/** What the accounts of a provider are like: their `extra` facts, how a credential is checked, and how a tier shows. */
export interface AccountFacts {
  /** Names of the `extra` facts that a workspace may state. Default: none. */
  readonly extra?: readonly string[]
  /** The secret may be a JSON object, such as access keys. */
  readonly json?: boolean
  /** How a credential is checked at no cost. Undefined: only a call shows whether it is valid. */
  check?(credential: Credential): AccountCheck | undefined
  /** Rate limit headers that reveal the tier of an account. */
  readonly tierHeaders?: readonly TierHeader[]
}

/** A request that shows at no cost whether a credential is valid. */
export interface AccountCheck {
  /** The dialect that authorizes the check and decodes its failure. */
  readonly dialect: DialectName
  /** A URL that only a valid credential may GET, such as the list of models. Absent: a credential is valid if it can be authorized, as when a token is fetched for it. */
  readonly url?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A response header of some models, and the account tier for each of its values. */
export interface TierHeader {
  readonly header: string
  readonly model: RegExp
  readonly tiers: Readonly<Record<string, string>>
}

/** The dialect of `provider` that its offer is served in; undefined if the provider does not have it. */
export const dialectFor = ({ dialects }: Pick<Provider, 'dialects'>, { dialect }: Pick<Offer, 'dialect'>): ProviderDialect | undefined =>
  dialects.find(({ name }) => name === dialect)

/** Whether workspaces may bring keys of their own for a provider. One in this process has none. */
export const takesOwnKeys = ({ answer, byok = true }: Pick<Provider, 'answer' | 'byok'>): boolean => !answer && byok

/** How an offer departs from its dialect: the quirks of the provider, of the model there, and of the offer, merged. */
export const quirksFor = (provider: Pick<Provider, 'quirks' | 'quirksOf'>, { provider_model_id, quirks }: Offer): Quirks => ({
  ...provider.quirks,
  ...provider.quirksOf?.(provider_model_id),
  ...quirks,
})

/**
 * Makes a credential whose secret is read by name only: it is not in the credential's JSON, in copies, or in what is printed of an
 * error that holds it.
 *
 * @example credentialOf({ id: 'acme:platform', owner: 'platform' }, apiKey).secret
 */
export const credentialOf = (shown: Omit<Credential, 'secret'>, secret: string): Credential =>
  Object.freeze(Object.defineProperty({ ...shown }, 'secret', { get: () => secret }) as Credential)
