import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { isGatewayField, unsupported } from '../apply-quirks.ts'
import { cachePoints, failedTools, oneWarning } from '../lossy-marks.ts'
import { logprobsInclude } from '../sampling.ts'
import { dialect, originalBody } from './wire.ts'

/** Extra data that clients ask for by default; without it nothing is lost. */
const harmless: ReadonlySet<string> = new Set([logprobsInclude, 'reasoning.encrypted_content'])

/**
 * Warnings for what this language has no field for. No warning is given for `metadata`, which the gateway echoes,
 * `max_tool_calls`, which caps hosted tools alone, `reasoning.budget_tokens`, which the effort stands for, and the default
 * truncation.
 */
export function unsupportedFields(prompt: Prompt): readonly Warning[] {
  const { truncation, include = [], native } = prompt
  const here = 'is not supported by this provider and was left out.'
  const foreign = native ? Object.keys(native.body).filter(field => native.dialect !== dialect || isGatewayField(field)) : []
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [unsupported('truncation', `\`truncation\` ${here}`)] : []),
    ...include.flatMap((name, at) => (harmless.has(name) ? [] : [unsupported(`include[${at}]`, `\`include[${at}]\` ${here}`)])),
    ...foreign.map(field => unsupported(field, `\`${field}\` ${here}`)),
    ...oneWarning(failedTools(prompt.input), 'is not supported by this provider; the tool result was sent without it.'),
    ...oneWarning(cachePoints(prompt, isSentAsIs), 'is a cache marker, which this provider does not support; it was left out.'),
  ]
}

/** Cache points of a caller of this language are sent as they came. */
const isSentAsIs = (decoded: object): boolean => originalBody(decoded) !== undefined
