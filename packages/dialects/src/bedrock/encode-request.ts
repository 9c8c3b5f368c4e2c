import { type Encoded, extend, unsupported, withoutOutputCaps } from '../common/apply-quirks.ts'
import { makeSchemaFitter } from '../common/fit-schemas.ts'
import type { FittedNames } from '../common/fitted-names.ts'
import { closingText, closingWarning, openingText, openingWarning } from '../common/opening-turn.ts'
import { isCitable, itemParts, lostCitations } from '../common/part-warnings.ts'
import { fittedToolNames } from '../common/tool-names.ts'
import type { EncodedRequest, ResponseMapping } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { acceptedCachePoints, hasEndCachePoint, withEndCachePoint } from './cache-points.ts'
import { encodeFormat } from './encode-format.ts'
import { type EncodedThinking, encodeThinking } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeSettings } from './inference-config.ts'
import { encodeConversation } from './items.ts'
import { maxNameLength } from './tool-names.ts'

/** Encodes a request. Model and delivery are not in the body because they are part of the URL. */
export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt } = request
  const encoded = encodePrompt(request, offer, quirks)
  const settings = encodeSettings(request, offer, { quirks, thinking: encoded.thinking })
  const { inferenceConfig, tier } = settings
  const modelFields = { ...encoded.fields, ...settings.fields, ...betaFields(request, quirks) }
  const body: JsonObject = {
    ...encoded.body,
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(tier !== undefined && { serviceTier: { type: tier } }),
    ...(Object.keys(modelFields).length > 0 && { additionalModelRequestFields: modelFields }),
  }
  const warnings = [...encoded.warnings, ...settings.warnings, ...unsupportedFields(prompt, quirks)]
  return {
    ...extendBedrock({ body, warnings }, prompt.extensions),
    ...(request.delivery === 'stream' && { headers: { accept: 'application/vnd.amazon.eventstream' } }),
    ...(encoded.mapping && { mapping: encoded.mapping }),
  }
}

/** Encodes a request for the provider's token counter. */
export function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, warnings } = encodePrompt(request, offer, quirks)
  const { messages, system, toolConfig } = body
  return { body: { input: { converse: { messages, system, toolConfig } } }, warnings }
}

interface EncodedPrompt {
  readonly body: JsonObject
  /** Fields for `additionalModelRequestFields`. */
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
  readonly mapping: ResponseMapping | undefined
  readonly thinking: EncodedThinking
}

/** Encodes conversation, tools, thinking and response format. */
function encodePrompt({ prompt: requested, schemas = makeSchemaFitter() }: InferenceRequest, offer: Offer, quirks: Quirks): EncodedPrompt {
  const { prompt, warnings: cacheWarnings } = acceptedCachePoints(requested, quirks)
  const toolNames = fittedToolNames(prompt, maxNameLength)
  const conversation = encodeConversation(prompt.input, quirks, toolNames)
  const { lacksThinkingBeforeCalls } = conversation
  const thinking = encodeThinking({ prompt, offer, quirks, lacksThinkingBeforeCalls })
  const canForceCall = quirks.noForcedTools !== true && thinking.restricts !== 'sampling-and-tools'
  const format = encodeFormat(prompt, quirks, { canForceCall, schemas, toolNames })
  const { answerTool } = format
  const tools = encodeTools(prompt, quirks, { conversation, answerTool, canForceCall, schemas, toolNames })
  const added = [format.instruction, tools.instruction].flatMap(text => (text === undefined ? [] : [{ text }]))
  const system = [...(prompt.instructions?.trim() ? [{ text: prompt.instructions }] : []), ...conversation.system, ...added]
  // Without any message, the system prompt is sent as the user's message, because a request needs one.
  const isSystemOfUser = system.length > 0 && (quirks.noSystem === true || conversation.messages.length === 0)
  const turns = isSystemOfUser ? prependSystem(conversation.messages, system) : conversation.messages
  const { messages, warnings: turnWarnings } = withUserTurns(turns, quirks)
  return {
    body: {
      messages: withEndCachePoint(messages, prompt, quirks),
      ...(system.length > 0 && !isSystemOfUser && { system }),
      ...(tools.toolConfig && { toolConfig: tools.toolConfig }),
      ...format.fields,
    },
    fields: { ...thinking.fields, ...tools.fields },
    warnings: [
      ...conversation.warnings,
      ...(quirks.anthropicFields ? [] : lostCitations(prompt.input)),
      ...turnWarnings,
      ...cacheWarnings,
      ...thinking.warnings,
      ...format.warnings,
      ...tools.warnings,
    ],
    mapping: readingFor(prompt, { answerTool: answerTool?.name, quirks, toolNames }),
    thinking,
  }
}

/** Puts the system prompt before the first text of the user. */
function prependSystem(messages: readonly JsonObject[], system: readonly JsonObject[]): readonly JsonObject[] {
  const [first, ...rest] = messages
  if (first?.role !== 'user' || !Array.isArray(first.content)) return [{ role: 'user', content: system }, ...messages]
  return [{ role: 'user', content: [...system, ...first.content] }, ...rest]
}

/** Adds a user turn where the conversation needs one: at the start, and at the end for models that do not continue an assistant message. */
function withUserTurns(
  messages: readonly JsonObject[],
  { noPrefill }: Quirks,
): { readonly messages: readonly JsonObject[]; readonly warnings: readonly Warning[] } {
  const needsOpening = messages[0]?.role === 'assistant'
  const needsClosing = noPrefill === true && messages.at(-1)?.role === 'assistant'
  return {
    messages: [...(needsOpening ? [userMessage(openingText)] : []), ...messages, ...(needsClosing ? [userMessage(closingText)] : [])],
    warnings: [...(needsOpening ? [openingWarning] : []), ...(needsClosing ? [closingWarning] : [])],
  }
}

const userMessage = (text: string): JsonObject => ({ role: 'user', content: [{ text }] })

interface ReadingOptions {
  readonly answerTool: string | undefined
  readonly quirks: Quirks
  readonly toolNames: FittedNames
}

function readingFor(
  { input }: Prompt,
  { answerTool, quirks, toolNames: { changed: toolNames } }: ReadingOptions,
): ResponseMapping | undefined {
  const citesDocuments = quirks.anthropicFields === true && input.some(item => itemParts(item).some(isCitable))
  if (toolNames.size === 0 && answerTool === undefined && !citesDocuments) return undefined
  return {
    ...(toolNames.size > 0 && { toolNames }),
    ...(answerTool !== undefined && { answerTool }),
    ...(citesDocuments && { citesDocuments }),
  }
}

/** Anthropic betas that models on Bedrock accept. An unknown one fails the request, so all others are left out. */
const betas: ReadonlySet<string> = new Set(['interleaved-thinking-2025-05-14', 'fine-grained-tool-streaming-2025-05-14'])

function betaFields({ headers }: InferenceRequest, { anthropicFields }: Quirks): JsonObject {
  const requested = anthropicFields && headers?.dialect === 'messages' ? (headers.values['anthropic-beta'] ?? '') : ''
  const known = requested
    .split(',')
    .map(beta => beta.trim())
    .filter(beta => betas.has(beta))
  return known.length > 0 ? { anthropic_beta: known } : {}
}

/** Optional extra data. Omitting it changes nothing, so there is no warning. */
const ignoredIncludes: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

const omitted = (param: string): Warning => unsupported(param, `\`${param}\` is not supported by this provider and was left out.`)

/**
 * Warnings for the fields that this dialect cannot express, in addition to those of inference-config.ts. None for `metadata`, which only
 * the gateway echoes, or `max_tool_calls`, which limits only hosted tools.
 */
const unsupportedFields = (prompt: Prompt, quirks: Quirks): readonly Warning[] => [
  ...(prompt.include ?? []).flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [omitted(`include[${at}]`)])),
  ...Object.keys(prompt.native?.body ?? {})
    .filter(field => field !== 'cache_control' || !hasEndCachePoint(prompt, quirks))
    .map(omitted),
]

/** Fields that no extension may set, in addition to the general ones: they change the length of the response or its latency class. */
const heldFields: ReadonlySet<string> = new Set(['inferenceConfig', 'performanceConfig'])

/**
 * Models on Bedrock read the output cap under their own names, in objects of their own (`inferenceConfig.maxTokens` of Amazon Nova,
 * `textGenerationConfig.maxTokenCount` of Amazon Titan), so no name of it is sent at any level.
 */
function extendBedrock({ body, warnings }: Encoded, extensions: JsonObject = {}): Encoded {
  const caps: string[] = []
  const entries = Object.entries(extensions).map(([field, value]) => [
    field,
    // The outer names of these are reported below.
    isObject(value) || Array.isArray(value) ? withoutOutputCaps(value, field, caps) : value,
  ])
  const others = caps.length > 0 ? (Object.fromEntries(entries) as JsonObject) : extensions
  return mergeExtensions({ body, warnings: [...warnings, ...caps.map(setByGateway)] }, others)
}

/** Merges provider-specific parameters. `additionalModelRequestFields` is merged field by field, because the gateway sets some of them. */
function mergeExtensions({ body, warnings }: Encoded, extensions: JsonObject): Encoded {
  const { additionalModelRequestFields: modelFields, ...others } = extensions
  const refused = Object.keys(others).filter(field => heldFields.has(field))
  const allowed = Object.fromEntries(Object.entries(others).filter(([field]) => !heldFields.has(field)))
  const outer = extend({ body, warnings: [...warnings, ...refused.map(setByGateway)] }, allowed)
  if (!isObject(modelFields)) return outer
  const known = isObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {}
  const inner = extend({ body: known, warnings: [] }, modelFields)
  return {
    body: { ...outer.body, ...(Object.keys(inner.body).length > 0 && { additionalModelRequestFields: inner.body }) },
    warnings: [
      ...outer.warnings,
      ...inner.warnings.map(warning => ({ ...warning, param: `extensions.additionalModelRequestFields.${afterDot(warning.param)}` })),
    ],
  }
}

const setByGateway = (field: string): Warning =>
  unsupported(`extensions.${field}`, `\`${field}\` is set by the gateway; the extension was left out.`)

const afterDot = (param = ''): string => param.slice(param.indexOf('.') + 1)
