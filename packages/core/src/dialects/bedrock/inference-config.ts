import type { Offer, Quirks } from '../../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { Json, JsonObject } from '../../protocol/wire.ts'
import { dropRefused, unsupported } from '../apply-quirks.ts'
import { applyServiceTier } from '../service-tier.ts'
import { fitSampling } from './sampling.ts'
import type { Thinking } from './thinking.ts'

// `inferenceConfig`, the tier, and `top_k`.

export interface Settings {
  readonly inferenceConfig: JsonObject
  readonly tier: Json | undefined
  /** Of the model's own. */
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** Our names, so that what is refused is named as the caller knows it, and theirs. */
const names = [
  ['max_output_tokens', 'maxTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['stop', 'stopSequences'],
] as const satisfies readonly (readonly [keyof Prompt, string])[]

/** Nothing here says these. */
const wordless = [
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
  'seed',
  'truncation',
  'user',
  'safety_identifier',
  'prompt_cache_key',
] as const satisfies readonly (keyof Prompt)[]

const read = [...names.map(([name]) => name), 'top_k', 'service_tier', ...wordless] as const
const spelled: ReadonlyMap<string, string> = new Map([['verbosity', 'text.verbosity']])

/** What the usual tier is called elsewhere; here it is had by naming none. */
const usualTiers: ReadonlySet<Json | undefined> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', null])

export function writeSettings(
  { prompt, routing }: InferenceRequest,
  offer: Offer,
  { quirks, thinking }: { readonly quirks: Quirks; readonly thinking: Thinking },
): Settings {
  const given: Record<string, Json | undefined> = {}
  for (const field of read) if (prompt[field] !== undefined) given[field] = prompt[field]
  const { cap, warnings: cut } = capOf(prompt, offer, thinking)
  if (cap !== undefined) given.max_output_tokens = cap
  if (prompt.stop?.length === 0) delete given.stop
  if (prompt.text?.verbosity !== undefined) given.verbosity = prompt.text.verbosity
  const heeded = applyServiceTier({ body: given, warnings: cut }, routing, { price: offer.price, quirks })
  const refuses = [...wordless, 'verbosity', ...(quirks.refuses ?? [])]
  const { body, warnings } = fitSampling(dropRefused(heeded, { refuses }, spelled), quirks, thinking)
  return {
    inferenceConfig: Object.fromEntries(names.flatMap(([field, name]) => (body[field] === undefined ? [] : [[name, body[field]]]))),
    tier: usualTiers.has(body.service_tier) ? undefined : body.service_tier,
    fields: body.top_k === undefined ? {} : { top_k: body.top_k },
    warnings,
  }
}

/** A cap beyond what the model can write is refused there. */
function capOf(
  { max_output_tokens: wanted }: Prompt,
  { max_output_tokens: longest = Number.POSITIVE_INFINITY }: Offer,
  { maxTokens }: Thinking,
): { readonly cap: number | undefined; readonly warnings: readonly Warning[] } {
  const cap = maxTokens ?? (wanted === undefined ? undefined : Math.min(wanted, longest))
  const message = `This model writes ${longest} tokens at most; \`max_output_tokens\` was lowered to that.`
  return { cap, warnings: wanted !== undefined && wanted > longest ? [unsupported('max_output_tokens', message)] : [] }
}
