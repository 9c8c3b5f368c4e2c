import type { ExtraSteps, Usage } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { objects } from './json.ts'
import { readUsage } from './usage.ts'
import type { UsageFields } from './usage-fields.ts'

// Usage of a response for which the provider called the model several times. Messages lists each call in `usage.iterations`:
// platform.claude.com/docs/en/build-with-claude/compaction-threshold, read on 2026-11-28.

/** The same usage with the tokens of these steps in its totals. */
export const withSteps = (usage: Usage, steps: ExtraSteps): Usage => ({ ...summed(usage, steps, 1), extra_steps: steps })

/** The usage of the provider's own totals. */
export function withoutSteps(usage: Usage): Usage {
  const { extra_steps: steps, ...rest } = usage
  return steps ? summed(rest, steps, -1) : usage
}

function summed(usage: Usage, steps: ExtraSteps, sign: 1 | -1): Usage {
  const long = (usage.cache_write_1h_tokens ?? 0) + sign * steps.cache_write_1h_tokens
  return {
    ...usage,
    input_tokens: usage.input_tokens + sign * steps.input_tokens,
    output_tokens: usage.output_tokens + sign * steps.output_tokens,
    cached_tokens: usage.cached_tokens + sign * steps.cached_tokens,
    cache_write_tokens: usage.cache_write_tokens + sign * steps.cache_write_tokens,
    ...((long > 0 || usage.cache_write_1h_tokens !== undefined) && { cache_write_1h_tokens: long }),
  }
}

/** A step that answered in place of a model that declined. The totals are those of this step, and a declined attempt is not billed. */
const servedByFallback = ({ type }: JsonObject): boolean => type === 'fallback_message'

/**
 * What the steps of a response have beyond its totals: a compaction, or a call of another model. Undefined if the totals cover every
 * step. Totals that already contain a step are not counted twice.
 */
export function extraSteps(wire: Json | undefined, fields: UsageFields): ExtraSteps | undefined {
  const steps = isObject(wire) ? objects(wire.iterations) : []
  if (steps.length === 0 || steps.some(servedByFallback)) return undefined
  const totals = readUsage(wire, fields)
  const counted = steps.flatMap(step => readUsage(step, fields) ?? [])
  const beyond = (countOf: (usage: Usage) => number): number =>
    Math.max(0, counted.reduce((sum, usage) => sum + countOf(usage), 0) - (totals ? countOf(totals) : 0))
  const input_tokens = beyond(usage => usage.input_tokens)
  const output_tokens = beyond(usage => usage.output_tokens)
  if (input_tokens + output_tokens === 0) return undefined
  const cached_tokens = Math.min(
    input_tokens,
    beyond(usage => usage.cached_tokens),
  )
  const cache_write_tokens = Math.min(
    input_tokens - cached_tokens,
    beyond(usage => usage.cache_write_tokens),
  )
  const cache_write_1h_tokens = Math.min(
    cache_write_tokens,
    beyond(usage => usage.cache_write_1h_tokens ?? 0),
  )
  const count = Math.max(1, steps.filter(({ type }) => type !== 'message').length)
  return { count, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens }
}

/** Kinds of steps of other models, which cost what those models cost: `['advisor']`. */
export const otherModelsIn = (wire: Json | undefined): readonly string[] =>
  isObject(wire) && objects(wire.iterations).some(({ type }) => type === 'advisor_message') ? ['advisor'] : []
