import { type Credential, dialectFor, innerDialect, type Model, type Offer, type Provider, quirksFor } from '@signalbox/dialects/protocol'
import type { WorkspaceSettings } from '../resources/settings.ts'
import { createLru } from '../runtime/lru.ts'
import { lacksOf } from './exclusion-rules.ts'
import type { Demands } from './needs.ts'
import { maxInputTokensOf } from './offer-facts.ts'
import { type Candidate, type Excluded, makeCandidate } from './plan.ts'

// What is fixed by gateway, model and workspace is computed once, not for each request. A lane is of one policy object and one model
// object, and is dropped with either: a change of settings or of a provider key makes another policy, a refreshed catalog or an announced
// price another model.

/**
 * How much is kept: lanes of the gateway, workspaces with lanes of their own, and candidates in the lanes of all of these, of about 400 bytes
 * each. A workspace may have ten keys of each provider.
 */
const maxLanes = { gateway: 2_000, workspaces: 2_000, candidates: 100_000 }

/** What a workspace changes about offers. Another object as soon as anything of it changes. */
export interface LanePolicy {
  readonly workspace: { readonly id: string; readonly body: { readonly settings?: WorkspaceSettings | undefined } }
  /** Usable credentials of the workspace, by provider id, in the order in which they are tried. */
  readonly credentials: ReadonlyMap<string, readonly Credential[]>
  /** Keys of the workspace, by provider id, that cannot be used. */
  readonly unusableKeys?: ReadonlyMap<string, unknown> | undefined
}

/** The offers of one model as the requests of a workspace see them. */
export interface Lane {
  /** In the order of the offers; for each offer the workspace's own credentials come first. */
  readonly candidates: readonly Candidate[]
  /** By index, the needs that the candidate may not meet. */
  readonly lacks: readonly number[]
  /** The fewest input tokens that fit in an offer. */
  readonly smallestInput: number
  /** Offers without a provider or a credential. */
  readonly missing: readonly Excluded[]
  /** By index, the candidates that BYOK keys would make of them. Undefined if the gateway does not have the provider. */
  readonly missingWithKey: readonly (Candidate | undefined)[]
  /** Whether every candidate uses the dialect `responses`. */
  readonly responsesOnly: boolean
}

/** The lanes of a workspace, or of all workspaces without settings and provider keys. */
export interface WorkspaceLanes {
  /** What the workspace's settings demand of every offer. */
  readonly demands: Demands
  of(model: Model): Lane
}

/** An offer as the gateway can call it, whatever the workspace. */
interface ListedOffer {
  readonly offer: Offer
  readonly provider: Provider | undefined
  readonly credential: Credential | undefined
  readonly moreCredentials: readonly Credential[] | undefined
  /** One for each credential of the operator. */
  readonly platform: readonly Candidate[]
}

/** A model with its listings. */
interface ListedModel {
  readonly model: Model
  readonly listings: readonly ListedOffer[]
  /** The lane of workspaces without settings and provider keys. */
  readonly lane: Lane
}

/** A lane of a workspace, with what it was made of. */
interface OwnLane {
  readonly policy: LanePolicy
  readonly listed: ListedModel
  readonly lane: Lane
}

/** The lanes of a gateway. */
export class Lanes {
  readonly #providers: ReadonlyMap<string, Provider>
  readonly #models = createLru<ListedModel>(maxLanes.gateway)
  readonly #workspaces = createLru<{ readonly policy: LanePolicy; readonly lanes: WorkspaceLanes }>(maxLanes.workspaces)
  readonly #own = createLru<OwnLane>(maxLanes.candidates, ({ lane }) => 1 + lane.candidates.length)
  readonly #common: WorkspaceLanes = { demands: {}, of: model => this.#listed(model).lane }

  constructor(providers: ReadonlyMap<string, Provider>) {
    this.#providers = providers
  }

  /** The lanes under the policy of a workspace. Without one, nothing is restricted and every credential is the operator's. */
  under(policy: LanePolicy | undefined): WorkspaceLanes {
    if (!policy || (!policy.workspace.body.settings && policy.credentials.size === 0)) return this.#common
    const { id } = policy.workspace
    const known = this.#workspaces.get(id)
    if (known?.policy === policy) return known.lanes
    const lanes = this.#lanesOf(policy)
    this.#workspaces.set(id, { policy, lanes })
    return lanes
  }

  #lanesOf(policy: LanePolicy): WorkspaceLanes {
    const { workspace, credentials } = policy
    const { settings } = workspace.body
    const demands = settings ? demandsOf(settings) : {}
    if (credentials.size === 0 && Object.values(demands).every(demand => demand === undefined)) return this.#common
    return {
      demands,
      of: model => {
        const listed = this.#listed(model)
        const name = `${workspace.id}/${model.id}`
        const known = this.#own.get(name)
        if (known?.policy === policy && known.listed === listed) return known.lane
        const lane = makeLane(listed, demands, credentials)
        this.#own.set(name, { policy, listed, lane })
        return lane
      },
    }
  }

  /** The listings of a model, found again if a provider or a credential of the operator was replaced. */
  #listed(model: Model): ListedModel {
    const known = this.#models.get(model.id)
    if (known?.model === model && this.#areCurrent(known.listings)) return known
    const listings = model.offers.map(offer => listingOf(model, offer, this.#providers.get(offer.provider)))
    const listed = { model, listings, lane: makeLane({ model, listings }, {}) }
    this.#models.set(model.id, listed)
    return listed
  }

  #areCurrent(listings: readonly ListedOffer[]): boolean {
    for (const { offer, provider, credential, moreCredentials } of listings) {
      const current = this.#providers.get(offer.provider)
      if (current !== provider || current?.credential !== credential || current?.moreCredentials !== moreCredentials) return false
    }
    return true
  }
}

function listingOf(model: Model, listed: Offer, provider: Provider | undefined): ListedOffer {
  if (!provider) return { offer: listed, provider, credential: undefined, moreCredentials: undefined, platform: [] }
  // If only the inner dialect supports tools, the offer is restricted to it, so that a conversation keeps one dialect with and without tools.
  const takesToolsElsewhere = listed.api !== innerDialect && quirksFor(provider, listed).toolsInResponses === true
  const offer = takesToolsElsewhere && dialectFor(provider, { api: innerDialect }) ? { ...listed, api: innerDialect } : listed
  const { credential, moreCredentials } = provider
  const credentials = credential ? [credential, ...(moreCredentials ?? [])] : []
  const platform = credentials.map(each => makeCandidate({ model, offer, provider, credential: each }))
  return { offer, provider, credential, moreCredentials, platform }
}

/** Stands for a BYOK key in a candidate that is only checked, never called. */
const anyByokKey: Credential = { id: 'byok', owner: 'workspace', secret: '' }

/** `own`: the usable credentials of the workspace, by provider id. */
function makeLane(
  { model, listings }: Pick<ListedModel, 'model' | 'listings'>,
  demands: Demands,
  own?: ReadonlyMap<string, readonly Credential[]>,
): Lane {
  const candidates: Candidate[] = []
  const missing: Excluded[] = []
  const missingWithKey: (Candidate | undefined)[] = []
  for (const { offer, provider, platform } of listings) {
    const credentials = (provider && own?.get(provider.id)) ?? []
    if (provider) for (const credential of credentials) candidates.push(makeCandidate({ model, offer, provider, credential }))
    candidates.push(...platform)
    if (credentials.length + platform.length > 0) continue
    const reason = provider ? 'this gateway has no credential for it' : 'this gateway is not configured with this provider'
    missing.push({ model: model.id, provider: offer.provider, provider_model_id: offer.model, code: 'routing_failed', reason })
    missingWithKey.push(provider && makeCandidate({ model, offer, provider, credential: anyByokKey }))
  }
  return {
    candidates,
    lacks: candidates.map(candidate => lacksOf(candidate, demands)),
    smallestInput: Math.min(...[...candidates, ...missingWithKey].map(each => (each ? maxInputTokensOf(each) : Number.POSITIVE_INFINITY))),
    missing,
    missingWithKey,
    responsesOnly: candidates.length > 0 && candidates.every(({ offer }) => offer.api === innerDialect),
  }
}

const demandsOf = (settings: WorkspaceSettings): Demands => ({
  data_policy_required: settings.dataPolicyRequired ?? undefined,
  allowed_providers: settings.allowedProviders ?? undefined,
  blocked_providers: settings.blockedProviders,
  allowed_models: settings.allowedModels ?? undefined,
  own_keys_only: settings.ownKeysOnly || undefined,
})
