import type { ErrorBody } from '../../protocol/error-body.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { type FieldNames, renameField, renameWarnings as spellAll, renameError as spellAs } from '../field-names.ts'
import { originalBody } from './wire.ts'

// Our names of fields → what callers of this language call them.

const names: FieldNames = new Map([
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

const withOldCap: FieldNames = new Map([...names, ['max_output_tokens', 'max_tokens']])

/** In the words of this caller: the cap on an answer has two names, and one of them was used. */
function spellingOf(request: InferenceRequest): FieldNames {
  const body = originalBody(request)
  return body && isGiven(body.max_tokens) && !isGiven(body.max_completion_tokens) ? withOldCap : names
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** The fields of a function stand one level deeper here. */
const deeper = (words: string): string =>
  words.replaceAll(/\b(tools\[\d+\])\.(?=(?:name|description|parameters|strict)\b)/g, '$1.function.')

export const spellParam = (param: string, request: InferenceRequest): string => deeper(renameField(param, spellingOf(request)))

export const renameWarnings = (warnings: readonly Warning[], request: InferenceRequest): readonly Warning[] =>
  spellAll(warnings, spellingOf(request)).map(warning =>
    warning.param === undefined ? warning : { ...warning, param: deeper(warning.param), message: deeper(warning.message) },
  )

/** An error by the caller's name of the field, also where its sentence names it. */
export function renameError(error: Pick<ErrorBody, 'message' | 'param'>): Pick<ErrorBody, 'message' | 'param'> {
  const { message, param } = spellAs(error, names)
  return { message: deeper(message), param: param === null ? null : deeper(param) }
}
