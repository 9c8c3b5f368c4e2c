import { BodyDraft } from '../common/body-draft.ts'
import { fitCachePoints } from '../common/cache-points.ts'
import { isGatewayField } from '../common/gateway-fields.ts'
import { shortId } from '../common/ids.ts'
import { combinedWarning, failedToolPaths, lostCitations } from '../common/part-warnings.ts'
import { dropSampling, logprobsInclude, wantsLogprobs } from '../common/sampling.ts'
import { applyServiceTier, isStandardTier, openaiTiers, setServiceTier } from '../common/service-tier.ts'
import { splitNativeFields } from '../common/shared-fields.ts'
import { type ToolRenames, withPlainNames } from '../common/tool-names.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { Effort, InferenceRequest, Prompt, TextFormat } from '../protocol/request.ts'
import { innerDialect, isObject } from '../protocol/wire.ts'
import { reasoningRulesOf } from './encode-reasoning.ts'
import { encodeTools } from './encode-tools.ts'
import { fields } from './fidelity.ts'
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
  const draft = new BodyDraft(quirks, request.schemas)
  encodePrompt(prompt, offer, draft)
  draft.addFixedFields()
  draft.set('model', offer.model)
  draft.set('stream', request.delivery === 'stream')
  if (request.delivery === 'stream' && !quirks.noStreamOptions) draft.set('stream_options', { include_usage: true })
  draft.warnings.push(...fitted.warnings)
  encodeTier(request, draft)
  applyServiceTier(draft, request.routing, offer.price)
  dropSampling(draft, prompt)
  draft.refuse(quirks.refuses, warningNames)
  draft.extend(prompt.extensions)
  return { body: draft.body, warnings: draft.warnings, mapping: toolNames && { toolNames } }
}

/** OpenAI's breakpoints: any number, on parts of what is not the assistant's (openai-openapi, 2026-08-21). */
const breakpoints = { places: ['system', 'user'], max: Number.POSITIVE_INFINITY } as const

/** Hosts have their own tier names, so the tier of a client of this dialect is sent unchanged, unless it names the standard tier. */
function encodeTier(request: InferenceRequest, draft: BodyDraft): void {
  const { service_tier } = request.prompt
  const standard = isStandardTier(service_tier) ? draft.quirks.standardTier : undefined
  if (standard !== undefined || originalBody(request) !== undefined) draft.set('service_tier', standard ?? service_tier)
  else setServiceTier(draft, request.prompt, openaiTiers)
}

/** Calls are part of a message and are rewritten within it. */
const naming: ToolRenames = {
  dialect,
  maxLength: 64,
  tool(body, name) {
    const renamed = isObject(body.function) ? { ...body, function: { ...body.function, name } } : body
    return isObject(body.custom) ? { ...renamed, custom: { ...body.custom, name } } : renamed
  },
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

/**
 * Encodes a prompt. There is no warning for `metadata`, which the gateway echoes, `max_tool_calls`, which limits only hosted tools,
 * `reasoning.budget_tokens`, which the effort replaces, and the default truncation.
 */
function encodePrompt(prompt: Prompt, offer: Offer, draft: BodyDraft): void {
  const { quirks } = draft
  const { input, instructions, text, native, reasoning, top_logprobs, safety_identifier } = prompt
  const { shared, lost } = splitNativeFields(native, { own: dialect, sibling: innerDialect, quirks })
  for (const [field, value] of shared) if (!isGatewayField(field)) draft.set(field, value)
  const instruction = instructionFor(text?.format, quirks)
  const leading = [instructions, instruction].filter(text => text !== undefined)
  encodeMessages(input, leading, reasoningRulesOf(offer.model, quirks), draft)
  encodeTools(prompt, draft)
  encodeFormat(text?.format, instruction !== undefined, draft)
  if (quirks.effortWithoutTools && draft.get('tools') && reasoning?.effort && reasoning.effort !== 'none') {
    draft.set('reasoning_effort', 'none')
    draft.warn('reasoning.effort', 'This model does not support tools together with `reasoning.effort`; the effort was set to "none".')
  } else encodeEffort(reasoning?.effort, draft)
  const { temperature, top_p, top_k, frequency_penalty, presence_penalty, user, prompt_cache_key, stop, seed, max_output_tokens } = prompt
  draft.assign({ temperature, top_p, top_k, frequency_penalty, presence_penalty, user, prompt_cache_key, stop })
  draft.set('safety_identifier', safety_identifier && shortId(safety_identifier))
  draft.set(quirks.seedField ?? 'seed', seed)
  draft.set(quirks.maxTokensField ?? 'max_completion_tokens', max_output_tokens)
  draft.set('verbosity', text?.verbosity)
  if (wantsLogprobs(prompt)) draft.assign({ logprobs: true, top_logprobs: top_logprobs || undefined })
  draft.omitUnsent(prompt, fields)
  draft.omitIncludes(prompt, [logprobsInclude])
  for (const field of [...lost, ...shared.map(([field]) => field).filter(isGatewayField)]) draft.omit(field)
  draft.warnings.push(
    ...lostCitations(input),
    ...combinedWarning(failedToolPaths(input), 'is not supported by this provider; the tool result was sent without it.'),
  )
}

/** Sets the reasoning effort in the fields of a chat host: a named effort, or else the host's own switch. */
export function encodeEffort(effort: Effort | undefined, draft: BodyDraft): void {
  if (effort === undefined) return
  const { efforts, thinking, thinkingOff, thinkingSwitch } = draft.quirks
  const toggle = thinking?.includes('toggle') === false ? undefined : thinkingSwitch
  if (toggle && effort === 'none' && thinkingOff !== 'never' && !efforts?.includes('none')) draft.assign(toggle.off)
  else if (toggle && thinking?.includes('level') === false) {
    draft.assign(toggle.on)
    draft.warn(
      'reasoning.effort',
      effort === 'none'
        ? 'This model cannot turn thinking off; it was left on.'
        : `Reasoning effort "${effort}" is not supported by this model; thinking was turned on.`,
    )
  } else draft.set('reasoning_effort', draft.nearestEffort(effort, efforts))
}

/** Text for the model where the host cannot enforce a schema. Such hosts cannot force a tool either. */
function instructionFor(format: TextFormat | undefined, { jsonSchema, noJsonSchema = false }: Quirks): string | undefined {
  // There are two quirks because `json_schema` was added later.
  const isEnforced = jsonSchema === undefined ? !noJsonSchema : jsonSchema === 'native'
  if (format?.type !== 'json_schema' || isEnforced) return undefined
  return `Answer with one JSON object that fits this JSON schema (${format.name}), and with nothing else:\n${JSON.stringify(format.schema)}`
}

/** Sets `response_format`. `isInPrompt`: whether the schema is part of the prompt instead. */
function encodeFormat(format: TextFormat | undefined, isInPrompt: boolean, draft: BodyDraft): void {
  if (!format || format.type === 'text') return
  if (isInPrompt) draft.warn('text.format', 'This provider cannot enforce a schema; it was added to the prompt instead.')
  if (format.type === 'json_object' || isInPrompt) {
    draft.set('response_format', { type: 'json_object' })
    return
  }
  const { name, schema, strict, description } = format
  const json_schema = { name, schema, strict: strict ?? undefined, description }
  draft.set('response_format', originalBody(format) ?? { type: 'json_schema', json_schema })
}
