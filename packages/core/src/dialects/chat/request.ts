import type { Prompt } from '../../protocol/request.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { flag, integer, list, number, object, oneOf, optional, type Read, refuse, required, stringMap, text } from '../field-readers.ts'
import { readMessages } from './request-items.ts'
import { readForm, readTools, wantsWordsOnly } from './request-options.ts'
import { dialect, wantsLogprobs } from './wire.ts'

// What a caller may send, field by field. Readings remember the wire objects that they came from, so nothing unknown is lost
// on the way to a provider that speaks the same language.

const top = (body: JsonObject): { readonly body: JsonObject; readonly path: string } => ({ body, path: '' })

export function readPrompt(body: JsonObject): Prompt {
  const place = top(body)
  const parallel_tool_calls = optional(place, 'parallel_tool_calls', flag)
  const old = optional(place, 'max_tokens', integer(1))
  const max_output_tokens = optional(place, 'max_completion_tokens', integer(1)) ?? old
  const effort = optional(place, 'reasoning_effort', efforts)
  const unread = unreadOf(body)
  return {
    input: required(place, 'messages', readMessages),
    ...readTools(body),
    ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...readSampling(body),
    ...readLogprobs(body),
    ...readForm(body),
    ...(effort && { reasoning: { effort: effort === 'off' ? 'none' : effort } }),
    ...readAccount(body),
    ...(unread && { native: { type: 'native', dialect, body: unread } }),
  }
}

const efforts = oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off')

type Sampling = Pick<Prompt, 'temperature' | 'top_p' | 'top_k' | 'frequency_penalty' | 'presence_penalty' | 'stop' | 'seed'>

function readSampling(body: JsonObject): Sampling {
  const place = top(body)
  const temperature = optional(place, 'temperature', number(0, 2))
  const top_p = optional(place, 'top_p', number(0, 1))
  const top_k = optional(place, 'top_k', integer())
  const frequency_penalty = optional(place, 'frequency_penalty', number())
  const presence_penalty = optional(place, 'presence_penalty', number())
  const stop = optional(place, 'stop', readStop)
  const seed = optional(place, 'seed', integer())
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
    ...(frequency_penalty !== undefined && { frequency_penalty }),
    ...(presence_penalty !== undefined && { presence_penalty }),
    ...(stop && stop.length > 0 && { stop }),
    ...(seed !== undefined && { seed }),
  }
}

const readStop: Read<readonly string[]> = (value, path) => (typeof value === 'string' ? [value] : list(text)(value, path))

function readLogprobs(body: JsonObject): Pick<Prompt, 'include' | 'top_logprobs'> {
  const wanted = optional(top(body), 'logprobs', flag)
  const top_logprobs = optional(top(body), 'top_logprobs', integer(0, 20))
  return { ...(wanted && { include: [wantsLogprobs] }), ...(top_logprobs !== undefined && { top_logprobs }) }
}

const accountFields = ['user', 'safety_identifier', 'prompt_cache_key', 'service_tier'] as const satisfies readonly (keyof Prompt)[]

/** On whose behalf it is asked, at which tier, and what is for one provider alone. */
function readAccount(body: JsonObject): Pick<Prompt, (typeof accountFields)[number] | 'metadata' | 'extensions'> {
  const place = top(body)
  const metadata = optional(place, 'metadata', stringMap())
  const extensions = optional(place, 'extensions', object)
  const named = accountFields.flatMap(field => {
    const value = optional(place, field, text)
    return value === undefined ? [] : [[field, value] as const]
  })
  return { ...Object.fromEntries(named), ...(metadata && { metadata }), ...(extensions && { extensions }) }
}

/** What changes how an answer is kept or sent, and not what it says. */
export function checkEnvelope(body: JsonObject): void {
  const n = optional(top(body), 'n', integer(1))
  if (n !== undefined && n > 1) refuse('invalid_parameter_value', '`n` must be 1 or left out: a request gets one answer here.', 'n')
  if (optional(top(body), 'store', flag) === true) {
    refuse('invalid_parameter_value', '`store` must be false or left out: nothing is stored here.', 'store')
  }
  wantsUsage(body)
}

/** Whether the caller wants a last chunk with the usage. */
export function wantsUsage(body: JsonObject): boolean {
  const options = optional(top(body), 'stream_options', object)
  return (options && optional({ body: options, path: 'stream_options' }, 'include_usage', flag)) ?? false
}

/** Fields that are read above, in request-options.ts, in client.ts or in ../routing-options.ts. */
const known: ReadonlySet<string> = new Set([
  'model',
  'gateway',
  'stream',
  'stream_options',
  'store',
  'n',
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'seed',
  'logprobs',
  'top_logprobs',
  'response_format',
  'verbosity',
  'reasoning_effort',
  ...accountFields,
  'metadata',
  'extensions',
])

function unreadOf(body: JsonObject): JsonObject | undefined {
  const unread = Object.entries(body).filter(
    ([field, value]) => !known.has(field) && value !== undefined && value !== null && !(field === 'modalities' && wantsWordsOnly(value)),
  )
  return unread.length > 0 ? Object.fromEntries(unread) : undefined
}
