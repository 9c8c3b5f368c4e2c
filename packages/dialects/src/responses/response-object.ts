import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceRequest, Prompt, ToolChoice } from '../protocol/request.ts'
import type { HostedCalls, Outcome, Usage } from '../protocol/response.ts'
import type { Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { encodeFailure } from './errors.ts'
import { originalBody } from './items.ts'

// The response object: the request, echoed with all its defaults, and its outcome.

export interface ResponseFacts {
  readonly request: InferenceRequest
  readonly metadata: ResponseMetadata
  /** The provider's own object, if it came in this dialect. */
  readonly original?: JsonObject | undefined
}

export const startedResponse = (facts: ResponseFacts): JsonObject => withUnknownFields(responseSoFar(facts), facts.original)

export interface ResponseEnd {
  readonly outcome: Outcome
  readonly usage?: Usage | undefined
  readonly output: readonly JsonObject[]
}

export function finishedResponse(facts: ResponseFacts, { outcome, usage, output }: ResponseEnd): JsonObject {
  const { routing, warnings, completed_at } = facts.metadata
  const response = responseSoFar(facts)
  response.status = outcome.status
  response.output = output
  response.output_text = output.length === 1 && output[0] ? outputText(output[0]) : output.map(outputText).join('')
  if (outcome.status === 'failed') response.error = encodeFailure(outcome.error)
  if (outcome.status === 'incomplete') response.incomplete_details = { reason: outcome.reason }
  response.completed_at = completed_at ?? null
  if (usage) response.usage = encodeUsage(usage)
  if (usage?.hosted_calls && facts.original?.tool_usage === undefined) response.tool_usage = encodeHostedCalls(usage.hosted_calls)
  if (routing) response.routing_metadata = { ...routing }
  if (warnings.length > 0) response.warnings = warnings.map(warning => ({ ...warning }))
  return withUnknownFields(response, facts.original)
}

type ResponseObject = Record<string, Json | undefined>

/** A response in progress. Id, model, the caller's options and `store` are always set by the gateway. */
function responseSoFar({ request: { prompt }, metadata, original }: ResponseFacts): ResponseObject {
  const response = responseTo(prompt, metadata)
  if (metadata.used) putUsed(response, metadata.used)
  if (original) putReported(response, original)
  return response
}

/** The object with every field, including the caller's options. Built at once, because merging several objects copies fields repeatedly. */
function responseTo(prompt: Prompt, { id, created_at, model }: Pick<ResponseMetadata, 'id' | 'created_at' | 'model'>): ResponseObject {
  const { text, reasoning } = prompt
  return {
    id,
    object: 'response',
    created_at,
    model,
    instructions: prompt.instructions ?? null,
    tools: prompt.tools ? prompt.tools.map(echoTool) : [],
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
    user: prompt.user,
    previous_response_id: null,
    store: false,
    background: false,
    status: 'in_progress',
    output: [],
    output_text: undefined,
    error: null,
    incomplete_details: null,
    completed_at: null,
    usage: null,
    routing_metadata: undefined,
  }
}

const nameless = { id: '', created_at: 0, model: '' }

/** Replaces settings that were sent with a different value than the caller's. Settings that were not sent have their defaults. */
function putUsed(response: ResponseObject, used: ReadonlyMap<string, Json>): void {
  const defaults = responseTo({ input: [] }, nameless)
  for (const [setting, value] of used) {
    const [field = '', inner] = setting.split('.')
    const usual = own(defaults, field) ?? null
    // Dialects name tool choices differently, so a choice is replaced only if nothing is forced any more.
    if (field === 'tool_choice' && value !== null && value !== 'auto') continue
    const before = own(response, field)
    if (inner === undefined) response[field] = field === 'tool_choice' ? usual : (value ?? usual)
    else if (isObject(before)) response[field] = { ...before, [inner]: value ?? (isObject(usual) ? own(usual, inner) : undefined) ?? null }
  }
}

const echoFormat = (format: NonNullable<Prompt['text']>['format']): JsonObject =>
  format?.type === 'json_schema' ? { description: null, strict: null, ...format } : { type: format?.type ?? 'text' }

/** Echoes a tool without the secrets for third parties that a hosted tool may contain. */
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

/** Options for which the provider may report the values that it used. */
const reportable = [
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

function putReported(response: ResponseObject, original: JsonObject): void {
  for (let at = 0; at < reportable.length; at += 1) {
    const field = reportable[at] as string
    const reported = original[field]
    if (reported !== undefined && isLike(reported, response[field])) response[field] = reported
  }
}

/** Whether a reported value has the type of the option. An option that is null accepts a number. */
const isLike = (reported: Json, option: Json | undefined): boolean => {
  if (isObject(option)) return isObject(reported)
  return typeof reported === (option === null ? 'number' : typeof option)
}

/** Fields that the gateway writes, or that contain the provider's view of its client, which is the gateway. */
const ownFields: ReadonlySet<string> = new Set([
  ...Object.keys(responseTo({ input: [] }, nameless)),
  ...['conversation', 'input', 'prompt', 'warnings'],
])
const isUnknown = (field: string): boolean => !ownFields.has(field)

/** Adds unknown fields of the provider's response. Most responses have none. */
const withUnknownFields = (response: JsonObject, original: JsonObject | undefined): JsonObject =>
  original && Object.keys(original).some(isUnknown)
    ? { ...Object.fromEntries(Object.entries(original).filter(([field]) => isUnknown(field))), ...response }
    : response

const outputText = (item: JsonObject): string => {
  if (item.type !== 'message' || !Array.isArray(item.content)) return ''
  return (item.content as readonly Json[])
    .map(part => (isObject(part) && part.type === 'output_text' && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

const encodeHostedCalls = (calls: HostedCalls): JsonObject =>
  Object.fromEntries(Object.entries(calls).map(([tool, count]) => [tool, { num_requests: count }]))

const encodeUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.input_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens },
  output_tokens: usage.output_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.input_tokens + usage.output_tokens,
})
