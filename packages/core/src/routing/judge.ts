import { buysDear } from '../dialects/service-tier.ts'
import type { Ability, Quirks, Rates } from '../protocol/model.ts'
import { quirksFor } from '../protocol/provider.ts'
import { type DataPolicyDemand, dataPolicies } from '../protocol/provider-facts.ts'
import { mostTokensOf, ratesUpTo } from '../protocol/rates.ts'
import type { DialectName } from '../protocol/wire.ts'
import type { Question } from './needs.ts'
import type { Candidate } from './plan.ts'

// What the rules look at. A fact that nobody knows speaks against nobody.

export const lacks = ({ offer }: Candidate, ability: Ability): boolean =>
  offer.abilities !== undefined && !offer.abilities.includes(ability)

export const quirksOf = ({ offer, provider }: Candidate): Quirks => quirksFor(provider, offer)

/** Input tokens that fit in. */
export const roomFor = ({ offer }: Candidate): number =>
  Math.min(offer.context_window ?? Number.POSITIVE_INFINITY, offer.max_input_tokens ?? Number.POSITIVE_INFINITY)

export const speaksAll = (dialect: DialectName, wanted: readonly DialectName[]): boolean => wanted.every(each => each === dialect)

/** The first language among those wanted that is another one. */
export const stranger = (dialect: DialectName, wanted: readonly DialectName[]): DialectName => wanted.find(each => each !== dialect) ?? ''

/** An account may have another policy than its provider usually grants. */
export const policyOf = ({ offer, provider, credential }: Candidate): string =>
  credential.data_policy ?? offer.data_policy ?? provider.data_policy ?? 'unknown'

/** Here alone what nobody knows speaks against: who demands a policy wants a promise. */
export const keepsTo = (candidate: Candidate, demand: DataPolicyDemand = 'any'): boolean =>
  demand === 'any' || dataPolicies.slice(0, dataPolicies.indexOf(demand) + 1).some(each => each === policyOf(candidate))

/** Whether the request gets a dear tier here. */
export const buysTier = (candidate: Candidate, { needs, routing }: Question): boolean =>
  buysDear(needs.serviceTier, routing, { price: candidate.offer.price, quirks: quirksOf(candidate) })

/** Rates above the caller's ceiling that the request may have to pay: a ceiling that a bill can break is none. In words. */
export function dearerThan(candidate: Candidate, question: Question): string | undefined {
  const { price } = candidate.offer
  const { input = Number.POSITIVE_INFINITY, output = Number.POSITIVE_INFINITY } = question.routing.max_price ?? {}
  const usual = price ? ratesUpTo(price, mostTokensOf(question.needs.inputTokens)) : []
  const rates: readonly Rates[] = price?.priority && buysTier(candidate, question) ? [price.priority] : usual
  const over = rates.find(rate => usd(rate.input) > input || usd(rate.output) > output)
  return over && `${usd(over.input)} USD for a million tokens of input and ${usd(over.output)} for output`
}

const usd = (microdollars: number): number => microdollars / 1_000_000
