import type { Offer, Quirks } from '../../protocol/model.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'

// A caller of this language may be answered by another model than the one it wrote for: in a pool, or after a fallback. Its
// words go on as they are where this model takes them, and are written anew where it does not.

/** Whether the model takes the body as it stands. Of what nobody knows of a model, the caller knows best. */
export const fits = (body: JsonObject, { max_output_tokens }: Offer, quirks: Quirks): boolean =>
  fitsThinking(body, quirks) &&
  fitsSampling(body, quirks) &&
  !(quirks.no_forced_tools && isForced(body.tool_choice)) &&
  !(typeof body.max_tokens === 'number' && max_output_tokens !== undefined && body.max_tokens > max_output_tokens) &&
  !(
    quirks.json_schema !== undefined &&
    quirks.json_schema !== 'native' &&
    isObject(body.output_config) &&
    isObject(body.output_config.format)
  )

const isForced = (choice: Json | undefined): boolean => isObject(choice) && (choice.type === 'any' || choice.type === 'tool')

/** `thinking` and the effort that goes with it. */
export const fitsThinking = (body: JsonObject, quirks: Quirks): boolean =>
  fitsKind(body.thinking, quirks) && fitsEffort(body.output_config, quirks)

function fitsKind(thinking: Json | undefined, { thinking: styles, thinking_off: off }: Quirks): boolean {
  if (!isObject(thinking)) return true
  if (thinking.type === 'disabled') return off !== 'never'
  if (styles === undefined) return true
  if (thinking.type === 'adaptive') return styles.includes('adaptive')
  return thinking.type !== 'enabled' || styles.includes('budget') || styles.includes('toggle')
}

export function fitsEffort(config: Json | undefined, { efforts, thinking: styles }: Quirks): boolean {
  const effort = isObject(config) ? config.effort : undefined
  if (typeof effort !== 'string') return true
  return efforts?.includes(effort) ?? (styles === undefined || styles.includes('adaptive'))
}

function fitsSampling({ temperature, top_p, top_k, thinking }: JsonObject, { sampling = 'any' }: Quirks): boolean {
  const isSet = [temperature, top_p, top_k].some(value => value !== undefined && value !== null)
  if (!isSet || sampling === 'any') return true
  if (sampling === 'one') return typeof temperature !== 'number' || typeof top_p !== 'number'
  return sampling === 'unless_thinking' && isObject(thinking) && thinking.type === 'disabled'
}
