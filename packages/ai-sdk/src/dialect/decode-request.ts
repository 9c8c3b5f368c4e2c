import { decodeMessagesHeaders } from '@signalbox/dialects/clients'
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
  readRouting,
  refuse,
  required,
} from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import {
  type FunctionTool,
  type InferenceRequest,
  isObject,
  type JsonObject,
  type Prompt,
  remember,
  type TextFormat,
  type ToolChoice,
} from '@signalbox/dialects/protocol'
import { decodePrompt } from './decode-prompt.ts'
import { cachePointOf, type LostOptions, noteLost, noteLostOptions, readGatewayOptions, vendorOptions } from './provider-options.ts'
import { dialect, optionsKey } from './wire.ts'

/** Facts of a call other than its options: the model, and whether the response is streamed. */
export interface CallTarget {
  readonly modelId: string
  readonly stream: boolean
  /** A header of the call by lower-case name. Those of the Messages API are forwarded to its providers. */
  readonly header: (name: string) => string | undefined
}

/** Decodes a request of `POST …/language-model`, whose headers name the model and whether to stream. */
export function decodeRequest(body: JsonObject, header: (name: string) => string | undefined = () => undefined): InferenceRequest {
  const version = header('ai-language-model-specification-version')
  if (version !== undefined && version !== '4') {
    const message = `\`ai-language-model-specification-version\` is ${version.slice(0, 20)}, and this gateway speaks version 4: use version 4 of \`@ai-sdk/gateway\`.`
    refuse('invalid_parameter_value', message, 'ai-language-model-specification-version')
  }
  const modelId = header('ai-language-model-id')
  if (!modelId) {
    throw new GatewayError('missing_required_parameter', {
      message: 'The header `ai-language-model-id` is required: it names the model.',
      param: 'ai-language-model-id',
    })
  }
  return decodeCallOptions(body, { modelId, stream: header('ai-language-model-streaming') === 'true', header })
}

/**
 * Decodes call options into a request, in process and over HTTP. Options that the request cannot express are listed in its `native` fields
 * and cause a warning.
 *
 * @throws `invalid_parameter_value`, `missing_required_parameter` and other 400s that name the field
 */
export function decodeCallOptions(options: JsonObject, { modelId, stream, header }: CallTarget): InferenceRequest {
  if (!isObject(options)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  const lost: LostOptions = new Map()
  const place = { body: options, path: '' }
  const providerOptions = optional(place, 'providerOptions', objectValue) ?? {}
  optional({ body: providerOptions, path: 'providerOptions' }, optionsKey, objectValue)
  noteUnknownSettings(options, lost)
  const own = readGatewayOptions(options, lost)
  const { routing, metadata } = readRouting({ gateway: { ...own.gateway, models: [modelId, ...own.fallbacks] } })
  const prompt = mergePrompts(
    { input: required(place, 'prompt', (value, path) => decodePrompt(value, path, lost)) },
    decodeSettings(options),
    vendorOptions(options, lost),
    own.prompt,
    decodeTools(options, lost),
  )
  const request: InferenceRequest = {
    prompt: lost.size > 0 ? { ...prompt, native: { type: 'native', dialect, body: Object.fromEntries(lost) } } : prompt,
    routing,
    delivery: stream ? 'stream' : 'whole',
    ...decodeMessagesHeaders(header, undefined),
    metadata,
  }
  return remember(request, { dialect, body: options })
}

/** Merges prompts: later settings win; `reasoning` and `text` are merged field by field. */
function mergePrompts(first: Prompt, ...others: readonly Partial<Prompt>[]): Prompt {
  let merged = first
  for (const { reasoning, text, ...rest } of others) {
    merged = {
      ...merged,
      ...rest,
      ...(reasoning && { reasoning: { ...merged.reasoning, ...reasoning } }),
      ...(text && { text: { ...merged.text, ...text } }),
    }
  }
  return merged
}

/** The call options of the specification. */
const knownSettings: ReadonlySet<string> = new Set([
  ...['prompt', 'maxOutputTokens', 'temperature', 'stopSequences', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty', 'responseFormat'],
  ...['seed', 'tools', 'toolChoice', 'includeRawChunks', 'abortSignal', 'headers', 'reasoning', 'providerOptions'],
])

function noteUnknownSettings(options: JsonObject, lost: LostOptions): void {
  for (const [name, value] of Object.entries(options))
    if (!knownSettings.has(name) && value !== undefined && value !== null) noteLost(lost, name)
}

const reasoningLevels = literalOf('provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')

function decodeSettings(body: JsonObject): Partial<Prompt> {
  const place = { body, path: '' }
  const { includeRawChunks, maxOutputTokens, topP, topK, presencePenalty, frequencyPenalty, stopSequences, ...same } = optionalFields(
    place,
    {
      temperature: numberBetween(0, 2),
      includeRawChunks: booleanValue,
      seed: integerBetween(),
      maxOutputTokens: integerBetween(1),
      topP: numberBetween(0, 1),
      topK: integerBetween(),
      presencePenalty: numberBetween(),
      frequencyPenalty: numberBetween(),
      stopSequences: arrayOf(anyText),
    },
  )
  const effort = optional(place, 'reasoning', reasoningLevels)
  const format = optional(place, 'responseFormat', decodeFormat(body))
  return {
    ...same,
    max_output_tokens: maxOutputTokens,
    top_p: topP,
    top_k: topK,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    stop: stopSequences?.length ? stopSequences : undefined,
    reasoning: effort === undefined || effort === 'provider-default' ? undefined : { effort },
    text: format && { format },
  }
}

/** `providerOptions.openai.strictJsonSchema` makes a schema strict. */
const decodeFormat =
  ({ providerOptions }: JsonObject): Read<TextFormat | undefined> =>
  (value, path) => {
    const body = objectValue(value, path)
    const place = { body, path }
    if (required(place, 'type', literalOf('text', 'json')) === 'text') return undefined
    const {
      schema,
      name = 'response',
      description,
    } = optionalFields(place, { schema: objectValue, name: nonEmptyText, description: anyText })
    if (!schema) return { type: 'json_object' }
    const openai = isObject(providerOptions) ? providerOptions.openai : undefined
    const strict = isObject(openai) ? openai.strictJsonSchema : undefined
    return { type: 'json_schema', name, schema, strict: typeof strict === 'boolean' ? strict : undefined, description }
  }

/** Decodes the tools of a call, and which of them may be called. Provider-run tools are unknown to the gateway, and recorded as lost. */
function decodeTools(options: JsonObject, lost: LostOptions): Pick<Prompt, 'tools' | 'tool_choice'> {
  const place = { body: options, path: '' }
  const tools = optional(place, 'tools', arrayOf(decodeTool(lost)))?.filter(tool => tool !== undefined)
  const tool_choice = optional(place, 'toolChoice', decodeToolChoice)
  if (!tools || tools.length === 0) return {}
  if (tool_choice === undefined) return { tools }
  // Choosing a tool that was left out would be rejected.
  if (typeof tool_choice === 'string' || tools.some(({ name }) => 'name' in tool_choice && tool_choice.name === name))
    return { tools, tool_choice }
  noteLost(lost, 'toolChoice')
  return { tools }
}

const decodeTool =
  (lost: LostOptions): Read<FunctionTool | undefined> =>
  (value, path) => {
    const body = objectValue(value, path)
    const place = { body, path }
    if (required(place, 'type', literalOf('function', 'provider')) === 'provider') {
      noteLost(lost, `${path} (${required(place, 'id', nonEmptyText).slice(0, 100)})`)
      return undefined
    }
    noteLostOptions(body, `tools[*]`, lost)
    if (Array.isArray(body.inputExamples) && body.inputExamples.length > 0) noteLost(lost, `${path}.inputExamples`)
    const description = optional(place, 'description', anyText)
    const strict = optional(place, 'strict', booleanValue) ?? false
    const cache = cachePointOf(body)
    const tool: FunctionTool = {
      type: 'function',
      name: required(place, 'name', nonEmptyText),
      parameters: required(place, 'inputSchema', objectValue),
      description,
      strict,
      cache,
    }
    return remember(tool, { dialect, body, path })
  }

const decodeToolChoice: Read<ToolChoice> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', literalOf('auto', 'none', 'required', 'tool'))
  return type === 'tool' ? { type: 'function', name: required({ body, path }, 'toolName', nonEmptyText) } : type
}
