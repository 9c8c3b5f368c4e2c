import { encodeForOffer } from '@signalbox/dialects/clients'
import { features, isContentLost } from '@signalbox/dialects/common'
import type { Fate, InferenceRequest, Warning } from '@signalbox/dialects/protocol'
import { originalOf, remember } from '@signalbox/dialects/protocol'
import { estimateInput } from '../../metering/estimate.ts'
import { makePlan, type PlanInput } from '../../routing/make-plan.ts'
import { mayOpenStored } from '../../routing/offer-facts.ts'
import type { Candidate } from '../../routing/plan.ts'

// How each provider would receive a request. The request is actually encoded, so the result is what would be sent. The dialect's
// fidelity table is used only for features without a warning.

/** A candidate and the features of the request that would reach it. */
export interface Fidelity {
  readonly model: string
  readonly provider: string
  readonly dialect: string
  readonly features: readonly FeatureFate[]
}

/** How one feature of a request is translated for one provider. */
interface FeatureFate {
  /** The field, named as in warnings. */
  readonly param: string
  readonly name: string
  readonly fate: Fate
  /** The message of the warning. */
  readonly note?: string
}

/** The fidelity for each provider of the model (default: the models of the request). */
export function fidelityOfModel(originalRequest: InferenceRequest, model: string | undefined, planning: PlanInput): readonly Fidelity[] {
  const request = model === undefined ? originalRequest : askingFor(originalRequest, model)
  const { candidates } = makePlan(planning, request, estimateInput(request.prompt))
  return candidates.map(candidate => fidelityOf(request, candidate))
}

/** The same request for another model. Nothing else changes, so its original body is kept. */
const askingFor = (request: InferenceRequest, model: string): InferenceRequest =>
  remember({ ...request, routing: { ...request.routing, models: [model] } }, originalOf(request))

/** `lost`: warnings about what was removed from the request for this candidate before encoding. */
export function fidelityOf(request: InferenceRequest, candidate: Candidate, lost: readonly Warning[] = []): Fidelity {
  const { model, provider, offer, dialect, quirks } = candidate
  const target = { offer, quirks, mayOpenStored: mayOpenStored(candidate) }
  const { warnings } = dialect ? encodeForOffer(dialect, request, target) : { warnings: [] }
  const explained = new Set<Warning>()
  const used = [...features].filter(([, { isUsed }]) => isUsed(request.prompt))
  const closest = (warning: Warning): number => Math.max(...used.map(([, { param }]) => (isAbout(warning, param) ? param.length : 0)))
  const known = used.map(([id, { param, name }]): FeatureFate => {
    const warning = warnings.find(each => isAbout(each, param) && closest(each) === param.length)
    const usual = dialect?.fidelity?.[id] ?? 'mapped'
    if (!warning) return { param, name, fate: usual === 'kept' ? 'kept' : 'mapped' }
    explained.add(warning)
    return { param, name, fate: fateOf(warning, usual), note: warning.message }
  })
  const others = [...lost, ...warnings.filter(warning => !explained.has(warning) && lost.every(({ code }) => code !== warning.code))].map(
    ({ param = '', message }): FeatureFate => ({ param, name: param, fate: 'dropped', note: message }),
  )
  return { model: model.id, provider: provider.id, dialect: offer.api, features: [...known, ...others] }
}

const fateOf = (warning: Warning, usual: Fate): Fate =>
  isContentLost(warning) ? 'refused' : usual === 'approximated' ? 'approximated' : 'dropped'

/** Whether a warning is about a feature: `input[2].content[0]` matches `input[*].content[*]` and its parents. */
const isAbout = ({ param = '' }: Warning, feature: string): boolean => {
  const general = param.replaceAll(/\[\d+\]/g, '[*]')
  return general === feature || general.startsWith(`${feature}.`) || general.startsWith(`${feature}[`)
}
