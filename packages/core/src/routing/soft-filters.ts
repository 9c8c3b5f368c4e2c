import type { FeatureId } from '@signalbox/dialects/common'
import { dialectFor } from '@signalbox/dialects/protocol'
import type { ExclusionRule } from './exclusion-rules.ts'
import { lacksAbility, quirksOf, speaksAll } from './offer-facts.ts'
import type { Candidate } from './plan.ts'

/** A filter that excludes a candidate only while better ones remain. */
export interface SoftFilter extends ExclusionRule {
  /** Which candidates must remain: any, or one of the same model. */
  readonly unlessLast: 'any' | 'same_model'
}

const loses = ({ provider, offer }: Candidate, feature: FeatureId): boolean =>
  dialectFor(provider, offer)?.fidelity?.[feature] === 'dropped'

const refuses = (candidate: Candidate, field: string): boolean => quirksOf(candidate).refuses?.includes(field) === true

/** In order, each applied to the candidates that the previous filters left. A soft filter never empties the list. */
export const softFilters: readonly SoftFilter[] = [
  {
    unlessLast: 'same_model',
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    applies: () => true,
    excludes: ({ offer, provider: { id } }, { routing: { only, order } }) =>
      offer.status === 'deprecated' && !only?.includes(id) && !order?.includes(id),
    reason: 'it is about to be shut down: name it in `gateway.routing.only` or `order` to use it anyway',
  },
  {
    // `max_output_tokens` does not require that much output. If no candidate allows it, it is lowered, or the provider rejects it.
    unlessLast: 'same_model',
    code: 'capability_mismatch',
    param: 'max_output_tokens',
    applies: ({ needs }) => needs.outputTokens !== undefined,
    excludes: ({ offer }, { needs }) => offer.maxOutputTokens !== undefined && (needs.outputTokens ?? 0) > offer.maxOutputTokens,
    reason: ({ offer }) => `it is limited to ${offer.maxOutputTokens} output tokens, and other candidates are not`,
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'tools',
    applies: ({ needs }) => needs.toolDialects.length > 0,
    excludes: ({ offer }, { needs }) => !speaksAll(offer.api, needs.toolDialects),
    reason: 'it does not support some of the tools, and other candidates do',
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'input',
    applies: ({ needs }) => needs.recordDialects.length > 0,
    excludes: ({ offer }, { needs }) => !speaksAll(offer.api, needs.recordDialects),
    reason: 'it cannot read some items of earlier answers, and other candidates can',
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'top_logprobs',
    applies: ({ needs }) => needs.logprobs,
    excludes: candidate => loses(candidate, 'logprobs') || refuses(candidate, 'top_logprobs') || refuses(candidate, 'logprobs'),
    reason: 'it does not return logprobs, and other candidates do',
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'top_logprobs',
    applies: ({ needs }) => needs.logprobs,
    excludes: candidate => lacksAbility(candidate, 'logprobs'),
    reason: 'it is not known to return logprobs, and other candidates do',
  },
]
