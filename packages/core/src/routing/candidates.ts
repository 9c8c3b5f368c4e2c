import type { Model, Offer } from '../protocol/model.ts'
import type { Credential, Provider } from '../protocol/provider.ts'
import type { Candidate, Excluded } from './plan.ts'

/** Who may be asked, and with what. */
export interface Sources {
  readonly providers: ReadonlyMap<string, Provider>
  /** Credentials of the caller's own for a provider, each the same object every time. Absent: there are none. */
  readonly credentials?: ((provider: Provider) => readonly Credential[]) | undefined
}

export interface Candidates {
  /** In the order of the offers; of one offer those with a credential of the caller's own come first. */
  readonly all: readonly Candidate[]
  /** Offers that nobody can be asked for. */
  readonly missing: readonly Excluded[]
  /** Everyone who can be asked speaks `responses`, and nothing else. */
  readonly responsesOnly: boolean
}

/** What of an offer stays the same from request to request. */
interface Seller {
  readonly offer: Offer
  readonly provider: Provider | undefined
  readonly platform: Candidate | undefined
  readonly missing: Excluded
  readonly own: WeakMap<Credential, Candidate>
}

interface Kept {
  readonly sellers: readonly Seller[]
  /** Of callers without credentials of their own. */
  readonly usual: Candidates
}

/** Every request asks for its model's candidates, so they are made once, and again where a credential is another one. */
const kept = new WeakMap<Sources['providers'], WeakMap<Model, Kept>>()

/** model × offer × credential. */
export function candidatesOf(model: Model, { providers, credentials }: Sources): Candidates {
  const { sellers, usual } = keptOf(model, providers)
  if (!credentials) return usual
  const own = sellers.map(({ provider }) => (provider ? credentials(provider) : []))
  return own.every(({ length }) => length === 0) ? usual : candidatesFor(model, sellers, own)
}

function keptOf(model: Model, providers: Sources['providers']): Kept {
  const models = kept.get(providers) ?? new WeakMap<Model, Kept>()
  kept.set(providers, models)
  const before = models.get(model)
  if (before?.sellers.every(seller => isCurrent(seller, providers))) return before
  const sellers = model.offers.map(offer => sellerOf(model, offer, providers))
  const made = { sellers, usual: candidatesFor(model, sellers, []) }
  models.set(model, made)
  return made
}

const isCurrent = ({ offer, provider, platform }: Seller, providers: Sources['providers']): boolean =>
  providers.get(offer.provider) === provider && provider?.credential === platform?.credential

function sellerOf(model: Model, offer: Offer, providers: Sources['providers']): Seller {
  const provider = providers.get(offer.provider)
  const reason = provider ? 'this gateway has no credential for it' : 'this gateway does not have this provider'
  return {
    offer,
    provider,
    platform: provider?.credential && { model, offer, provider, credential: provider.credential },
    missing: { model: model.id, provider: offer.provider, provider_model_id: offer.provider_model_id, code: 'routing_failed', reason },
    own: new WeakMap(),
  }
}

/** `own`: the caller's credentials for each seller, by place. */
function candidatesFor(model: Model, sellers: readonly Seller[], own: readonly (readonly Credential[])[]): Candidates {
  const all: Candidate[] = []
  const missing: Excluded[] = []
  sellers.forEach((seller, at) => {
    const before = all.length
    for (const credential of own[at] ?? []) all.push(...ownCandidate(model, seller, credential))
    if (seller.platform) all.push(seller.platform)
    if (all.length === before) missing.push(seller.missing)
  })
  return { all, missing, responsesOnly: all.length > 0 && all.every(({ offer }) => offer.dialect === 'responses') }
}

function ownCandidate(model: Model, { offer, provider, own }: Seller, credential: Credential): readonly Candidate[] {
  if (!provider) return []
  const candidate = own.get(credential) ?? { model, offer, provider, credential }
  own.set(credential, candidate)
  return [candidate]
}
