import type { ErrorBody } from '../protocol/error-body.ts'
import type { Warning } from '../protocol/response.ts'

// Inside, fields go by their names in the Responses language. Callers of another language know them by other names.

/** Our name of a field → the caller's: `reasoning.effort` → `reasoning_effort`. */
export type FieldNames = ReadonlyMap<string, string>

/** A field, or a place inside one, as the caller spells it. */
export function renameField(param: string, spelling: FieldNames): string {
  const known = spelling.get(param)
  if (known !== undefined) return known
  for (let end = param.length - 1; end > 0; end--) {
    if (param[end] !== '.' && param[end] !== '[') continue
    const outer = spelling.get(param.slice(0, end))
    if (outer !== undefined) return outer + param.slice(end)
  }
  return param
}

/** Warnings in the caller's words: the field, and its name in the sentence. */
export const renameWarnings = (warnings: readonly Warning[], spelling: FieldNames): readonly Warning[] =>
  warnings.map(warning => {
    const { param, message } = warning
    if (param === undefined) return warning
    const theirs = renameField(param, spelling)
    return theirs === param ? warning : { ...warning, param: theirs, message: message.replaceAll(`\`${param}\``, `\`${theirs}\``) }
  })

/** An error by the caller's name of the field, also where its sentence names it. */
export function renameError(
  { message, param }: Pick<ErrorBody, 'message' | 'param'>,
  spelling: FieldNames,
): Pick<ErrorBody, 'message' | 'param'> {
  if (param === null) return { message, param }
  const [told] = renameWarnings([{ code: '', message, param }], spelling)
  return { message: told?.message ?? message, param: told?.param ?? param }
}
