import type { Price, Quirks } from '../protocol/model.ts'
import type { Prompt, RoutingOptions } from '../protocol/request.ts'
import { dropRefused, type Encoded, unsupported } from './apply-quirks.ts'
import { mayThink, samplers, warningNames } from './sampling.ts'
import { isExpensive, sellsExpensiveTier, standardPriceTiers, type Tiers, tierOf, unpricedFields } from './service-tier.ts'

/** The tier of the prompt in a dialect's terms, or left out with a warning. */
export function tierField({ service_tier }: Prompt, words: ReadonlyMap<string, string>, { priorityTier }: Quirks): Encoded {
  if (service_tier === undefined) return { body: {}, warnings: [] }
  const tier = service_tier === priorityTier ? service_tier : words.get(service_tier)
  if (tier !== undefined) return { body: { service_tier: tier }, warnings: [] }
  return {
    body: {},
    warnings: [
      unsupported('service_tier', `\`service_tier\` "${service_tier.slice(0, 50)}" is not supported by this provider and was left out.`),
    ],
  }
}

function withoutSurcharge(encoded: Encoded, price: Price | undefined): Encoded {
  const { body, warnings } = encoded
  const unpriced = unpricedFields(body, price)
  if (unpriced.length === 0) return encoded
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !unpriced.includes(field))),
    warnings: [...warnings, ...unpriced.map(field => unsupported(field, `The price of \`${field}\` is unknown; it was left out.`))],
  }
}

/** Sets the tier of a body, or removes one without a known price. Warns about each option of `gateway.routing` that has no effect. */
export function applyServiceTier(encoded: Encoded, routing: RoutingOptions, tiers: Tiers): Encoded {
  const affordable = withoutSurcharge(encoded, tiers.price)
  const { body, warnings } = affordable
  const bought = tierOf(routing, tiers)
  if (body.service_tier === undefined && routing.tier === undefined) return affordable
  const { service_tier: named, ...rest } = body
  // `fast`, the newer name of the priority tier, is sent only to a provider that uses it; others get `priority`.
  const service_tier = named === 'fast' && tiers.quirks.priorityTier !== 'fast' ? 'priority' : named
  const isTooExpensive =
    bought === undefined && !standardPriceTiers.has(service_tier) && !(sellsExpensiveTier(tiers) && isExpensive(service_tier, tiers))
  const without = isTooExpensive ? rest : service_tier === named ? body : { ...rest, service_tier }
  return {
    body: bought === undefined ? without : { ...body, service_tier: bought },
    warnings: [
      ...warnings,
      ...(isTooExpensive ? [unsupported('service_tier', 'The price of this `service_tier` is unknown; the default tier was used.')] : []),
      ...(routing.tier !== undefined && bought === undefined
        ? [unsupported('gateway.routing.tier', 'This provider offers no faster tier; the default tier was used.')]
        : []),
    ],
  }
}
/** Removes sampling parameters that the model rejects from a body of an OpenAI API. */
export function dropSampling(encoded: Encoded, prompt: Prompt, quirks: Quirks): Encoded {
  const { sampling = 'any' } = quirks
  const { temperature, top_p } = encoded.body
  if (sampling === 'none' || (sampling === 'unless_thinking' && mayThink(prompt, quirks))) {
    return dropRefused(encoded, { refuses: samplers }, warningNames)
  }
  if (sampling === 'one' && temperature !== undefined && top_p !== undefined) return dropRefused(encoded, { refuses: ['top_p'] })
  return quirks.temperatureRange ? inRange(encoded, quirks.temperatureRange) : encoded
}

/** Clamps the temperature to the accepted range. */
function inRange({ body, warnings }: Encoded, range: NonNullable<Quirks['temperatureRange']>): Encoded {
  const { temperature: sent } = body
  if (typeof sent !== 'number') return { body, warnings }
  const temperature = Math.min(range.max, Math.max(range.min, sent))
  if (temperature === sent) return { body, warnings }
  return {
    body: { ...body, temperature },
    warnings: [...warnings, unsupported('temperature', `\`temperature\` ${sent} is not supported by this model; ${temperature} was used.`)],
  }
}

/**
 * The stop sequences that Anthropic's models accept, as `stop`: 400 "stop_sequences: each stop sequence must contain non-whitespace"
 * (BerriAI/litellm#3286), also on Bedrock. Absent if none is left.
 */
export function visibleStops({ stop = [] }: Prompt): Encoded {
  const visible = stop.filter(text => text.trim() !== '')
  const blank = unsupported('stop', 'This provider rejects stop sequences without visible characters; they were left out.')
  return { body: visible.length > 0 ? { stop: visible } : {}, warnings: visible.length < stop.length ? [blank] : [] }
}
