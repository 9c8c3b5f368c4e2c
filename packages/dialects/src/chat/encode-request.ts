import { dropRefused, type Encoded, extend, isGatewayField, unsupported } from '../common/apply-quirks.ts'
import { fitCachePoints } from '../common/cache-points.ts'
import { applyServiceTier, dropSampling, tierField } from '../common/encoded.ts'
import { shortId } from '../common/ids.ts'
import { combinedWarning, failedToolPaths, lostCitations } from '../common/part-warnings.ts'
import { logprobsInclude, wantsLogprobs } from '../common/sampling.ts'
import { isStandardTier, openaiTiers } from '../common/service-tier.ts'
import { splitNativeFields } from '../common/shared-fields.ts'
import { type ToolRenames, withPlainNames } from '../common/tool-names.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { innerDialect, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { reasoningRulesOf } from './encode-reasoning.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeFormat, encodeTools } from './encode-tools.ts'
import { encodeMessages } from './items.ts'
import { dialect, originalBody } from './wire.ts'

/**
 * Encodes a request. The body is always rebuilt from the prompt, since hosts of this dialect differ in more than unknown fields. Pieces
 * that the client sent in this dialect are kept unchanged: messages, parts, calls, tools, and unknown fields.
 */
export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const fitted = fitCachePoints(request.prompt, {
    dialect,
    sendsEnd: request.prompt.native?.dialect === dialect,
    ...(quirks.cacheBreakpoints ? breakpoints : { places: quirks.cacheMarks ?? [], isTextOnly: true }),
  })
  const { prompt, toolNames } = withPlainNames(fitted.prompt, naming)
  const encoded = encodePrompt(prompt, quirks, offer)
  const stream = request.delivery === 'stream'
  const body = {
    ...quirks.fixedFields,
    ...encoded.body,
    model: offer.model,
    stream,
    ...(stream && !quirks.noStreamOptions && { stream_options: { include_usage: true } }),
  }
  const tier = encodeTier(request, quirks)
  const named = { body: { ...body, ...tier.body }, warnings: [...encoded.warnings, ...fitted.warnings, ...tier.warnings] }
  const tiered = applyServiceTier(named, request.routing, { price: offer.price, quirks })
  const sampled = dropSampling(tiered, prompt, quirks)
  const extended = extend(dropRefused(sampled, quirks, warningNames), prompt.extensions)
  return toolNames ? { ...extended, mapping: { toolNames } } : extended
}

/** OpenAI's breakpoints: any number, on parts of what is not the assistant's (openai-openapi, 2026-08-21). */
const breakpoints = { places: ['system', 'user'], max: Number.POSITIVE_INFINITY } as const

/** Hosts have their own tier names, so the tier of a client of this dialect is sent unchanged, unless it names the standard tier. */
function encodeTier(request: InferenceRequest, quirks: Quirks): Encoded {
  const { service_tier } = request.prompt
  const standard = isStandardTier(service_tier) ? quirks.standardTier : undefined
  if (standard !== undefined) return { body: { service_tier: standard }, warnings: [] }
  const isOwn = originalBody(request) !== undefined && service_tier !== undefined
  return isOwn ? { body: { service_tier }, warnings: [] } : tierField(request.prompt, openaiTiers, quirks)
}

/** Calls are part of a message and are rewritten within it. */
const naming: ToolRenames = {
  dialect,
  maxLength: 64,
  tool: (body, name) => ({
    ...body,
    ...(isObject(body.function) && { function: { ...body.function, name } }),
    ...(isObject(body.custom) && { custom: { ...body.custom, name } }),
  }),
  call: body => body,
}

/** Fields of this dialect → their names in warnings. */
const warningNames: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  ['logprobs', 'top_logprobs'],
])

/** Fields with the same name and meaning on both sides. */
const sameFields = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'stop',
] as const satisfies readonly (keyof Prompt)[]

function encodePrompt(prompt: Prompt, quirks: Quirks, offer: Offer): Encoded {
  const { input, instructions, text, max_output_tokens, native } = prompt
  const format = encodeFormat(text?.format, quirks)
  const leading = [instructions, format.instruction].filter(text => text !== undefined)
  const { messages, warnings } = encodeMessages(input, leading, { quirks, rules: reasoningRulesOf(offer.model, quirks) })
  const tools = encodeTools(prompt, quirks)
  const thinking = encodeThinking(prompt, tools.fields, quirks)
  const shared = native && native.dialect !== dialect ? splitNativeFields(native, innerDialect, quirks).shared : []
  const unknown = native?.dialect === dialect ? native.body : Object.fromEntries(shared)
  const body: Record<string, Json | undefined> = {
    ...Object.fromEntries(Object.entries(unknown).filter(([field]) => !isGatewayField(field))),
    messages,
    ...tools.fields,
    ...format.fields,
    ...thinking.fields,
  }
  for (const field of sameFields) if (prompt[field] !== undefined) body[field] = prompt[field]
  if (prompt.safety_identifier !== undefined) body.safety_identifier = shortId(prompt.safety_identifier)
  if (prompt.seed !== undefined) body[quirks.seedField ?? 'seed'] = prompt.seed
  if (max_output_tokens !== undefined) body[quirks.maxTokensField ?? 'max_completion_tokens'] = max_output_tokens
  if (text?.verbosity !== undefined) body.verbosity = text.verbosity
  Object.assign(body, encodeLogprobs(prompt))
  return {
    body,
    warnings: [...warnings, ...tools.warnings, ...format.warnings, ...thinking.warnings, ...unsupportedFields(prompt, quirks)],
  }
}

const encodeLogprobs = (prompt: Prompt): JsonObject => {
  const { top_logprobs = 0 } = prompt
  return wantsLogprobs(prompt) ? { logprobs: true, ...(top_logprobs > 0 && { top_logprobs }) } : {}
}

/** Extra data that clients request by default. Omitting it loses nothing. */
const ignoredIncludes: ReadonlySet<string> = new Set([logprobsInclude, 'reasoning.encrypted_content'])

/**
 * Warnings for the fields that this dialect cannot express. None for `metadata`, which the gateway echoes, `max_tool_calls`, which limits
 * only hosted tools, `reasoning.budget_tokens`, which the effort replaces, and the default truncation.
 */
function unsupportedFields(prompt: Prompt, quirks: Quirks): readonly Warning[] {
  const { truncation, include = [], native } = prompt
  const here = 'is not supported by this provider and was left out.'
  const lost = native && native.dialect !== dialect ? splitNativeFields(native, innerDialect, quirks).lost : []
  const foreign = native?.dialect === dialect ? Object.keys(native.body).filter(isGatewayField) : lost
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [unsupported('truncation', `\`truncation\` ${here}`)] : []),
    ...include.flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [unsupported(`include[${at}]`, `\`include[${at}]\` ${here}`)])),
    ...foreign.map(field => unsupported(field, `\`${field}\` ${here}`)),
    ...lostCitations(prompt.input),
    ...combinedWarning(failedToolPaths(prompt.input), 'is not supported by this provider; the tool result was sent without it.'),
  ]
}
