import { type Encoded, unsupported } from '../common/apply-quirks.ts'
import { wantsLogprobs } from '../common/sampling.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'

// Encodes the settings of `generationConfig`.

const promptSettings = [
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
] as const satisfies readonly (keyof Prompt)[]

const wireNames: ReadonlyMap<string, string> = new Map<(typeof promptSettings)[number], string>([
  ['max_output_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['stop', 'stopSequences'],
  ['seed', 'seed'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
])

const maxStopSequences = 5

/** The requested settings under internal names, which warnings use. */
export function collectSettings(prompt: Prompt): Encoded {
  const { stop = [], top_logprobs = 0 } = prompt
  const body: Record<string, Json | undefined> = {}
  for (const field of promptSettings) if (prompt[field] !== undefined) body[field] = prompt[field]
  const cut = unsupported('stop', `This provider accepts ${maxStopSequences} stop sequences; only the first ${maxStopSequences} were sent.`)
  return {
    body: {
      ...body,
      stop: stop.length > 0 ? stop.slice(0, maxStopSequences) : undefined,
      top_logprobs: wantsLogprobs(prompt) ? top_logprobs : undefined,
    },
    warnings: stop.length > maxStopSequences ? [cut] : [],
  }
}

/** The settings of this request that the offer rejects, under internal names. */
export function refusedSettings(quirks: Quirks, { reasoning, temperature }: Prompt): readonly string[] {
  const { sampling, refuses = [], thinksUnasked = true, thinkingOff } = quirks
  const known = refuses.includes('logprobs') ? [...refuses, 'top_logprobs'] : refuses
  const withSampling = [...known, 'temperature', 'top_p', 'top_k']
  const effort = reasoning?.effort
  const isThinking = effort === undefined ? thinksUnasked : effort !== 'none' || thinkingOff === 'never'
  if (sampling === 'none' || (sampling === 'unless_thinking' && isThinking)) return withSampling
  return sampling === 'one' && temperature !== undefined ? [...known, 'top_p'] : known
}

export function encodeSettings({ top_logprobs, ...requested }: JsonObject): JsonObject {
  const encoded = Object.entries(requested).flatMap(([field, value]) => {
    const name = wireNames.get(field)
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  const logprobs =
    top_logprobs === undefined
      ? {}
      : { responseLogprobs: true, ...(typeof top_logprobs === 'number' && top_logprobs > 0 && { logprobs: top_logprobs }) }
  return { ...Object.fromEntries(encoded), ...logprobs }
}
