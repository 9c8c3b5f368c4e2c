import { dropGatewayFields, dropRefused, extend } from '../common/apply-quirks.ts'
import { fitCachePoints } from '../common/cache-points.ts'
import { droppedReasoning } from '../common/dropped-reasoning.ts'
import { makeSchemaFitter } from '../common/fit-schemas.ts'
import { shortId } from '../common/ids.ts'
import { applyServiceTier, surchargedFields, tierField } from '../common/service-tier.ts'
import { visibleStops } from '../common/stop-sequences.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { billingHeader, splitBillingHeader, withBillingHeader } from './billing-header.ts'
import { isCompatible, isEffortCompatible } from './compatibility.ts'
import { createEncodeContext } from './encode-context.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeSampling } from './encode-sampling.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeHeaders } from './headers.ts'
import { encodeConversation } from './items.ts'
import { passThroughBody } from './passthrough.ts'
import { renamePriorityTier, tierWords } from './service-tier.ts'
import { unsupportedFields } from './unsupported-fields.ts'
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

/** Fields that make up the prompt. */
const countedFields = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'] as const

/** Encodes a request for the provider's token counter. */
export function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, ...encoded } = encodeRequest(request, offer, quirks)
  return { ...encoded, body: Object.fromEntries(countedFields.flatMap(field => (body[field] === undefined ? [] : [[field, body[field]]]))) }
}
