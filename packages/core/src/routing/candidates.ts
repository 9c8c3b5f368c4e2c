import type { Model, Offer } from '@signalbox/dialects/protocol'
import { type Credential, dialectFor, innerDialect, type Provider, quirksFor } from '@signalbox/dialects/protocol'
import type { Candidate, Excluded } from './plan.ts'

/** The providers and credentials from which candidates are made. */
export interface CandidateSources {
  readonly providers: ReadonlyMap<string, Provider>
  /** The workspace's own credentials for a provider. Each must be the same object every time. Absent: it has none. */
  readonly credentials?: ((provider: Provider) => readonly Credential[]) | undefined
}

export interface Candidates {
  /** In the order of the offers; for each offer the workspace's own credentials come first. */
  readonly all: readonly Candidate[]
  /** Offers without a provider or a credential. */
  readonly missing: readonly Excluded[]
  /** By index, the candidates that BYOK keys would make of them. Undefined if the gateway does not have the provider. */
  readonly missingWithKey: readonly (Candidate | undefined)[]
  /** Whether every candidate uses the dialect `responses`. */
  readonly responsesOnly: boolean
}

/** The parts of an offer's candidates that do not change between requests. */
interface Seller {
  readonly offer: Offer
  readonly provider: Provider | undefined
  /** One for each credential of the operator. */
  readonly platform: readonly Candidate[]
  readonly moreCredentials: Provider['moreCredentials']
  readonly missing: Excluded
  readonly withKey: Candidate | undefined
  readonly own: WeakMap<Credential, Candidate>
}

interface CachedCandidates {
  readonly sellers: readonly Seller[]
  /** The candidates for workspaces without credentials of their own. */
  readonly usual: Candidates
}

/** Every request needs its model's candidates, so they are cached until a credential changes. */
const kept = new WeakMap<CandidateSources['providers'], WeakMap<Model, CachedCandidates>>()

/** The candidates of a model: offer × credential. */
export function candidatesOf(model: Model, { providers, credentials }: CandidateSources): Candidates {
  const { sellers, usual } = keptOf(model, providers)
  if (!credentials) return usual
  const own = sellers.map(({ provider }) => (provider ? credentials(provider) : []))
  return own.every(({ length }) => length === 0) ? usual : candidatesFor(model, sellers, own)
}

function keptOf(model: Model, providers: CandidateSources['providers']): CachedCandidates {
  const models = kept.get(providers) ?? new WeakMap<Model, CachedCandidates>()
  kept.set(providers, models)
  const before = models.get(model)
  if (before?.sellers.every(seller => isCurrent(seller, providers))) return before
  const sellers = model.offers.map(offer => sellerOf(model, offer, providers))
  const made = { sellers, usual: candidatesFor(model, sellers, []) }
  models.set(model, made)
  return made
}

const isCurrent = ({ offer, provider, platform, moreCredentials }: Seller, providers: CandidateSources['providers']): boolean =>
  providers.get(offer.provider) === provider &&
  provider?.credential === platform[0]?.credential &&
  provider?.moreCredentials === moreCredentials

/**
 * The offer, restricted to the inner dialect if only that supports tools, so that a conversation keeps one dialect with and without tools.
 */
const inToolDialect = (offer: Offer, provider: Provider): Offer =>
  offer.api !== innerDialect &&
  quirksFor(provider, offer).toolsInResponses === true &&
  dialectFor(provider, { api: innerDialect }) !== undefined
    ? { ...offer, api: innerDialect }
    : offer

function sellerOf(model: Model, listed: Offer, providers: CandidateSources['providers']): Seller {
  const provider = providers.get(listed.provider)
  const offer = provider ? inToolDialect(listed, provider) : listed
  const reason = provider ? 'this gateway has no credential for it' : 'this gateway is not configured with this provider'
  return {
    offer,
    provider,
    moreCredentials: provider?.moreCredentials,
    platform: provider ? operatorCredentials(provider).map(credential => ({ model, offer, provider, credential })) : [],
    missing: { model: model.id, provider: offer.provider, provider_model_id: offer.model, code: 'routing_failed', reason },
    withKey: provider && { model, offer, provider, credential: anyByokKey },
    own: new WeakMap(),
  }
}

/** Stands for a BYOK key in a candidate that is only checked, never called. */
const anyByokKey: Credential = { id: 'byok', owner: 'workspace', secret: '' }

const operatorCredentials = ({ credential, moreCredentials = [] }: Provider): readonly Credential[] =>
  credential ? [credential, ...moreCredentials] : []

/** `own`: the workspace's credentials for each seller, by index. */
function candidatesFor(model: Model, sellers: readonly Seller[], own: readonly (readonly Credential[])[]): Candidates {
  const all: Candidate[] = []
  const lacking: Seller[] = []
  sellers.forEach((seller, at) => {
    const before = all.length
    for (const credential of own[at] ?? []) all.push(...ownCandidate(model, seller, credential))
    all.push(...seller.platform)
    if (all.length === before) lacking.push(seller)
  })
  return {
    all,
    missing: lacking.map(({ missing }) => missing),
    missingWithKey: lacking.map(({ withKey }) => withKey),
    responsesOnly: all.length > 0 && all.every(({ offer }) => offer.api === innerDialect),
  }
}

function ownCandidate(model: Model, { offer, provider, own }: Seller, credential: Credential): readonly Candidate[] {
  if (!provider) return []
  const candidate = own.get(credential) ?? { model, offer, provider, credential }
  own.set(credential, candidate)
  return [candidate]
}
