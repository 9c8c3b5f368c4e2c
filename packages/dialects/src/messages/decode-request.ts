import {
  anyText,
  arrayOf,
  booleanValue,
  integerBetween,
  literalOf,
  nonEmptyText,
  numberBetween,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
} from '../common/field-readers.ts'
import { readRouting } from '../common/routing-options.ts'
import { effortForBudget } from '../common/thinking-budget.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt, TextFormat, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { readMessages, readSystem } from './decode-messages.ts'
import { cachePointOf } from './decode-parts.ts'
import { checkVersion, decodeHeaders, type HeaderReader, splitBillingHeader } from './headers.ts'
import { dialect } from './wire.ts'

// Every decoded value remembers the wire object it was read from, so that unmodelled fields still reach a provider of this dialect.

const noHeader: HeaderReader = () => undefined

export const decodeRequest = (body: JsonObject, header = noHeader): InferenceRequest => decode(body, header, false)

/** Decodes a token counting request, which needs no `max_tokens`. */
export const decodeCounting = (body: JsonObject, header = noHeader): InferenceRequest => decode(body, header, true)

function decode(body: JsonObject, header: HeaderReader, isCounting: boolean): InferenceRequest {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  const { routing, metadata } = readRouting(body)
  const { header: billing, system } = splitBillingHeader(body.system)
  const request: InferenceRequest = {
    prompt: readPrompt(billing === undefined ? body : { ...body, system }, isCounting),
    routing,
    delivery: !isCounting && optional({ body, path: '' }, 'stream', booleanValue) ? 'stream' : 'whole',
    ...decodeHeaders(header, billing),
    metadata,
  }
  checkVersion(body, request)
  return remember(request, { dialect, body })
}

function readPrompt(body: JsonObject, isCounting: boolean): Prompt {
  const place = { body, path: '' }
  const max_output_tokens = (isCounting ? optional : required)(place, 'max_tokens', integerBetween(1))
  const system = optional(place, 'system', readSystem)
  const messages = required(place, 'messages', readMessages)
  const tools = optional(place, 'tools', arrayOf(readTool))
  const { text, reasoning, passthrough } = readOutputOptions(body, max_output_tokens)
  const choice = optional(place, 'tool_choice', readToolChoice)
  const sampling = optionalFields(place, samplingReaders)
  const stop = optional(place, 'stop_sequences', arrayOf(nonEmptyText))
  const user = optional(place, 'metadata', readUser)
  const service_tier = optional(place, 'service_tier', anyText)
  const extensions = optional(place, 'extensions', objectValue)
  const unknown = Object.entries(body).filter(([field, value]) => !readFields.has(field) && value !== undefined && value !== null)
  const native = { ...passthrough, ...Object.fromEntries(unknown) }
  return {
    input: typeof system === 'object' ? [system, ...messages] : messages,
    instructions: typeof system === 'string' ? system : undefined,
    tools,
    ...choice,
    max_output_tokens,
    ...sampling,
    stop: stop?.length ? stop : undefined,
    text,
    reasoning,
    safety_identifier: user || undefined,
    service_tier: service_tier === 'auto' ? undefined : service_tier,
    extensions,
    native: Object.keys(native).length > 0 ? { type: 'native', dialect, body: native } : undefined,
  }
}

const samplingReaders = { temperature: numberBetween(0, 1), top_p: numberBetween(0, 1), top_k: integerBetween(0) }

const readUser: Read<string | undefined> = (value, path) => optional({ body: objectValue(value, path), path }, 'user_id', anyText)

/** Fields that are read here or in ../routing-options.ts. */
const readFields: ReadonlySet<string> = new Set([
  ...['model', 'gateway', 'stream', 'max_tokens', 'system', 'messages', 'tools', 'tool_choice', 'output_config', 'thinking'],
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'metadata', 'service_tier', 'extensions'],
])

const readTool: Read<Tool> = (value, path) => {
  const body = objectValue(value, path)
  const place = { body, path }
  const type = optional(place, 'type', anyText) ?? 'custom'
  if (type !== 'custom') return remember<Tool>({ type: 'native', dialect, body }, { dialect, body, path })
  const fields = optionalFields(place, { description: anyText, strict: booleanValue })
  const name = required(place, 'name', nonEmptyText)
  const parameters = required(place, 'input_schema', objectValue)
  const tool: FunctionTool = { type: 'function', name, strict: false, ...fields, parameters, cache: cachePointOf(body, path) }
  return remember(tool, { dialect, body, path })
}

const choices: ReadonlyMap<string, ToolChoice> = new Map<string, ToolChoice>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])

const readToolChoice: Read<Pick<Prompt, 'tool_choice' | 'parallel_tool_calls'>> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', nonEmptyText)
  const isSequential = optional({ body, path }, 'disable_parallel_tool_use', booleanValue)
  return { tool_choice: choices.get(type) ?? readNamedChoice(type, body, path), parallel_tool_calls: isSequential ? false : undefined }
}

const readNamedChoice = (type: string, body: JsonObject, path: string): ToolChoice =>
  remember<ToolChoice & object>(
    type === 'tool' ? { type: 'function', name: required({ body, path }, 'name', nonEmptyText) } : { type: 'native', dialect, body },
    { dialect, body, path },
  )

interface OutputOptions extends Pick<Prompt, 'text' | 'reasoning'> {
  /** `output_config` and `thinking`, if none of their fields is modelled. */
  readonly passthrough: JsonObject
}

/** Reads `output_config` and `thinking`. `maxTokens`: the output limit, including thinking. */
function readOutputOptions(body: JsonObject, maxTokens: number | undefined): OutputOptions {
  const config = optional({ body, path: '' }, 'output_config', objectValue)
  const place = { body: config ?? {}, path: 'output_config' }
  const format = optional(place, 'format', readFormat)
  const effort = optional(place, 'effort', readEffort)
  const thinking = optional({ body, path: '' }, 'thinking', objectValue)
  const known = thinking && readThinking(thinking, maxTokens)
  const reasoning = known || effort ? { effort, ...known } : undefined
  const passthrough: Record<string, JsonObject> = {}
  if (config && !format && !effort && Object.keys(config).length > 0) passthrough.output_config = config
  if (thinking && !known) passthrough.thinking = thinking
  return {
    text: config && format && remember({ format }, { dialect, body: config, path: 'output_config' }),
    reasoning: reasoning && remember(reasoning, { dialect, body: { thinking, output_config: config }, path: 'thinking' }),
    passthrough,
  }
}

const readEffort = literalOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')

const readFormat: Read<TextFormat> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', literalOf('json_schema'))
  return { type, name: 'answer', schema: required({ body, path }, 'schema', objectValue) }
}

type Reasoning = NonNullable<Prompt['reasoning']>

/** Reads `thinking`; undefined if its type is unknown. */
function readThinking(body: JsonObject, maxTokens: number | undefined): Reasoning | undefined {
  const place = { body, path: 'thinking' }
  const type = required(place, 'type', nonEmptyText)
  const display = optional(place, 'display', anyText)
  const summary = display === undefined ? undefined : summaryByDisplay.get(display)
  const shown = summary === undefined ? {} : { summary }
  if (type === 'disabled') return { effort: 'none' }
  // The model decides how much to think, unless `output_config.effort` is set.
  if (type === 'adaptive') return shown
  if (type !== 'enabled') return undefined
  const budget_tokens = required(place, 'budget_tokens', integerBetween(1))
  return { effort: effortForBudget(budget_tokens, maxTokens), summary: 'auto', ...shown, budget_tokens }
}

const summaryByDisplay: ReadonlyMap<string, string> = new Map([
  ['summarized', 'auto'],
  ['omitted', 'none'],
])
