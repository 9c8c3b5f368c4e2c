import type { Quirks } from '../../protocol/model.ts'
import { dropRefused, type Encoded, unsupported } from '../apply-quirks.ts'
import type { Thinking } from './thinking.ts'

// `temperature`, `top_p`, `top_k`, under our names: what the language, the model and its thinking leave of them.

const samplers = ['temperature', 'top_p', 'top_k'] as const

/** Beside Anthropic's thinking `top_p` may only cut off the last bits. */
const leastTopP = 0.95

export const fitSampling = (encoded: Encoded, quirks: Quirks, thinking: Thinking): Encoded =>
  clamp(dropRefused(encoded, { refuses: refusedBy(encoded, quirks, thinking) }))

function refusedBy({ body }: Encoded, quirks: Quirks, { rules, fields }: Thinking): readonly string[] {
  const { sampling = 'any', thinks_unasked = true, anthropic_fields } = quirks
  const mayThink = rules === 'thinking' || (fields.thinking === undefined && thinks_unasked)
  if (sampling === 'none' || rules === 'level' || (sampling === 'unless_thinking' && mayThink)) return samplers
  if (rules === 'thinking') return typeof body.top_p === 'number' && body.top_p >= leastTopP ? ['temperature', 'top_k'] : samplers
  const one = sampling === 'one' && body.temperature !== undefined ? ['top_p'] : []
  return anthropic_fields ? one : [...one, 'top_k']
}

function clamp({ body, warnings }: Encoded): Encoded {
  const { temperature } = body
  if (typeof temperature !== 'number' || temperature <= 1) return { body, warnings }
  return {
    body: { ...body, temperature: 1 },
    warnings: [...warnings, unsupported('temperature', `A \`temperature\` of ${temperature} is out of range here; 1 was used.`)],
  }
}
