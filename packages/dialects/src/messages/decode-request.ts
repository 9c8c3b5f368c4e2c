import {
  anyText,
  arrayOf,
  booleanValue,
  integerBetween,
  nonEmptyText,
  numberBetween,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
} from '../common/field-readers.ts'
import { readRouting } from '../common/routing-options.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { readMessages, readSystem } from './decode-messages.ts'
import { readOutputOptions, readTool, readToolChoice } from './decode-options.ts'
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
    ...(metadata && { metadata }),
  }
  checkVersion(body, request)
  return remember(request, { dialect, body })
}

function readPrompt(body: JsonObject, isCounting: boolean): Prompt {
  const place = { body, path: '' }
  const maxTokens = (isCounting ? optional : required)(place, 'max_tokens', integerBetween(1))
  const system = optional(place, 'system', readSystem)
  const messages = required(place, 'messages', readMessages)
  const tools = optional(place, 'tools', arrayOf(readTool))
  const { text: format, reasoning, passthrough } = readOutputOptions(body, maxTokens)
  const native = { ...passthrough, ...unknownFields(body) }
  return {
    input: typeof system === 'object' ? [system, ...messages] : messages,
    ...(typeof system === 'string' && { instructions: system }),
    ...(tools && { tools }),
    ...optional(place, 'tool_choice', readToolChoice),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...readSampling(body),
    ...(format && { text: format }),
    ...(reasoning && { reasoning }),
    ...readAccount(body),
    ...(Object.keys(native).length > 0 && { native: { type: 'native', dialect, body: native } }),
  }
}

function readSampling(body: JsonObject): Pick<Prompt, 'temperature' | 'top_p' | 'top_k' | 'stop'> {
  const place = { body, path: '' }
  const sampling = optionalFields(place, samplingReaders)
  const stop = optional(place, 'stop_sequences', arrayOf(nonEmptyText))
  return { ...sampling, ...(stop && stop.length > 0 && { stop }) }
}

const samplingReaders = { temperature: numberBetween(0, 1), top_p: numberBetween(0, 1), top_k: integerBetween(0) }

/** Reads the end user, the service tier, and provider-specific parameters. */
function readAccount(body: JsonObject): Pick<Prompt, 'safety_identifier' | 'service_tier' | 'extensions'> {
  const place = { body, path: '' }
  const user = optional(place, 'metadata', readUser)
  const tier = optional(place, 'service_tier', anyText)
  return {
    ...(user && { safety_identifier: user }),
    ...(tier !== undefined && tier !== 'auto' && { service_tier: tier }),
    ...optionalFields(place, { extensions: objectValue }),
  }
}

const readUser: Read<string | undefined> = (value, path) => optional({ body: objectValue(value, path), path }, 'user_id', anyText)

/** Fields that are read here or in ../routing-options.ts. */
const readFields: ReadonlySet<string> = new Set([
  'model',
  'gateway',
  'stream',
  'max_tokens',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'output_config',
  'thinking',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'extensions',
])

const unknownFields = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([field, value]) => !readFields.has(field) && value !== undefined && value !== null))
