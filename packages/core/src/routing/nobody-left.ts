import { GatewayError } from '../errors/gateway-error.ts'
import type { Model } from '../protocol/model.ts'
import { rules } from './exclude.ts'
import type { Excluded } from './plan.ts'

/** Reasons that one message names; a model that more refuse has been told enough of. */
const mostReasons = 10

/** The 400 that says who was left out for what, under the topmost code of the table of rules. 503 where there was nobody to ask at all. */
export function nobodyLeft(models: readonly Model[], excluded: readonly Excluded[]): GatewayError {
  const code = rules.find(rule => excluded.some(reason => reason.code === rule.code))?.code ?? 'routing_failed'
  const names = models.slice(0, mostReasons).map(({ id }) => id)
  // Two credentials of one provider are left out for the same reason.
  const reasons = [...new Set(excluded.map(({ model, provider, reason }) => `${provider} for ${model}: ${reason}`))]
  const unnamed = reasons.length - mostReasons
  const told = `Left out: ${reasons.slice(0, mostReasons).join('; ')}${unnamed > 0 ? `; and ${unnamed} more` : ''}.`
  const deciding = excluded.filter(reason => reason.code === code)
  return new GatewayError(code, {
    message: `No provider can serve this request with ${names.join(', ')}${models.length > names.length ? ', …' : ''}. ${reasons.length > 0 ? told : 'No provider offers it.'}`,
    ...paramOf(deciding),
    ...suggestionOf(deciding, excluded),
  })
}

/** The field to change, where all who decided it did so for the same one. */
function paramOf(deciding: readonly Excluded[]): { readonly param?: string } {
  const [param, ...others] = new Set(deciding.map(reason => reason.param))
  return param !== undefined && others.length === 0 ? { param } : {}
}

function suggestionOf(deciding: readonly Excluded[], excluded: readonly Excluded[]): { readonly suggestion?: string } {
  const { param } = paramOf(deciding)
  if (param === 'gateway.routing.only' || param === 'gateway.routing.ignore') {
    const sellers = [...new Set(excluded.filter(({ code }) => code !== 'routing_failed').map(({ provider }) => provider))]
    return {
      suggestion: `It is offered by ${sellers.slice(0, mostReasons).join(', ')}. Where the request does not say it, the routing defaults of its workspace do.`,
    }
  }
  const suggestion = rules.find(rule => rule.code === deciding[0]?.code && rule.param === param)?.suggestion
  return suggestion === undefined ? {} : { suggestion }
}
