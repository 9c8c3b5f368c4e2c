import { dropRefused, type Encoded, unsupported } from '../common/apply-quirks.ts'
import type { Quirks } from '../protocol/model.ts'
import type { EncodedThinking } from './encode-thinking.ts'

const samplingFields = ['temperature', 'top_p', 'top_k'] as const

const maxTemperature = 1
/** Anthropic models reject a lower `top_p` while thinking. */
const minTopPWhileThinking = 0.95

/** Drops `temperature`, `top_p` and `top_k` if the dialect or model rejects them. Uses internal field names. */
export const fitSampling = (encoded: Encoded, quirks: Quirks, thinking: EncodedThinking): Encoded =>
  clampTemperature(dropRefused(encoded, { refuses: refusedSampling(encoded, quirks, thinking) }))

function refusedSampling({ body }: Encoded, quirks: Quirks, { restricts, fields }: EncodedThinking): readonly string[] {
  const { sampling = 'any', thinksUnasked = true, anthropicFields } = quirks
  const mayThink = restricts === 'sampling-and-tools' || (fields.thinking === undefined && thinksUnasked)
  if (sampling === 'none' || restricts === 'sampling' || (sampling === 'unless_thinking' && mayThink)) return samplingFields
  if (restricts === 'sampling-and-tools') {
    const isTopPAccepted = typeof body.top_p === 'number' && body.top_p >= minTopPWhileThinking
    return isTopPAccepted ? ['temperature', 'top_k'] : samplingFields
  }
  const exclusive = sampling === 'one' && body.temperature !== undefined ? ['top_p'] : []
  return anthropicFields ? exclusive : [...exclusive, 'top_k']
}

function clampTemperature({ body, warnings }: Encoded): Encoded {
  const { temperature } = body
  if (typeof temperature !== 'number' || temperature <= maxTemperature) return { body, warnings }
  return {
    body: { ...body, temperature: maxTemperature },
    warnings: [
      ...warnings,
      unsupported('temperature', `A \`temperature\` of ${temperature} is out of range for this model; ${maxTemperature} was used.`),
    ],
  }
}
