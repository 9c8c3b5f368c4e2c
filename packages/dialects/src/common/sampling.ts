import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { BodyDraft } from './body-draft.ts'

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
export function dropSampling(draft: BodyDraft, prompt: Prompt): void {
  const { sampling = 'any', temperatureRange } = draft.quirks
  if (sampling === 'none' || (sampling === 'unless_thinking' && mayThink(prompt, draft.quirks))) draft.refuse(samplers, warningNames)
  else if (sampling === 'one' && draft.get('temperature') !== undefined && draft.get('top_p') !== undefined) draft.refuse(['top_p'])
  else if (temperatureRange)
    draft.clamp(
      'temperature',
      temperatureRange,
      (sent, used) => `\`temperature\` ${sent} is not supported by this model; ${used} was used.`,
    )
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
