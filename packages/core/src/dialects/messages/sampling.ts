import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { dropRefused, type Encoded, unsupported } from '../apply-quirks.ts'

// How words are chosen. Models that think do not let callers say it, and here the scale of the temperature ends at 1.

const hottest = 1
/** A narrower choice is refused while the model thinks. */
const leastWhileThinking = 0.95

export function writeSampling(prompt: Prompt, thinking: JsonObject | undefined, quirks: Quirks): Encoded {
  const { temperature, top_p, top_k } = prompt
  const asked: JsonObject = {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
  }
  const { body, warnings } = dropRefused({ body: asked, warnings: [] }, { refuses: refusedOf(prompt, thinking, quirks) })
  if (typeof body.temperature !== 'number' || body.temperature <= hottest) return { body, warnings }
  const clamped = unsupported('temperature', `\`temperature\` ends at ${hottest} here, and was lowered to that.`)
  return { body: { ...body, temperature: hottest }, warnings: [...warnings, clamped] }
}

const all = ['temperature', 'top_p', 'top_k'] as const

function refusedOf({ temperature, top_p = 0 }: Prompt, thinking: JsonObject | undefined, quirks: Quirks): readonly string[] {
  const { sampling = 'any', thinks_unasked = true } = quirks
  const isOn = thinking !== undefined && thinking.type !== 'disabled'
  const mayThink = isOn || (thinking === undefined && thinks_unasked)
  if (sampling === 'none' || (sampling === 'unless_thinking' && mayThink)) return all
  if (isOn) return top_p >= leastWhileThinking ? ['temperature', 'top_k'] : all
  return sampling === 'one' && temperature !== undefined ? ['top_p'] : []
}
