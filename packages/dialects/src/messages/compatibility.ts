import type { Offer, Quirks } from '../protocol/model.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// A request in this dialect may be served by a model that it was not written for: from a model list, or after a fallback. It is passed
// through unchanged if the model accepts it, and re-encoded otherwise.

/** Whether the model accepts the body unchanged. Unknown facts count as accepted. */
export const isCompatible = (body: JsonObject, { maxOutputTokens }: Offer, quirks: Quirks): boolean =>
  isThinkingCompatible(body, quirks) &&
  isSamplingCompatible(body, quirks) &&
  !(quirks.noForcedTools && isForcedChoice(body.tool_choice)) &&
  !(typeof body.max_tokens === 'number' && maxOutputTokens !== undefined && body.max_tokens > maxOutputTokens) &&
  !(
    quirks.jsonSchema !== undefined &&
    quirks.jsonSchema !== 'native' &&
    isObject(body.output_config) &&
    isObject(body.output_config.format)
  )

const isForcedChoice = (choice: Json | undefined): boolean => isObject(choice) && (choice.type === 'any' || choice.type === 'tool')

/** Whether the model accepts `thinking` and the effort. */
export const isThinkingCompatible = (body: JsonObject, quirks: Quirks): boolean =>
  isThinkingTypeCompatible(body.thinking, quirks) && isEffortCompatible(body.output_config, quirks)

function isThinkingTypeCompatible(thinking: Json | undefined, { thinking: styles, thinkingOff: off }: Quirks): boolean {
  if (!isObject(thinking)) return true
  if (thinking.type === 'disabled') return off !== 'never'
  if (styles === undefined) return true
  if (thinking.type === 'adaptive') return styles.includes('adaptive')
  return thinking.type !== 'enabled' || styles.includes('budget') || styles.includes('toggle')
}

export function isEffortCompatible(config: Json | undefined, { efforts, thinking: styles }: Quirks): boolean {
  const effort = isObject(config) ? config.effort : undefined
  if (typeof effort !== 'string') return true
  return efforts?.includes(effort) ?? (styles === undefined || styles.includes('adaptive'))
}

function isSamplingCompatible({ temperature, top_p, top_k, thinking }: JsonObject, { sampling = 'any' }: Quirks): boolean {
  const isSet = [temperature, top_p, top_k].some(value => value !== undefined && value !== null)
  if (!isSet || sampling === 'any') return true
  if (sampling === 'one') return typeof temperature !== 'number' || typeof top_p !== 'number'
  return sampling === 'unless_thinking' && isObject(thinking) && thinking.type === 'disabled'
}
