import { isGatewayField, unsupported } from '../common/apply-quirks.ts'
import { combinedWarning, failedToolPaths, lostCitations } from '../common/part-warnings.ts'
import { logprobsInclude } from '../common/sampling.ts'
import { splitNativeFields } from '../common/shared-fields.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { innerDialect } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

/** Extra data that clients request by default. Omitting it loses nothing. */
const ignoredIncludes: ReadonlySet<string> = new Set([logprobsInclude, 'reasoning.encrypted_content'])

/**
 * Warnings for the fields that this dialect cannot express. None for `metadata`, which the gateway echoes, `max_tool_calls`, which limits
 * only hosted tools, `reasoning.budget_tokens`, which the effort replaces, and the default truncation.
 */
export function unsupportedFields(prompt: Prompt, quirks: Quirks): readonly Warning[] {
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
