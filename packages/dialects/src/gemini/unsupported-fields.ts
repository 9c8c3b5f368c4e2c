import { unsupported } from '../common/apply-quirks.ts'
import { combinedWarning, lostCachePoints, lostCitations } from '../common/part-warnings.ts'
import { logprobsInclude } from '../common/sampling.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { dialect } from './wire.ts'

/** Optional extra data. Omitting it changes nothing, so there is no warning. */
const ignoredIncludes: ReadonlySet<string> = new Set([logprobsInclude, 'reasoning.encrypted_content'])

const unsupportedSettings = ['user', 'safety_identifier', 'prompt_cache_key'] as const

const omitted = (param: string): Warning => unsupported(param, `\`${param}\` is not supported by this provider and was left out.`)

/**
 * Warnings for the fields that this dialect cannot express. None for `metadata`, which only the gateway echoes, `max_tool_calls`, which
 * limits only hosted tools, and the default truncation.
 */
export function unsupportedFields(prompt: Prompt): readonly Warning[] {
  const { truncation, include = [], text, native } = prompt
  const foreign = native && native.dialect !== dialect ? Object.keys(native.body) : []
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [omitted('truncation')] : []),
    ...include.flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [omitted(`include[${at}]`)])),
    ...(text?.verbosity === undefined ? [] : [omitted('text.verbosity')]),
    ...unsupportedSettings.filter(field => prompt[field] !== undefined).map(omitted),
    ...foreign.map(omitted),
    ...lostCitations(prompt.input),
    ...combinedWarning(
      lostCachePoints(prompt, () => false),
      'is a cache marker, which this provider does not support; it was left out.',
    ),
  ]
}
