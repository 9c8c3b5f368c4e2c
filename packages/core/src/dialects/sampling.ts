import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import { dropRefused, type Encoded } from './apply-quirks.ts'

// Models that think choose their words in a way of their own, and refuse to be told another.

const samplers = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
] as const satisfies readonly (keyof Prompt | 'logprobs')[]

const spelled: ReadonlyMap<string, string> = new Map([['logprobs', 'top_logprobs']])

/** Takes out of a body in a language of OpenAI what says how words are chosen, where the model does not let callers say it. */
export function dropSampling(encoded: Encoded, prompt: Prompt, quirks: Quirks): Encoded {
  const { sampling = 'any' } = quirks
  const { temperature, top_p } = encoded.body
  if (sampling === 'none' || (sampling === 'unless_thinking' && isThinking(prompt, quirks))) {
    return dropRefused(encoded, { refuses: samplers }, spelled)
  }
  if (sampling === 'one' && temperature !== undefined && top_p !== undefined) return dropRefused(encoded, { refuses: ['top_p'] })
  return encoded
}

/** Thinking is off where the caller said so and the model can, or where nobody asked for it and it does not begin by itself. */
function isThinking({ reasoning }: Prompt, { efforts, thinking_off, thinking_switch, thinks_unasked = true }: Quirks): boolean {
  if (reasoning?.effort === undefined) return thinks_unasked
  return reasoning.effort !== 'none' || thinking_off === 'never' || (efforts?.includes('none') === false && thinking_switch === undefined)
}
