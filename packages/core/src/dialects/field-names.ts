import type { ErrorBody } from '../protocol/error-body.ts'
import type { Warning } from '../protocol/response.ts'

// Inside the gateway, fields have their names in the Responses language. Callers of another language know them by other names.

/** Our name of a field → the caller's: `reasoning.effort` → `reasoning_effort`. */
export type FieldNames = ReadonlyMap<string, string>

/** The caller's name of a field, or of a path inside one. */
export function renameField(param: string, names: FieldNames): string {
  const known = names.get(param)
  if (known !== undefined) return known
  for (let end = param.length - 1; end > 0; end--) {
    if (param[end] !== '.' && param[end] !== '[') continue
    const outer = names.get(param.slice(0, end))
    if (outer !== undefined) return outer + param.slice(end)
  }
  return param
}

/** Warnings with the caller's names of fields, also in their messages. */
export const renameWarnings = (warnings: readonly Warning[], names: FieldNames): readonly Warning[] =>
  warnings.map(warning => {
    const { param, message } = warning
    if (param === undefined) return warning
    const theirs = renameField(param, names)
    return theirs === param ? warning : { ...warning, param: theirs, message: message.replaceAll(`\`${param}\``, `\`${theirs}\``) }
  })

/** An error with the caller's name of the field, and of all fields that its message quotes where it is about none. */
export function renameError(
  { message, param }: Pick<ErrorBody, 'message' | 'param'>,
  names: FieldNames,
): Pick<ErrorBody, 'message' | 'param'> {
  if (param === null) return { message: message.replace(/`([a-z_.]+)`/g, (_, field: string) => `\`${renameField(field, names)}\``), param }
  const [renamed] = renameWarnings([{ code: '', message, param }], names)
  return { message: renamed?.message ?? message, param: renamed?.param ?? param }
}
