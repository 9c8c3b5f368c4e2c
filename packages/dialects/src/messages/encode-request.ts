import { dropGatewayFields, dropRefused, type Encoded, extend, unsupported } from '../common/apply-quirks.ts'
import { fitCachePoints } from '../common/cache-points.ts'
import { droppedReasoning } from '../common/dropped-reasoning.ts'
import { makeSchemaFitter } from '../common/fit-schemas.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { shortId } from '../common/ids.ts'
import { objects } from '../common/json.ts'
import { applyServiceTier, surchargedFields, tierField } from '../common/service-tier.ts'
import { visibleStops } from '../common/stop-sequences.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { billingHeader, splitBillingHeader, withBillingHeader } from './billing-header.ts'
import { isCompatible, isEffortCompatible } from './compatibility.ts'
import { withoutInventedCitations } from './decode-parts.ts'
import { createEncodeContext } from './encode-context.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeHeaders } from './headers.ts'
import { encodeConversation } from './items.ts'
import { isSafeId, safeId } from './tool-names.ts'
import { dialect, originalBody } from './wire.ts'

export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const original = originalOf(request)
  const { mapping, ...encoded } =
    original?.dialect === dialect && isCompatible(original.body, offer, quirks)
      ? { body: passThroughBody(original.body), warnings: [], mapping: {} }
      : encodePrompt(request, offer, quirks)
  const { body, warnings } = dropGatewayFields(encoded, ownFields)
  const addressed = {
    ...quirks.fixedFields,
    ...withBilling(body, request, quirks),
    model: offer.model,
    stream: request.delivery === 'stream',
  }
  const tiered = applyServiceTier({ body: addressed, warnings }, request.routing, { price: offer.price, quirks })
  const accepted = dropRefused(renamePriorityTier(tiered, quirks), quirks, promptNames)
  const extended = extend(accepted, request.prompt.extensions)
  return {
    body: inStableOrder(extended.body),
    warnings: extended.warnings,
    headers: encodeHeaders(request),
    ...(Object.keys(mapping).length > 0 && { mapping }),
  }
}

/** Fields that make up the prompt. */
const countedFields = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'] as const

/** Encodes a request for the provider's token counter. */
export function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, ...encoded } = encodeRequest(request, offer, quirks)
  return { ...encoded, body: Object.fromEntries(countedFields.flatMap(field => (body[field] === undefined ? [] : [[field, body[field]]]))) }
}

/** The client's body as a provider of this dialect accepts it: without gateway fields, and with cleaned messages. */
const passThroughBody = ({ gateway, extensions, messages, ...body }: JsonObject): JsonObject => ({
  ...body,
  ...(messages !== undefined && { messages: Array.isArray(messages) ? cleanMessages(messages as readonly Json[]) : messages }),
})

function cleanMessages(messages: readonly Json[]): readonly Json[] {
  const ids = messages.flatMap(message => (isObject(message) ? objects(message.content).flatMap(callIdIn) : []))
  const callIds = fittedNames(ids, safeId)
  return messages.flatMap(message => cleanMessage(message, callIds))
}

/** Removes remnants of other providers' responses: citations without proof, unsigned thinking, invalid call ids. */
function cleanMessage(message: Json, callIds: FittedNames): readonly Json[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message]
  const blocks = objects(message.content)
  const genuine = message.role === 'assistant' ? blocks.filter(isSigned).map(withoutInventedCitations) : blocks
  const clean = genuine.map(block => withSafeId(block, callIds))
  if (clean.length === blocks.length && clean.every((block, at) => block === blocks[at])) return [message]
  return clean.length === 0 ? [] : [{ ...message, content: clean }]
}

const isSigned = ({ type, signature }: JsonObject): boolean => type !== 'thinking' || Boolean(signature)

const idFields: ReadonlyMap<Json | undefined, string> = new Map([
  ['tool_use', 'id'],
  ['tool_result', 'tool_use_id'],
])

const callIdIn = (block: JsonObject): readonly string[] => {
  const field = idFields.get(block.type)
  const id = field === undefined ? undefined : block[field]
  return typeof id === 'string' ? [id] : []
}

function withSafeId(block: JsonObject, callIds: FittedNames): JsonObject {
  const [id] = callIdIn(block)
  return id === undefined || isSafeId(id) ? block : { ...block, [idFields.get(block.type) ?? '']: callIds.sent(id) }
}

/** Sorts the fields by name, so that a body that is passed through and one that is rebuilt begin alike, which prompt caches require. */
function inStableOrder(body: JsonObject): JsonObject {
  const fields = new Map(Object.entries(body))
  return Object.fromEntries([...fields.keys()].sort().map(name => [name, fields.get(name)]))
}

/** The body with or without the billing header of Claude Code. */
function withBilling(body: JsonObject, { headers }: InferenceRequest, { billingHeader: isAccepted }: Quirks): JsonObject {
  const header = headers?.values[billingHeader]
  if (header === undefined) return body
  const { system: sent, ...rest } = body
  const { header: own, system } = splitBillingHeader(sent)
  if (isAccepted) return own === undefined ? { ...rest, system: withBillingHeader(system, header) } : body
  return system === undefined ? rest : { ...rest, system }
}

/** Gateway-controlled fields that exist in this dialect. */
const ownFields: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'messages',
  'system',
  'tools',
  'max_tokens',
  'service_tier',
  ...surchargedFields,
])

/** Fields of this dialect → internal names, where they differ. */
const promptNames: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['stop_sequences', 'stop'],
  ['thinking', 'reasoning'],
  ['output_config', 'text.format'],
  ['metadata', 'safety_identifier'],
  ['system', 'instructions'],
])

/** Replaces `priority` with the provider's name for it. Called once the tier is known to be allowed. */
const renamePriorityTier = ({ body, warnings }: Encoded, { priorityTier }: Quirks): Encoded =>
  body.service_tier === 'priority' ? { body: { ...body, service_tier: priorityTier ?? 'auto' }, warnings } : { body, warnings }

/** Service tier names → names in this dialect. */
const tierWords: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['priority', 'priority'],
  ['fast', 'priority'],
  ['standard_only', 'standard_only'],
  ['default', 'standard_only'],
  ['standard', 'standard_only'],
  ['on_demand', 'standard_only'],
])

function encodePrompt(
  { prompt: requested, schemas = makeSchemaFitter() }: InferenceRequest,
  offer: Offer,
  quirks: Quirks,
): Required<Omit<EncodedRequest, 'headers'>> {
  const input = withUniqueCallIds(requested.input)
  const unique = input === requested.input ? requested : { ...requested, input }
  const { prompt, warnings: cacheWarnings } = fitCachePoints(unique, { dialect, sendsEnd: requested.native?.dialect === dialect })
  const context = createEncodeContext(prompt, quirks, schemas)
  context.warnings.push(...cacheWarnings)
  const { thinking, effort, max_tokens, warnings } = encodeThinking(prompt, offer, quirks)
  context.warnings.push(...warnings)
  const canForceCall = !quirks.noForcedTools && thinking?.type !== 'enabled'
  const format = encodeFormat(prompt, canForceCall, context)
  const tools = encodeTools(prompt, { format, canForceCall }, context)
  const conversation = encodeConversation(prompt, format.instruction, context)
  const sampling = encodeSampling(prompt, thinking, quirks)
  const config = outputConfig(prompt, quirks, { effort, format: format.format })
  const stops = visibleStops(prompt)
  const user = prompt.safety_identifier ?? prompt.user
  const tier = tierField(prompt, tierWords, quirks)
  const body: JsonObject = {
    ...(prompt.native?.dialect === dialect && prompt.native.body),
    max_tokens,
    ...conversation,
    ...tools,
    ...(thinking && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...sampling.body,
    ...(stops.body.stop !== undefined && { stop_sequences: stops.body.stop }),
    ...(user !== undefined && { metadata: { user_id: user.length <= maxUserIdLength ? user : shortId(user) } }),
    ...tier.body,
  }
  const toolNames = context.toolNames.changed
  const mapping = { ...(toolNames.size > 0 && { toolNames }), ...(format.answerTool !== undefined && { answerTool: format.answerTool }) }
  const dropped = [...context.warnings, ...droppedReasoning(context.droppedReasoning)]
  return { body, warnings: [...dropped, ...stops.warnings, ...tier.warnings, ...sampling.warnings, ...unsupportedFields(prompt)], mapping }
}

/** The page of the Messages API, 2026-11. */
const maxUserIdLength = 256

const maxTemperature = 1
/** A lower `top_p` is rejected while the model thinks. */
const minTopPWhileThinking = 0.95

/** Encodes `temperature`, `top_p` and `top_k` as far as the model accepts them. Thinking models reject most of them. */
function encodeSampling(prompt: Prompt, thinking: JsonObject | undefined, quirks: Quirks): Encoded {
  const { temperature, top_p, top_k } = prompt
  const requested: JsonObject = {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
  }
  const { body, warnings } = dropRefused({ body: requested, warnings: [] }, { refuses: refusedSampling(prompt, thinking, quirks) })
  if (typeof body.temperature !== 'number' || body.temperature <= maxTemperature) return { body, warnings }
  const clamped = unsupported('temperature', `The maximum \`temperature\` of this model is ${maxTemperature}; it was lowered to that.`)
  return { body: { ...body, temperature: maxTemperature }, warnings: [...warnings, clamped] }
}

const samplingFields = ['temperature', 'top_p', 'top_k'] as const

function refusedSampling({ temperature, top_p = 0 }: Prompt, thinking: JsonObject | undefined, quirks: Quirks): readonly string[] {
  const { sampling = 'any', thinksUnasked = true } = quirks
  const isThinking = thinking !== undefined && thinking.type !== 'disabled'
  const mayThink = isThinking || (thinking === undefined && thinksUnasked)
  if (sampling === 'none' || (sampling === 'unless_thinking' && mayThink)) return samplingFields
  if (isThinking) return top_p >= minTopPWhileThinking ? ['temperature', 'top_k'] : samplingFields
  return sampling === 'one' && temperature !== undefined ? ['top_p'] : []
}

/** Encodes `output_config`: effort and format, plus the client's own fields. */
function outputConfig(
  { text, reasoning, native }: Prompt,
  quirks: Quirks,
  { effort, format }: { readonly effort: Json | undefined; readonly format: JsonObject | undefined },
): JsonObject {
  const unread = native?.dialect === dialect ? native.body.output_config : undefined
  const original = reasoning && originalBody(reasoning)?.output_config
  const known = { ...(isObject(unread) && unread), ...(isObject(original) && original), ...(text && originalBody(text)) }
  const { effort: originalEffort, format: _, ...rest } = known
  const level = effort ?? (isObject(original) && isEffortCompatible(original, quirks) ? originalEffort : undefined)
  return { ...rest, ...(level !== undefined && { effort: level }), ...(format && { format }) }
}

/** Optional extra data. Omitting it changes nothing, so there is no warning. */
const ignoredIncludes: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

const omitted = (param: string): Warning => unsupported(param, `\`${param}\` is not supported by this provider and was left out.`)

/**
 * Warnings for the fields that this dialect cannot express. None for `metadata`, which only the gateway echoes, `max_tool_calls`, which
 * limits only hosted tools, and values without effect.
 */
function unsupportedFields(prompt: Prompt): readonly Warning[] {
  const { truncation, include = [], text, top_logprobs = 0, frequency_penalty = 0, presence_penalty = 0, native, user } = prompt
  const foreign = native && native.dialect !== dialect ? Object.keys(native.body) : []
  const isSet = {
    truncation: truncation !== undefined && truncation !== 'disabled',
    'text.verbosity': text?.verbosity !== undefined,
    top_logprobs: top_logprobs > 0,
    frequency_penalty: frequency_penalty !== 0,
    presence_penalty: presence_penalty !== 0,
    seed: prompt.seed !== undefined,
    prompt_cache_key: prompt.prompt_cache_key !== undefined,
    user: user !== undefined && prompt.safety_identifier !== undefined && prompt.safety_identifier !== user,
  }
  return [
    ...Object.entries(isSet).flatMap(([param, value]) => (value ? [omitted(param)] : [])),
    ...include.flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [omitted(`include[${at}]`)])),
    ...foreign.map(omitted),
  ]
}
