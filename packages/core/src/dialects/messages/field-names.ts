import type { ErrorBody } from '../../protocol/error-body.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { isObject } from '../../protocol/wire.ts'
import { type FieldNames, renameField, renameWarnings as spellAll, renameError as spellAs } from '../field-names.ts'
import { originalBody } from './wire.ts'

// Our names of fields → what callers of this language call them.

const names: ReadonlyMap<string, string> = new Map([
  ['input', 'messages'],
  ['instructions', 'system'],
  ['max_output_tokens', 'max_tokens'],
  ['stop', 'stop_sequences'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ['text.format', 'output_config.format'],
  ['reasoning', 'thinking'],
  ['reasoning.summary', 'thinking.display'],
  ['reasoning.budget_tokens', 'thinking.budget_tokens'],
  ['safety_identifier', 'metadata.user_id'],
])
const byEffort: FieldNames = new Map([...names, ['reasoning.effort', 'output_config.effort']])
const byThinking: FieldNames = new Map([...names, ['reasoning.effort', 'thinking']])

/** Effort is said in two places; named is the one that was used. */
function spellingOf({ prompt }: InferenceRequest): FieldNames {
  const { output_config: config } = (prompt.reasoning && originalBody(prompt.reasoning)) ?? {}
  return isObject(config) && typeof config.effort === 'string' ? byEffort : byThinking
}

export const spellParam = (param: string, request: InferenceRequest): string => renameField(param, spellingOf(request))

export const renameWarnings = (warnings: readonly Warning[], request: InferenceRequest): readonly Warning[] =>
  spellAll(warnings, spellingOf(request))

/** Of a request that may not have been read at all. */
export const renameError = (error: Pick<ErrorBody, 'message' | 'param'>): Pick<ErrorBody, 'message' | 'param'> => spellAs(error, byEffort)
