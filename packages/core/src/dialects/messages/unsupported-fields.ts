import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { type Encoded, unsupported } from '../apply-quirks.ts'
import { dialect } from './wire.ts'
import { type Writing, warn } from './encode-context.ts'

/** Extra data that callers ask for on the off chance; there is none here, and nothing is lost. */
const harmless: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

const here = 'has no counterpart here and was left out.'
const left = (param: string): Warning => unsupported(param, `\`${param}\` ${here}`)

/**
 * What this language has no words for. Silent are only `metadata`, which is echoed by us and no provider's business,
 * `max_tool_calls`, which caps hosted tools alone, and values that say nothing.
 */
export function unsayable(prompt: Prompt): readonly Warning[] {
  const { truncation, include = [], text, top_logprobs = 0, frequency_penalty = 0, presence_penalty = 0, native, user } = prompt
  const foreign = native && native.dialect !== dialect ? Object.keys(native.body) : []
  const unsaid = {
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
    ...Object.entries(unsaid).flatMap(([param, isSaid]) => (isSaid ? [left(param)] : [])),
    ...include.flatMap((name, at) => (harmless.has(name) ? [] : [left(`include[${at}]`)])),
    ...foreign.map(left),
  ]
}

/** Our names of tiers → those of this language, which sells none by name. */
const tiers: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['priority', 'priority'],
  ['standard_only', 'standard_only'],
  ['default', 'standard_only'],
  ['standard', 'standard_only'],
  ['on_demand', 'standard_only'],
])

export function sayTier({ service_tier: asked }: Prompt, writing: Writing): JsonObject {
  if (asked === undefined) return {}
  const tier = tiers.get(asked)
  if (tier === undefined) warn(writing, 'service_tier', `\`service_tier\` ${here}`)
  return tier === undefined ? {} : { service_tier: tier }
}

/** The dear tier by the name that it has there, once it is clear that it may be bought. */
export const withTier = ({ body, warnings }: Encoded, { priority_tier }: Quirks): Encoded =>
  body.service_tier === 'priority' ? { body: { ...body, service_tier: priority_tier ?? 'auto' }, warnings } : { body, warnings }
