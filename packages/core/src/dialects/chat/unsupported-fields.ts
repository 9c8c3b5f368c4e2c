import type { Item, Part } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { innerDialect } from '../../protocol/wire.ts'
import { isGatewayField, unsupported } from '../apply-quirks.ts'
import { combinedWarning, failedToolPaths, lostCachePoints, lostCitations } from '../part-warnings.ts'
import { logprobsInclude } from '../sampling.ts'
import { splitNativeFields } from '../shared-fields.ts'
import { dialect, originalBody } from './wire.ts'

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
  const marked = new Set<object>(quirks.cache_breakpoints ? prompt.input.flatMap(partsWithBreakpoints) : [])
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [unsupported('truncation', `\`truncation\` ${here}`)] : []),
    ...include.flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [unsupported(`include[${at}]`, `\`include[${at}]\` ${here}`)])),
    ...foreign.map(field => unsupported(field, `\`${field}\` ${here}`)),
    ...lostCitations(prompt.input),
    ...combinedWarning(failedToolPaths(prompt.input), 'is not supported by this provider; the tool result was sent without it.'),
    ...combinedWarning(
      lostCachePoints(prompt, decoded => isSentAsIs(decoded) || marked.has(decoded)),
      'is a cache marker, which this provider does not support; it was left out.',
    ),
  ]
}

/** Cache points of a client of this dialect are sent unchanged. */
const isSentAsIs = (decoded: object): boolean => originalBody(decoded) !== undefined

/** The parts that take a breakpoint, where the offer knows them. */
const partsWithBreakpoints = (item: Item): readonly Part[] => (item.type === 'message' && item.role !== 'assistant' ? item.content : [])
