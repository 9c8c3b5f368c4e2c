import { type FieldNames, renameError, renameField, renameWarnings } from '../common/field-names.ts'
import type { ErrorBody } from '../protocol/error-body.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { originalBody } from './wire.ts'

// Internal field names → names in this dialect.

const chatNames: FieldNames = new Map([
  ['input', 'messages'],
  ['max_output_tokens', 'max_completion_tokens'],
  ['text.format', 'response_format'],
  ['text.format.name', 'response_format.json_schema.name'],
  ['text.format.description', 'response_format.json_schema.description'],
  ['text.format.schema', 'response_format.json_schema.schema'],
  ['text.format.strict', 'response_format.json_schema.strict'],
  ['text.verbosity', 'verbosity'],
  ['reasoning', 'reasoning_effort'],
  ['reasoning.effort', 'reasoning_effort'],
  ['include', 'logprobs'],
  ['include[0]', 'logprobs'],
])

const withOldCap: FieldNames = new Map([...chatNames, ['max_output_tokens', 'max_tokens']])

/** The output limit has two names; the client gets the one it used. */
function namesFor(request: InferenceRequest): FieldNames {
  const body = originalBody(request)
  return body && isGiven(body.max_tokens) && !isGiven(body.max_completion_tokens) ? withOldCap : chatNames
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** The fields of a function are nested one level deeper in this dialect. */
const nested = (text: string): string => text.replaceAll(/\b(tools\[\d+\])\.(?=(?:name|description|parameters|strict)\b)/g, '$1.function.')

export const renameParam = (param: string, request: InferenceRequest): string => nested(renameField(param, namesFor(request)))

export const renameFieldsInWarnings = (warnings: readonly Warning[], request: InferenceRequest): readonly Warning[] =>
  renameWarnings(warnings, namesFor(request)).map(warning =>
    warning.param === undefined ? warning : { ...warning, param: nested(warning.param), message: nested(warning.message) },
  )

export function renameFieldsInError(error: Pick<ErrorBody, 'message' | 'param'>): Pick<ErrorBody, 'message' | 'param'> {
  const { message, param } = renameError(error, chatNames)
  return { message: nested(message), param: param === null ? null : nested(param) }
}
