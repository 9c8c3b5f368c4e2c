import { GatewayError } from '@signalbox/dialects/errors'
import type { Model } from '@signalbox/dialects/protocol'
import { exclusionRules } from './exclusion-rules.ts'
import type { Excluded } from './plan.ts'

/** Maximum reasons in a message. */
const maxReasons = 10

/**
 * The error if no candidate is left. It lists each excluded candidate with its reason, and has the code of the first exclusion rule that
 * applied. 503 if there was no candidate at all.
 */
export function noCandidatesError(models: readonly Model[], excluded: readonly Excluded[]): GatewayError {
  const code = exclusionRules.find(rule => excluded.some(reason => reason.code === rule.code))?.code ?? 'routing_failed'
  const names = models.slice(0, maxReasons).map(({ id }) => id)
  // Credentials of one provider are often excluded for the same reason.
  const reasons = [...new Set(excluded.map(({ model, provider, reason }) => `${provider} for ${model}: ${reason}`))]
  const unnamed = reasons.length - maxReasons
  const excludedText = `Excluded: ${reasons.slice(0, maxReasons).join('; ')}${unnamed > 0 ? `; and ${unnamed} more` : ''}.`
  const deciding = excluded.filter(reason => reason.code === code)
  return new GatewayError(code, {
    message: `No provider can serve this request with ${names.join(', ')}${models.length > names.length ? ', …' : ''}. ${reasons.length > 0 ? excludedText : 'No provider offers it.'}`,
    ...paramOf(deciding),
    ...suggestionOf(deciding, excluded),
  })
}

/** The field to change, if all deciding exclusions name the same one. For parts of a conversation, the first. */
function paramOf(deciding: readonly Excluded[]): { readonly param?: string } {
  const [param, ...others] = new Set(deciding.map(reason => reason.param))
  return param !== undefined && (others.length === 0 || [param, ...others].every(isPartPath)) ? { param } : {}
}

const isPartPath = (param: string | undefined): boolean => param?.includes('[') === true

function suggestionOf(deciding: readonly Excluded[], excluded: readonly Excluded[]): { readonly suggestion?: string } {
  const { param } = paramOf(deciding)
  if (param === 'gateway.routing.only' || param === 'gateway.routing.ignore') {
    const sellers = [...new Set(excluded.filter(({ code }) => code !== 'routing_failed').map(({ provider }) => provider))]
    return {
      suggestion: `The model is offered by ${sellers.slice(0, maxReasons).join(', ')}. If the request does not set the field, the routing defaults of the workspace do.`,
    }
  }
  const suggestion = deciding.find(reason => reason.param === param)?.suggestion
  return suggestion === undefined ? {} : { suggestion }
}
