import { buysDear, requestPrice } from '@signalbox/dialects/common'
import type { Ability, DialectName, Rates } from '@signalbox/dialects/protocol'
import { type DataPolicyDemand, dataPolicies, maxTokensFor, ratesUpTo, toUsd } from '@signalbox/dialects/protocol'
import type { RoutingQuery } from './needs.ts'
import type { Candidate } from './plan.ts'

// Facts about candidates that the filters read. An unknown fact excludes nothing.

export const lacksAbility = ({ offer }: Candidate, ability: Ability): boolean =>
  offer.abilities !== undefined && !offer.abilities.includes(ability)

/** Whether its credential may open what is stored at the provider: it is the workspace's own, or the operator allows it. */
export const mayOpenStored = ({ credential, provider }: Candidate): boolean =>
  credential.owner === 'workspace' || provider.providerStorage === true

/** Input tokens that fit in the context window. */
export const maxInputTokensOf = ({ offer }: Candidate): number =>
  Math.min(offer.contextWindow ?? Number.POSITIVE_INFINITY, offer.maxInputTokens ?? Number.POSITIVE_INFINITY)

export const speaksAll = (dialect: DialectName, wanted: readonly DialectName[]): boolean => wanted.every(each => each === dialect)

/** The data policy of a candidate. An account may have another policy than its provider usually grants. */
export const dataPolicyOf = ({ offer, provider, credential }: Candidate): string =>
  credential.dataPolicy ?? offer.dataPolicy ?? provider.dataPolicy ?? 'unknown'

/** An unknown data policy does not meet a required one, unlike other unknown facts. */
export const meetsDataPolicy = (candidate: Candidate, demand: DataPolicyDemand = 'any'): boolean =>
  demand === 'any' || dataPolicies.slice(0, dataPolicies.indexOf(demand) + 1).some(each => each === dataPolicyOf(candidate))

/** Whether the request gets the priority tier from this candidate. */
export const getsPriorityTier = ({ offer: { price }, quirks }: Candidate, { needs, routing }: RoutingQuery): boolean =>
  buysDear(needs.pricing.service_tier, routing, { price, quirks })

/** The rates above the request's price limit, as part of a message. Every rate that may apply must be within the limit. */
export function priceAboveLimit(candidate: Candidate, query: RoutingQuery): string | undefined {
  const { routing, needs } = query
  const { input = Number.POSITIVE_INFINITY, output = Number.POSITIVE_INFINITY } = routing.max_price ?? {}
  const paid = requestPrice(candidate, { prompt: needs.pricing, routing })
  const rates: readonly Rates[] = paid ? ratesUpTo(paid, maxTokensFor(needs.inputTokens)) : []
  const over = rates.find(rate => toUsd(rate.input) > input || toUsd(rate.output) > output)
  return over && `${toUsd(over.input)} USD per million input tokens and ${toUsd(over.output)} per million output tokens`
}
