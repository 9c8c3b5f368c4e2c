import { unsupported } from '../common/apply-quirks.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { dialect } from './wire.ts'

/** Optional extra data. Omitting it changes nothing, so there is no warning. */
const ignoredIncludes: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

const omitted = (param: string): Warning => unsupported(param, `\`${param}\` is not supported by this provider and was left out.`)

/**
 * Warnings for the fields that this dialect cannot express. None for `metadata`, which only the gateway echoes, `max_tool_calls`, which
 * limits only hosted tools, and values without effect.
 */
export function unsupportedFields(prompt: Prompt): readonly Warning[] {
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
