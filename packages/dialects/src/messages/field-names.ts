import {
  type FieldNames,
  renameError as renameErrorWith,
  renameField,
  renameWarnings as renameWarningsWith,
} from '../common/field-names.ts'
import type { ErrorBody } from '../protocol/error-body.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject } from '../protocol/wire.ts'
import { originalBody } from './wire.ts'

// Internal field names → names in this dialect.

const fieldNames: FieldNames = new Map([
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
const withEffort: FieldNames = new Map([...fieldNames, ['reasoning.effort', 'output_config.effort']])
const withThinking: FieldNames = new Map([...fieldNames, ['reasoning.effort', 'thinking']])

/** Two fields can set the effort; the one that the request used is named. */
function namesFor({ prompt }: InferenceRequest): FieldNames {
  const { output_config: config } = (prompt.reasoning && originalBody(prompt.reasoning)) ?? {}
  return isObject(config) && typeof config.effort === 'string' ? withEffort : withThinking
}

export const renameParam = (param: string, request: InferenceRequest): string => renameField(param, namesFor(request))

export const renameWarnings = (warnings: readonly Warning[], request: InferenceRequest): readonly Warning[] =>
  renameWarningsWith(warnings, namesFor(request))

/** Renames the fields of an error without a decoded request. */
export const renameError = (error: Pick<ErrorBody, 'message' | 'param'>): Pick<ErrorBody, 'message' | 'param'> =>
  renameErrorWith(error, withEffort)
