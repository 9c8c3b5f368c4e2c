import type { Stamp } from '../../protocol/dialect.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { InferenceRequest, Prompt, Tool, ToolChoice } from '../../protocol/request.ts'
import type { Outcome, Usage } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { originalBody } from './items.ts'

// The response object: what was asked for, echoed with every default spelled out, and what came of it.

export interface SnapshotFacts {
  readonly request: InferenceRequest
  readonly stamp: Stamp
  /** The provider's own object, where it spoke this language. */
  readonly original?: JsonObject | undefined
}

export function beginning(facts: SnapshotFacts): JsonObject {
  return { ...skeleton(facts), status: 'in_progress', output: [], error: null, incomplete_details: null, completed_at: null, usage: null }
}

export interface Ending {
  readonly outcome: Outcome
  readonly usage?: Usage | undefined
  readonly output: readonly JsonObject[]
}

export function ending(facts: SnapshotFacts, { outcome, usage, output }: Ending): JsonObject {
  const { routing, warnings, completed_at } = facts.stamp
  return {
    ...skeleton(facts),
    status: outcome.status,
    output,
    output_text: output.map(textOf).join(''),
    error: outcome.status === 'failed' ? writeError(outcome.error) : null,
    incomplete_details: outcome.status === 'incomplete' ? { reason: outcome.reason } : null,
    completed_at: completed_at ?? null,
    usage: usage ? writeUsage(usage) : null,
    ...(routing && { routing_metadata: { ...routing } }),
    ...(warnings.length > 0 && { warnings: warnings.map(warning => ({ ...warning })) }),
  }
}

/** Everything but the course of events. Ours always: who answered, what the caller asked for, and that nothing is stored. */
function skeleton({ request: { prompt }, stamp, original }: SnapshotFacts): JsonObject {
  const asked = echo(prompt)
  return {
    ...(original && withoutOurs(original)),
    id: stamp.id,
    object: 'response',
    created_at: stamp.created_at,
    model: stamp.model,
    ...asked,
    ...(original && used(asked, original)),
  }
}

function echo(prompt: Prompt): JsonObject & Readonly<Record<string, Json>> {
  const { text, reasoning } = prompt
  return {
    instructions: prompt.instructions ?? null,
    tools: (prompt.tools ?? []).map(echoTool),
    tool_choice: echoChoice(prompt.tool_choice ?? 'auto'),
    parallel_tool_calls: prompt.parallel_tool_calls ?? true,
    temperature: prompt.temperature ?? 1,
    top_p: prompt.top_p ?? 1,
    top_logprobs: prompt.top_logprobs ?? 0,
    frequency_penalty: prompt.frequency_penalty ?? 0,
    presence_penalty: prompt.presence_penalty ?? 0,
    max_output_tokens: prompt.max_output_tokens ?? null,
    max_tool_calls: prompt.max_tool_calls ?? null,
    text: {
      ...(text && originalBody(text)),
      format: echoFormat(text?.format),
      ...(text?.verbosity !== undefined && { verbosity: text.verbosity }),
    },
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    truncation: prompt.truncation ?? 'disabled',
    metadata: prompt.metadata ?? {},
    service_tier: prompt.service_tier ?? 'default',
    prompt_cache_key: prompt.prompt_cache_key ?? null,
    safety_identifier: prompt.safety_identifier ?? null,
    ...(prompt.user !== undefined && { user: prompt.user }),
    previous_response_id: null,
    store: false,
    background: false,
  }
}

const echoFormat = (format: NonNullable<Prompt['text']>['format']): JsonObject =>
  format?.type === 'json_schema' ? { description: null, strict: null, ...format } : { type: format?.type ?? 'text' }

/** A hosted tool may carry the caller's own secrets for a third party; those are not repeated. */
function echoTool(tool: Tool): JsonObject {
  if (tool.type === 'native') {
    const { authorization, headers, ...rest } = tool.body
    return rest
  }
  const { name, description = null, parameters = null, strict = null } = tool
  return { ...originalBody(tool), type: 'function', name, description, parameters, strict }
}

const echoChoice = (choice: ToolChoice): Json => {
  if (typeof choice === 'string') return choice
  return choice.type === 'native' ? choice.body : { type: 'function', name: choice.name }
}

/** Where the provider tells what it really used, that is truer than what was asked for. */
const tellable = [
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'max_output_tokens',
  'max_tool_calls',
  'text',
  'reasoning',
  'truncation',
  'service_tier',
]

function used(asked: Readonly<Record<string, Json>>, original: JsonObject): JsonObject {
  const told: Record<string, Json | undefined> = {}
  for (const field of tellable) if (isLike(original[field], asked[field])) told[field] = original[field]
  return told
}

/** Of the kind that we promise; a field of ours that is null so far takes a number. */
const isLike = (told: Json | undefined, asked: Json | undefined): boolean => {
  if (isObject(asked)) return isObject(told)
  return typeof told === (asked === null ? 'number' : typeof asked)
}

/** Output and usage are told by events; the rest names the provider's view of its caller, which is us. */
const held: ReadonlySet<string> = new Set([
  'output',
  'output_text',
  'usage',
  'error',
  'conversation',
  'input',
  'prompt',
  'user',
  'routing_metadata',
  'warnings',
])
const withoutOurs = (original: JsonObject): JsonObject => Object.fromEntries(Object.entries(original).filter(([field]) => !held.has(field)))

const textOf = (item: JsonObject): string => {
  if (item.type !== 'message' || !Array.isArray(item.content)) return ''
  return (item.content as readonly Json[])
    .map(part => (isObject(part) && part.type === 'output_text' && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

const writeUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.input_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens },
  output_tokens: usage.output_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.input_tokens + usage.output_tokens,
})

/** Code and type are given where a failure is told (execution/told.ts); the fallback is for those who use the encoder alone. */
export const writeError = ({ message, code = 'provider_error', type = 'provider_error', provider }: Failure): JsonObject => ({
  code,
  message,
  type,
  ...(provider !== undefined && { provider }),
})
