import type { ErrorBody } from '../protocol/error-body.ts'
import type { Warning } from '../protocol/response.ts'

// Internally, fields have their Responses API names. Clients of other dialects know them by other names.

/** Internal field name → client's name: `reasoning.effort` → `reasoning_effort`. */
export type FieldNames = ReadonlyMap<string, string>

/** The client's name of a field, or of a path inside it. */
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

/** Warnings with the client's field names, including those in their messages. */
export const renameWarnings = (warnings: readonly Warning[], names: FieldNames): readonly Warning[] =>
  warnings.map(warning => {
    const { param, message } = warning
    if (param === undefined) return warning
    const clientName = renameField(param, names)
    return clientName === param
      ? warning
      : { ...warning, param: clientName, message: message.replaceAll(`\`${param}\``, `\`${clientName}\``) }
  })

/** An error with the client's field name, and with all field names quoted in its message if it has no `param`. */
export function renameError(
  { message, param }: Pick<ErrorBody, 'message' | 'param'>,
  names: FieldNames,
): Pick<ErrorBody, 'message' | 'param'> {
  if (param === null) return { message: message.replace(/`([a-z_.]+)`/g, (_, field: string) => `\`${renameField(field, names)}\``), param }
  const [renamed] = renameWarnings([{ code: '', message, param }], names)
  return { message: renamed?.message ?? message, param: renamed?.param ?? param }
}
