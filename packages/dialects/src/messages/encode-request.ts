import { BodyDraft } from '../common/body-draft.ts'
import { fitCachePoints } from '../common/cache-points.ts'
import { droppedReasoning } from '../common/dropped-reasoning.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { shortId } from '../common/ids.ts'
import { objects } from '../common/json.ts'
import { applyServiceTier, setServiceTier, surchargedFields } from '../common/service-tier.ts'
import { visibleStops } from '../common/stop-sequences.ts'
import { fittedToolNames } from '../common/tool-names.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { EncodedRequest, ResponseMapping } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { isCompatible, isEffortCompatible } from './compatibility.ts'
import { withoutInventedCitations } from './decode-parts.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeFormat, encodeTools } from './encode-tools.ts'
import { fields } from './fidelity.ts'
import { billingHeader, encodeHeaders, splitBillingHeader, withBillingHeader } from './headers.ts'
import { encodeConversation } from './items.ts'
import { isSafeId, maxToolName, safeId } from './tool-names.ts'
import { dialect, originalBody } from './wire.ts'

export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const original = originalOf(request)
  const isOwn = original?.dialect === dialect && isCompatible(original.body, offer, quirks)
  const draft = new BodyDraft(quirks, request.schemas)
  const mapping = isOwn ? passThrough(original.body, draft) : encodePrompt(request.prompt, offer, draft)
  draft.dropGatewayFields(ownFields)
  draft.addFixedFields()
  encodeBilling(request, draft)
  draft.set('model', offer.model)
  draft.set('stream', request.delivery === 'stream')
  applyServiceTier(draft, request.routing, offer.price)
  // The provider's name of the tier, once the tier is known to be allowed.
  if (draft.get('service_tier') === 'priority') draft.set('service_tier', quirks.priorityTier ?? 'auto')
  draft.refuse(quirks.refuses, promptNames)
  draft.extend(request.prompt.extensions)
  return { body: inStableOrder(draft.body), warnings: draft.warnings, headers: encodeHeaders(request), mapping }
}

/** Fields that make up the prompt. */
const countedFields = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'] as const

/** Encodes a request for the provider's token counter. */
export function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, ...encoded } = encodeRequest(request, offer, quirks)
  return { ...encoded, body: Object.fromEntries(countedFields.flatMap(field => (body[field] === undefined ? [] : [[field, body[field]]]))) }
}

/** Sets the client's body as a provider of this dialect accepts it: without gateway fields, and with cleaned messages. */
function passThrough({ gateway, extensions, ...body }: JsonObject, draft: BodyDraft): undefined {
  draft.assign(body)
  if (!Array.isArray(body.messages)) return
  const messages: readonly Json[] = body.messages
  const ids = messages.flatMap(message => (isObject(message) ? objects(message.content).flatMap(callIdIn) : []))
  const callIds = fittedNames(ids, safeId)
  draft.set(
    'messages',
    messages.flatMap(message => cleanMessage(message, callIds)),
  )
}

/** Removes remnants of other providers' responses: citations without proof, unsigned thinking, invalid call ids. */
function cleanMessage(message: Json, callIds: FittedNames): readonly Json[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message]
  const blocks = objects(message.content)
  const genuine =
    message.role === 'assistant'
      ? blocks.filter(({ type, signature }) => type !== 'thinking' || Boolean(signature)).map(withoutInventedCitations)
      : blocks
  const clean = genuine.map(block => {
    const [id] = callIdIn(block)
    return id === undefined || isSafeId(id) ? block : { ...block, [idFields.get(block.type) ?? '']: callIds.sent(id) }
  })
  if (clean.length === blocks.length && clean.every((block, index) => block === blocks[index])) return [message]
  return clean.length === 0 ? [] : [{ ...message, content: clean }]
}

const idFields: ReadonlyMap<Json | undefined, string> = new Map([
  ['tool_use', 'id'],
  ['tool_result', 'tool_use_id'],
])

const callIdIn = (block: JsonObject): readonly string[] => {
  const field = idFields.get(block.type)
  const id = field === undefined ? undefined : block[field]
  return typeof id === 'string' ? [id] : []
}

/** Sorts the fields by name, so that a body that is passed through and one that is rebuilt begin alike, which prompt caches require. */
function inStableOrder(body: JsonObject): JsonObject {
  const sorted = new Map(Object.entries(body))
  return Object.fromEntries([...sorted.keys()].sort().map(name => [name, sorted.get(name)]))
}

/** Puts the billing header of Claude Code before `system`, or removes it. */
function encodeBilling({ headers }: InferenceRequest, draft: BodyDraft): void {
  const header = headers?.values[billingHeader]
  if (header === undefined) return
  const { header: own, system } = splitBillingHeader(draft.get('system'))
  if (draft.quirks.billingHeader) {
    if (own === undefined) draft.set('system', withBillingHeader(system, header))
  } else {
    draft.delete('system')
    draft.set('system', system)
  }
}

/** Gateway-controlled fields that exist in this dialect. */
const ownFields: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'messages', 'system', 'tools', 'max_tokens', 'service_tier'],
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

/** The page of the Messages API, 2026-11. */
const maxUserIdLength = 256

/**
 * Encodes a prompt. There is no warning for `metadata`, which only the gateway echoes, `max_tool_calls`, which limits only hosted tools, and
 * values without effect.
 */
function encodePrompt(requested: Prompt, offer: Offer, draft: BodyDraft): ResponseMapping | undefined {
  const input = withUniqueCallIds(requested.input)
  const unique = input === requested.input ? requested : { ...requested, input }
  const isNative = requested.native?.dialect === dialect
  const { prompt, warnings } = fitCachePoints(unique, { dialect, sendsEnd: isNative })
  draft.warnings.push(...warnings)
  if (isNative) draft.assign(requested.native?.body)
  const { thinking, effort, max_tokens } = encodeThinking(prompt, offer, draft)
  draft.set('max_tokens', max_tokens)
  draft.set('thinking', thinking)
  draft.toolNames = fittedToolNames(prompt, maxToolName)
  const canForceCall = !draft.quirks.noForcedTools && thinking?.type !== 'enabled'
  const format = encodeFormat(prompt, canForceCall, draft)
  encodeTools(prompt, format, canForceCall, draft)
  draft.warnings.push(...droppedReasoning(encodeConversation(prompt, format.instruction, draft)))
  draft.setObject('output_config', outputConfig(prompt, draft, effort, format.format))
  draft.set('stop_sequences', visibleStops(prompt, draft))
  setServiceTier(draft, prompt, tierWords)
  encodeSampling(prompt, thinking, draft)
  const user = prompt.safety_identifier ?? prompt.user
  if (user !== undefined) draft.set('metadata', { user_id: user.length <= maxUserIdLength ? user : shortId(user) })
  draft.omitUnsent(prompt, fields)
  if (prompt.user !== undefined && prompt.user !== user) draft.omit('user')
  draft.omitIncludes(prompt)
  draft.omitForeign(prompt, dialect)
  const { changed } = draft.toolNames
  const { answerTool } = format
  return changed.size > 0 || answerTool !== undefined ? { toolNames: changed.size > 0 ? changed : undefined, answerTool } : undefined
}

/** A lower `top_p` is rejected while the model thinks. */
const minTopPWhileThinking = 0.95

/** Encodes `temperature`, `top_p` and `top_k` as far as the model accepts them. Thinking models reject most of them. */
function encodeSampling({ temperature, top_p, top_k }: Prompt, thinking: JsonObject | undefined, draft: BodyDraft): void {
  draft.assign({ temperature, top_p, top_k })
  const { sampling = 'any', thinksUnasked = true } = draft.quirks
  const isThinking = thinking !== undefined && thinking.type !== 'disabled'
  const mayThink = isThinking || (thinking === undefined && thinksUnasked)
  const isNoneAccepted = sampling === 'none' || (sampling === 'unless_thinking' && mayThink)
  if (isNoneAccepted || (isThinking && (top_p ?? 0) < minTopPWhileThinking)) draft.refuse(['temperature', 'top_p', 'top_k'])
  else if (isThinking) draft.refuse(['temperature', 'top_k'])
  else if (sampling === 'one' && temperature !== undefined) draft.refuse(['top_p'])
  draft.clamp('temperature', { max: 1 }, (_, max) => `The maximum \`temperature\` of this model is ${max}; it was lowered to that.`)
}

/** Encodes `output_config`: effort and format, plus the client's own fields. */
function outputConfig(
  { text, reasoning }: Prompt,
  draft: BodyDraft,
  effort: string | undefined,
  format: JsonObject | undefined,
): JsonObject {
  const unread = draft.get('output_config')
  const original = reasoning && originalBody(reasoning)?.output_config
  const config = isObject(original) ? original : undefined
  const known = { ...(isObject(unread) ? unread : undefined), ...config, ...(text && originalBody(text)) }
  return { ...known, effort: effort ?? (isEffortCompatible(config, draft.quirks) ? config?.effort : undefined), format }
}
