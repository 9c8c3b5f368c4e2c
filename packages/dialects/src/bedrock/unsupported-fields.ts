import { unsupported } from '../common/apply-quirks.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { hasEndCachePoint } from './cache-points.ts'

/** Optional extra data. Omitting it changes nothing, so there is no warning. */
const ignoredIncludes: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

const omitted = (param: string): Warning => unsupported(param, `\`${param}\` is not supported by this provider and was left out.`)

/**
 * Warnings for the fields that this dialect cannot express, in addition to those of inference-config.ts. None for `metadata`, which only
 * the gateway echoes, or `max_tool_calls`, which limits only hosted tools.
 */
export const unsupportedFields = (prompt: Prompt, quirks: Quirks): readonly Warning[] => [
  ...(prompt.include ?? []).flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [omitted(`include[${at}]`)])),
  ...Object.keys(prompt.native?.body ?? {})
    .filter(field => field !== 'cache_control' || !hasEndCachePoint(prompt, quirks))
    .map(omitted),
]
