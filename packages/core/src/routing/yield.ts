import { type Feature, fateIn, features, isProviderLanguage } from '../dialects/fidelity.ts'
import type { Rule } from './exclude.ts'
import { lacks, quirksOf, speaksAll } from './judge.ts'
import type { Candidate } from './plan.ts'

/** A rule that leaves somebody out only as long as others remain of whom it says nothing: the caller is better served by these. */
export interface Yielding extends Rule {
  /** Who must remain: anybody, or others of the same model. */
  readonly to: 'anybody' | 'same_model'
}

const featureNamed = (name: string): Feature => {
  const found = features.find(feature => feature.name === name)
  if (!found) throw new TypeError(`No feature is named "${name}".`)
  return found
}
const audio = featureNamed('Audio')
const fileByAddress = featureNamed('File by address')
const logprobs = featureNamed('Log probabilities')

const loses = ({ offer }: Candidate, feature: Feature): boolean =>
  isProviderLanguage(offer.dialect) && fateIn(offer.dialect, feature) === 'dropped'

const refuses = (candidate: Candidate, field: string): boolean => quirksOf(candidate).refuses?.includes(field) === true

/** Top to bottom, each among those whom the ones before it have left. None of them can leave nobody. */
export const yielding: readonly Yielding[] = [
  {
    to: 'same_model',
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    asked: () => true,
    unmet: ({ offer, provider: { id } }, { routing: { only, order } }) =>
      offer.status === 'deprecated' && !only?.includes(id) && !order?.includes(id),
    reason: 'it will be switched off: name it in `gateway.routing.only` or `order` to ask it all the same',
  },
  {
    // A cap is no order to write so much: where nobody can, it is lowered, or the provider says so.
    to: 'same_model',
    code: 'capability_mismatch',
    param: 'max_output_tokens',
    asked: ({ needs }) => needs.outputTokens !== undefined,
    unmet: ({ offer }, { needs }) => offer.max_output_tokens !== undefined && (needs.outputTokens ?? 0) > offer.max_output_tokens,
    reason: ({ offer }) => `it writes ${offer.max_output_tokens} tokens at most, and others as many as were asked for`,
  },
  {
    to: 'anybody',
    code: 'capability_mismatch',
    param: 'tools',
    asked: ({ needs }) => needs.toolDialects.length > 0,
    unmet: ({ offer }, { needs }) => !speaksAll(offer.dialect, needs.toolDialects),
    reason: 'it would leave out tools that others take as they are',
  },
  {
    to: 'anybody',
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs }) => needs.audio,
    unmet: candidate => loses(candidate, audio),
    reason: 'it would leave out the sound that others hear',
  },
  {
    to: 'anybody',
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs }) => needs.fileAddresses,
    // Where only bytes are taken, and the gateway reads for it, it gets them.
    unmet: (candidate, { readsMedia }) => loses(candidate, fileByAddress) && !(readsMedia && quirksOf(candidate).bytes_only === true),
    reason: 'it would leave out files that others read at their addresses',
  },
  {
    to: 'anybody',
    code: 'capability_mismatch',
    param: 'top_logprobs',
    asked: ({ needs }) => needs.logprobs,
    unmet: candidate => loses(candidate, logprobs) || refuses(candidate, 'top_logprobs') || refuses(candidate, 'logprobs'),
    reason: 'it tells no probabilities, which others do',
  },
  {
    to: 'anybody',
    code: 'capability_mismatch',
    param: 'top_logprobs',
    asked: ({ needs }) => needs.logprobs,
    unmet: candidate => lacks(candidate, 'logprobs'),
    reason: 'it is not known to tell probabilities, as others are',
  },
]
