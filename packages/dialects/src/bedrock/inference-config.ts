import { dropRefused, type Encoded, unsupported } from '../common/apply-quirks.ts'
import { applyServiceTier, commonTiers, tierField } from '../common/service-tier.ts'
import { visibleStops } from '../common/stop-sequences.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import type { EncodedThinking } from './encode-thinking.ts'

// Encodes `inferenceConfig`, the service tier and `top_k`.

export interface EncodedSettings {
  readonly inferenceConfig: JsonObject
  readonly tier: Json | undefined
  /** Fields for `additionalModelRequestFields`. */
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** Internal name and wire name of each setting. Warnings use the internal name. */
const promptSettings = [
  ['max_output_tokens', 'maxTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['stop', 'stopSequences'],
] as const satisfies readonly (readonly [keyof Prompt, string])[]

/** Fields that this dialect cannot express. */
const unsupportedSettings = [
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
  'seed',
  'truncation',
  'user',
  'safety_identifier',
  'prompt_cache_key',
] as const satisfies readonly (keyof Prompt)[]

const readFields = [...promptSettings.map(([name]) => name), 'top_k', ...unsupportedSettings] as const
const promptNames: ReadonlyMap<string, string> = new Map([['verbosity', 'text.verbosity']])

export function encodeSettings(
  { prompt, routing }: InferenceRequest,
  offer: Offer,
  { quirks, thinking }: { readonly quirks: Quirks; readonly thinking: EncodedThinking },
): EncodedSettings {
  const requested: Record<string, Json | undefined> = {}
  for (const field of readFields) if (prompt[field] !== undefined) requested[field] = prompt[field]
  const limit = limitTokens(prompt, offer, thinking)
  if (limit.maxTokens !== undefined) requested.max_output_tokens = limit.maxTokens
  const stops = quirks.anthropicFields ? visibleStops(prompt) : { body: prompt.stop?.length ? { stop: prompt.stop } : {}, warnings: [] }
  if (stops.body.stop === undefined) delete requested.stop
  else requested.stop = stops.body.stop
  if (prompt.text?.verbosity !== undefined) requested.verbosity = prompt.text.verbosity
  const named = tierField(prompt, commonTiers, quirks)
  const requestedBody = { body: { ...requested, ...named.body }, warnings: [...limit.warnings, ...stops.warnings, ...named.warnings] }
  const tiered = applyServiceTier(requestedBody, routing, { price: offer.price, quirks })
  const refuses = [...unsupportedSettings, 'verbosity', ...(quirks.refuses ?? [])]
  const { body, warnings } = fitSampling(dropRefused(tiered, { refuses }, promptNames), quirks, thinking)
  return {
    inferenceConfig: Object.fromEntries(
      promptSettings.flatMap(([field, name]) => (body[field] === undefined ? [] : [[name, body[field]]])),
    ),
    tier: body.service_tier === 'default' ? undefined : body.service_tier,
    fields: body.top_k === undefined ? {} : { top_k: body.top_k },
    warnings,
  }
}

/** Clamps an output limit to that of the model, which rejects higher ones. */
function limitTokens(
  { max_output_tokens: requested }: Prompt,
  { maxOutputTokens: longest = Number.POSITIVE_INFINITY }: Offer,
  thinking: EncodedThinking,
): { readonly maxTokens: number | undefined; readonly warnings: readonly Warning[] } {
  const maxTokens = thinking.maxTokens ?? (requested === undefined ? undefined : Math.min(requested, longest))
  const message = `This model is limited to ${longest} output tokens; \`max_output_tokens\` was lowered to that.`
  return { maxTokens, warnings: requested !== undefined && requested > longest ? [unsupported('max_output_tokens', message)] : [] }
}

const samplingFields = ['temperature', 'top_p', 'top_k'] as const

const maxTemperature = 1
/** Anthropic models reject a lower `top_p` while thinking. */
const minTopPWhileThinking = 0.95

/** Drops `temperature`, `top_p` and `top_k` if the dialect or model rejects them. Uses internal field names. */
const fitSampling = (encoded: Encoded, quirks: Quirks, thinking: EncodedThinking): Encoded =>
  clampTemperature(dropRefused(encoded, { refuses: refusedSampling(encoded, quirks, thinking) }))

function refusedSampling({ body }: Encoded, quirks: Quirks, { restricts, fields }: EncodedThinking): readonly string[] {
  const { sampling = 'any', thinksUnasked = true, anthropicFields } = quirks
  const mayThink = restricts === 'sampling-and-tools' || (fields.thinking === undefined && thinksUnasked)
  if (sampling === 'none' || restricts === 'sampling' || (sampling === 'unless_thinking' && mayThink)) return samplingFields
  if (restricts === 'sampling-and-tools') {
    const isTopPAccepted = typeof body.top_p === 'number' && body.top_p >= minTopPWhileThinking
    return isTopPAccepted ? ['temperature', 'top_k'] : samplingFields
  }
  const exclusive = sampling === 'one' && body.temperature !== undefined ? ['top_p'] : []
  return anthropicFields ? exclusive : [...exclusive, 'top_k']
}

function clampTemperature({ body, warnings }: Encoded): Encoded {
  const { temperature } = body
  if (typeof temperature !== 'number' || temperature <= maxTemperature) return { body, warnings }
  return {
    body: { ...body, temperature: maxTemperature },
    warnings: [
      ...warnings,
      unsupported('temperature', `A \`temperature\` of ${temperature} is out of range for this model; ${maxTemperature} was used.`),
    ],
  }
}
