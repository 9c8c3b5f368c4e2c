import type { ProviderDialect } from './dialect.ts'
import type { Offer, Quirks } from './model.ts'
import type { Transport } from './transport.ts'
import type { DialectName, Frame, JsonObject } from './wire.ts'

/** Whom to call and how to prove who we are. What to say is the dialect's business. */
export interface Provider {
  readonly id: string
  readonly display_name?: string
  readonly dialects: readonly ProviderDialect[]
  /** Ours, if we have an account there. Workspaces may bring their own. */
  readonly credential?: Credential
  /** Shared by all offers of the provider; an offer's own quirks win field by field. */
  readonly quirks?: Quirks
  readonly data_policy?: string
  /** Facts about single models of the provider, by the id that they have there. They win over `quirks`, and an offer's own win over both. */
  readonly quirksOf?: (model: string) => Quirks | undefined
  /** The address to POST to. */
  endpoint(call: Addressing): string
  /** Where its token counter is, if it has one for this dialect. */
  countEndpoint?(call: Addressing): string | undefined
  /** Adds the proof of who we are to `headers`. Names in lower case. */
  authorize(headers: Record<string, string>, credential: Credential, call: Authorizing): void | Promise<void>
  /** What a workspace that brings an account of its own says of it, and how it is looked at. */
  readonly account?: AccountFacts
  /** A provider that lives in this process answers here instead of over the network (the simulated ones). */
  readonly answer?: LocalAnswer
}

/** Answers in the provider's dialect, as a server would: frames for a stream, a body otherwise. */
export type LocalAnswer = (call: {
  readonly body: JsonObject
  readonly stream: boolean
  readonly signal: AbortSignal
}) => Promise<LocalReply>
export type LocalReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: JsonObject }
  | { readonly status: 200; readonly frames: AsyncIterable<readonly Frame[]> }

export interface Addressing {
  readonly dialect: DialectName
  readonly model: string
  readonly stream: boolean
  readonly credential: Credential
}

/** The call to prove ourselves for: what a signature covers, and what it takes to fetch a token first. */
export interface Authorizing {
  readonly dialect: DialectName
  readonly url: string
  /** Exactly as it will be sent. */
  readonly body: string
  readonly transport: Transport
  /** Unix milliseconds: what a signature is dated with. */
  readonly now: number
  /** Milliseconds of a clock that is never set back: what a token's age goes by. */
  readonly monotonic: number
  readonly signal: AbortSignal
}

export interface Credential {
  readonly id: string
  readonly owner: 'platform' | 'workspace'
  readonly secret: string
  /** What belongs to the account beside the secret: a region, a resource, a project. */
  readonly extra?: Readonly<Record<string, string>>
  /** Of this account, where it is known to differ from what an offer says. */
  readonly data_policy?: string
}

export interface AccountFacts {
  /** What a workspace may say of its account beside the secret, by name. Default: nothing. */
  readonly extra?: readonly string[]
  /** The secret may be a JSON object, such as access keys. */
  readonly json?: boolean
  /** How a good credential is told from a bad one at no cost. Nothing: only its use tells. */
  check?(credential: Credential): AccountCheck | undefined
  /** Rate limits that tell what kind of account it is. */
  readonly signs?: readonly TierSign[]
}

export interface AccountCheck {
  /** By whose rules it is proven who we are, and a refusal is read. */
  readonly dialect: DialectName
  /** What only a good credential may GET, such as the list of models. Absent: it is good where the proof can be made, as where a token is fetched for it. */
  readonly url?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A header of answers about some models, and which tier each of its values belongs to. */
export interface TierSign {
  readonly header: string
  readonly model: RegExp
  readonly tiers: Readonly<Record<string, string>>
}

/** All that is known of how an offer departs from its dialect: of the provider, of the model there, of the offer itself. */
export const quirksFor = (provider: Pick<Provider, 'quirks' | 'quirksOf'>, { provider_model_id, quirks }: Offer): Quirks => ({
  ...provider.quirks,
  ...provider.quirksOf?.(provider_model_id),
  ...quirks,
})

/**
 * A credential that tells its secret to whoever asks for it by name. Whoever prints, copies or serialises it, or an error that
 * holds it, does not get it.
 *
 * @example credentialOf({ id: 'acme:platform', owner: 'platform' }, apiKey).secret
 */
export const credentialOf = (shown: Omit<Credential, 'secret'>, secret: string): Credential =>
  Object.freeze(Object.defineProperty({ ...shown }, 'secret', { get: () => secret }) as Credential)
