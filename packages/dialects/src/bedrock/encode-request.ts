import { BodyDraft } from '../common/body-draft.ts'
import { withoutOutputCaps } from '../common/gateway-fields.ts'
import { withUserTurns } from '../common/opening-turn.ts'
import { isCitable, itemParts, lostCitations } from '../common/part-warnings.ts'
import { applyServiceTier, commonTiers, setServiceTier } from '../common/service-tier.ts'
import { visibleStops } from '../common/stop-sequences.ts'
import { fittedToolNames } from '../common/tool-names.ts'
import type { EncodedRequest, ResponseMapping } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { acceptedCachePoints, hasEndCachePoint, withEndCachePoint } from './cache-points.ts'
import { BedrockDraft } from './draft.ts'
import { encodeThinking, type ThinkingLimits } from './encode-thinking.ts'
import { encodeFormat, encodeTools } from './encode-tools.ts'
import { fields } from './fidelity.ts'
import { Conversation } from './items.ts'
import { maxNameLength } from './tool-names.ts'

/**
 * Encodes a request. Model and delivery are not in the body because they are part of the URL. There is no warning for `metadata`, which only
 * the gateway echoes, or `max_tool_calls`, which limits only hosted tools.
 */
export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt, headers } = request
  const draft = new BedrockDraft(quirks, request.schemas)
  const { warnings, mapping, limits } = encodePrompt(prompt, offer, draft)
  encodeSettings(request, offer, limits, draft)
  const requestedBetas = quirks.anthropicFields && headers?.dialect === 'messages' ? headers.values['anthropic-beta'] : undefined
  const anthropic_beta = requestedBetas
    ?.split(',')
    .map(beta => beta.trim())
    .filter(beta => betas.has(beta))
  if (anthropic_beta?.length) draft.model.set('anthropic_beta', anthropic_beta)
  draft.omitIncludes(prompt)
  for (const field of Object.keys(prompt.native?.body ?? {}))
    if (field !== 'cache_control' || !hasEndCachePoint(prompt, quirks)) draft.omit(field)
  extend(prompt.extensions, draft)
  return {
    body: draft.body,
    warnings: [...warnings, ...draft.warnings],
    headers: request.delivery === 'stream' ? { accept: 'application/vnd.amazon.eventstream' } : undefined,
    mapping,
  }
}

/** Encodes a request for the provider's token counter. */
export function encodeCounting({ prompt, schemas }: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const draft = new BedrockDraft(quirks, schemas)
  const { warnings } = encodePrompt(prompt, offer, draft)
  const { messages, system, toolConfig } = draft.body
  return { body: { input: { converse: { messages, system, toolConfig } } }, warnings: [...warnings, ...draft.warnings] }
}

/** Anthropic betas that models on Bedrock accept. An unknown one fails the request, so all others are left out. */
const betas: ReadonlySet<string> = new Set(['interleaved-thinking-2025-05-14', 'fine-grained-tool-streaming-2025-05-14'])

interface EncodedPrompt {
  /** Warnings about the conversation, which come before all others. */
  readonly warnings: readonly Warning[]
  readonly mapping: ResponseMapping | undefined
  readonly limits: ThinkingLimits
}

/** Encodes conversation, tools, thinking and response format. */
function encodePrompt(requested: Prompt, offer: Offer, draft: BedrockDraft): EncodedPrompt {
  const { quirks } = draft
  const { prompt, warnings: cacheWarnings } = acceptedCachePoints(requested, quirks)
  draft.toolNames = fittedToolNames(prompt, maxNameLength)
  const conversation = new Conversation(prompt.input, quirks, draft.toolNames)
  const limits = encodeThinking(prompt, offer, conversation.lacksThinkingBeforeCalls, draft)
  const canForceCall = quirks.noForcedTools !== true && limits.restricts !== 'sampling-and-tools'
  const { instruction, answerTool } = encodeFormat(prompt, canForceCall, draft)
  const texts = [instruction, encodeTools(prompt, conversation, { canForceCall, answerTool }, draft)]
  const system = [
    ...(prompt.instructions?.trim() ? [{ text: prompt.instructions }] : []),
    ...conversation.system,
    ...texts.flatMap(text => (text === undefined ? [] : { text })),
  ]
  if (!quirks.anthropicFields) conversation.draft.warnings.push(...lostCitations(prompt.input))
  // Without any message, the system prompt is sent as the user's message, because a request needs one.
  const isSystemOfUser = system.length > 0 && (quirks.noSystem === true || conversation.messages.length === 0)
  const turns = isSystemOfUser ? prependSystem(conversation.messages, system) : conversation.messages
  const messages = withUserTurns(turns, conversation.draft, {
    role: 'assistant',
    userTurn: text => ({ role: 'user', content: [{ text }] }),
  })
  draft.set('messages', withEndCachePoint(messages, prompt, quirks))
  if (system.length > 0 && !isSystemOfUser) draft.set('system', system)
  const { changed } = draft.toolNames
  const citesDocuments = quirks.anthropicFields === true && prompt.input.some(item => itemParts(item).some(isCitable))
  const isMapped = changed.size > 0 || answerTool !== undefined || citesDocuments
  return {
    warnings: [...conversation.draft.warnings, ...cacheWarnings],
    mapping: isMapped
      ? { toolNames: changed.size > 0 ? changed : undefined, answerTool: answerTool?.name, citesDocuments: citesDocuments || undefined }
      : undefined,
    limits,
  }
}

/** Puts the system prompt before the first text of the user. */
function prependSystem(messages: readonly JsonObject[], system: readonly JsonObject[]): readonly JsonObject[] {
  const [first, ...rest] = messages
  if (first?.role !== 'user' || !Array.isArray(first.content)) return [{ role: 'user', content: system }, ...messages]
  return [{ role: 'user', content: [...system, ...first.content] }, ...rest]
}

/** Encodes `inferenceConfig`, the service tier and `top_k`. */
function encodeSettings({ prompt, routing }: InferenceRequest, offer: Offer, limits: ThinkingLimits, draft: BedrockDraft): void {
  const { quirks, schemas, warnings } = draft
  const { max_output_tokens: cap, temperature, top_p, top_k, stop = [], text } = prompt
  const { maxOutputTokens: longest = Number.POSITIVE_INFINITY } = offer
  // Under the names of the prompt, which warnings and `refuses` use.
  const settings = new BodyDraft(quirks, schemas, warnings)
  settings.assign({ max_output_tokens: limits.maxTokens ?? (cap && Math.min(cap, longest)), temperature, top_p, top_k })
  if (cap !== undefined && cap > longest)
    draft.warn('max_output_tokens', `This model is limited to ${longest} output tokens; \`max_output_tokens\` was lowered to that.`)
  if (quirks.anthropicFields) settings.set('stop', visibleStops(prompt, draft))
  else if (stop.length > 0) settings.set('stop', stop)
  setServiceTier(settings, prompt, commonTiers)
  applyServiceTier(settings, routing, offer.price)
  draft.omitUnsent(prompt, fields)
  if (text?.verbosity !== undefined && text.verbosity !== 'medium') draft.omit('text.verbosity')
  settings.refuse()
  settings.refuse(refusedSampling(settings, limits, draft))
  settings.clamp(
    'temperature',
    { max: 1 },
    (sent, used) => `A \`temperature\` of ${sent} is out of range for this model; ${used} was used.`,
  )
  draft.setObject('inferenceConfig', {
    maxTokens: settings.get('max_output_tokens'),
    temperature: settings.get('temperature'),
    topP: settings.get('top_p'),
    stopSequences: settings.get('stop'),
  })
  draft.model.set('top_k', settings.get('top_k'))
  const tier = settings.get('service_tier')
  if (tier !== undefined && tier !== 'default') draft.set('serviceTier', { type: tier })
}

const samplingFields = ['temperature', 'top_p', 'top_k'] as const
/** Anthropic models reject a lower `top_p` while thinking. */
const minTopPWhileThinking = 0.95

/** The sampling settings that the dialect or model rejects. */
function refusedSampling(settings: BodyDraft, { restricts }: ThinkingLimits, { quirks, model }: BedrockDraft): readonly string[] {
  const { sampling = 'any', thinksUnasked = true, anthropicFields } = quirks
  const mayThink = restricts === 'sampling-and-tools' || (model.get('thinking') === undefined && thinksUnasked)
  if (sampling === 'none' || restricts === 'sampling' || (sampling === 'unless_thinking' && mayThink)) return samplingFields
  if (restricts === 'sampling-and-tools') {
    const top_p = settings.get('top_p')
    return typeof top_p === 'number' && top_p >= minTopPWhileThinking ? ['temperature', 'top_k'] : samplingFields
  }
  const exclusive = sampling === 'one' && settings.get('temperature') !== undefined ? ['top_p'] : []
  return anthropicFields ? exclusive : [...exclusive, 'top_k']
}

/** Fields that no extension may set, in addition to the general ones: they change the length of the response or its latency class. */
const heldFields: ReadonlySet<string> = new Set(['inferenceConfig', 'performanceConfig'])

/**
 * Merges provider-specific parameters. Models on Bedrock read the output cap under their own names, in objects of their own
 * (`inferenceConfig.maxTokens` of Amazon Nova, `textGenerationConfig.maxTokenCount` of Amazon Titan), so no name of it is sent at any level.
 */
function extend(extensions: JsonObject | undefined, draft: BedrockDraft): void {
  const caps: string[] = []
  const { additionalModelRequestFields, ...others } = Object.fromEntries(
    Object.entries(extensions ?? {}).map(([field, value]) => [
      field,
      // The outer names of these are reported below.
      isObject(value) || Array.isArray(value) ? withoutOutputCaps(value, field, caps) : value,
    ]),
  )
  const held = Object.keys(others).filter(field => heldFields.has(field))
  for (const field of [...caps, ...held]) draft.refuseExtension(field)
  draft.extend(Object.fromEntries(Object.entries(others).filter(([field]) => !heldFields.has(field))))
  if (isObject(additionalModelRequestFields)) draft.model.extend(additionalModelRequestFields, 'extensions.additionalModelRequestFields')
}
