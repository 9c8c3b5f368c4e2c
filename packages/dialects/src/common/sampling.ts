import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import { dropRefused, type Encoded, unsupported } from './apply-quirks.ts'

// Reasoning models control sampling themselves and reject parameters for it.

const samplers = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
] as const satisfies readonly (keyof Prompt | 'logprobs')[]

const warningNames: ReadonlyMap<string, string> = new Map([['logprobs', 'top_logprobs']])

/** The entry of `Prompt.include` that asks for log probabilities. */
export const logprobsInclude = 'message.output_text.logprobs'

/** Whether the response must contain log probabilities. */
export const wantsLogprobs = ({ top_logprobs = 0, include = [] }: Prompt): boolean => top_logprobs > 0 || include.includes(logprobsInclude)

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
 * Whether the model will think. Thinking is off if the client switches it off and the model allows that, or if the client does not
 * configure it and it is off by default.
 *
 * @example mayThink({ reasoning: { effort: 'none' } }, { thinkingOff: 'never' }) // true
 */
export function mayThink(
  { reasoning }: Pick<Prompt, 'reasoning'>,
  { efforts, thinkingOff, thinkingSwitch, thinksUnasked = true }: Quirks,
): boolean {
  if (reasoning?.effort === undefined) return thinksUnasked
  return reasoning.effort !== 'none' || thinkingOff === 'never' || (efforts?.includes('none') === false && thinkingSwitch === undefined)
}
