import { dropRefused, type Encoded, unsupported } from '../common/apply-quirks.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'

const maxTemperature = 1
/** A lower `top_p` is rejected while the model thinks. */
const minTopPWhileThinking = 0.95

/** Encodes `temperature`, `top_p` and `top_k` as far as the model accepts them. Thinking models reject most of them. */
export function encodeSampling(prompt: Prompt, thinking: JsonObject | undefined, quirks: Quirks): Encoded {
  const { temperature, top_p, top_k } = prompt
  const requested: JsonObject = {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
  }
  const { body, warnings } = dropRefused({ body: requested, warnings: [] }, { refuses: refusedSampling(prompt, thinking, quirks) })
  if (typeof body.temperature !== 'number' || body.temperature <= maxTemperature) return { body, warnings }
  const clamped = unsupported('temperature', `The maximum \`temperature\` of this model is ${maxTemperature}; it was lowered to that.`)
  return { body: { ...body, temperature: maxTemperature }, warnings: [...warnings, clamped] }
}

const samplingFields = ['temperature', 'top_p', 'top_k'] as const

function refusedSampling({ temperature, top_p = 0 }: Prompt, thinking: JsonObject | undefined, quirks: Quirks): readonly string[] {
  const { sampling = 'any', thinksUnasked = true } = quirks
  const isThinking = thinking !== undefined && thinking.type !== 'disabled'
  const mayThink = isThinking || (thinking === undefined && thinksUnasked)
  if (sampling === 'none' || (sampling === 'unless_thinking' && mayThink)) return samplingFields
  if (isThinking) return top_p >= minTopPWhileThinking ? ['temperature', 'top_k'] : samplingFields
  return sampling === 'one' && temperature !== undefined ? ['top_p'] : []
}
