import { GatewayError } from '@signalbox/dialects/errors'
import { similarNames } from '@signalbox/storage/similar-names'

type Expected = string | { readonly oneOf: readonly string[] }

/** `invalid_parameter_value`, naming the field, the given value, and the valid ones, described or as a list. Repeats short texts. */
export const invalidValueError = (param: string, got: unknown, expected: Expected): GatewayError =>
  refusal(param, typeof got === 'string' && got.length <= 60 ? `"${got}"` : describe(got), { got, expected })

/** The same error without repeating the given text, which may be a secret. */
export const invalidSecretValueError = (param: string, got: unknown, expected: Expected): GatewayError =>
  refusal(param, describe(got), { got, expected })

function refusal(param: string, shown: string, { got, expected }: { readonly got: unknown; readonly expected: Expected }): GatewayError {
  const suggestion = typeof expected === 'string' || typeof got !== 'string' ? undefined : didYouMean(got, expected.oneOf)
  const choice = typeof expected === 'string' ? expected : `one of ${expected.oneOf.join(', ')}`
  return new GatewayError('invalid_parameter_value', {
    message: `\`${param}\` is ${shown}; it takes ${choice}.${suggestion === undefined ? '' : ` ${suggestion}`}`,
    param,
    suggestion,
  })
}

/** `unknown_field`, with the nearest known name, or all known names. */
export function unknownFieldError(prefix: string, name: string, taken: readonly string[]): GatewayError {
  const param = prefix + name.slice(0, 100)
  const suggestion = didYouMean(name, taken)
  return new GatewayError('unknown_field', {
    message: `There is no field \`${param}\` here. ${suggestion ?? `It takes ${taken.join(', ')}.`}`,
    param,
    suggestion,
  })
}

function describe(got: unknown): string {
  if (typeof got === 'string') return got === '' ? 'an empty text' : describeLength([...got].length)
  if (got instanceof Date && Number.isNaN(got.getTime())) return 'an invalid Date'
  if (Array.isArray(got)) return `a list of ${got.length}`
  return typeof got === 'object' && got !== null ? 'an object' : String(got)
}

/** Characters as the limits count them, not UTF-16 units. */
const describeLength = (characters: number): string => `a string of ${characters} character${characters === 1 ? '' : 's'}`

/** `Did you mean "round"?`, if a known name is similar. */
function didYouMean(name: string, known: readonly string[]): string | undefined {
  const [near] = similarNames(name, known)
  return near === undefined ? undefined : `Did you mean "${near}"?`
}
