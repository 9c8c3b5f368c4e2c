import { GatewayError } from '@signalbox/dialects/errors'
import { isUtcTime } from '@signalbox/dialects/protocol'
import { similarNames } from '@signalbox/storage/similar-names'

/** A query parameter of a row. */
export interface QueryParameter {
  readonly name: string
  readonly description: string
  /** All allowed values. Absent: any. */
  readonly values?: readonly string[]
  /** Set if it is a whole number, with inclusive bounds. */
  readonly whole?: { readonly min: number; readonly max: number }
  /** Set if it is a UTC day or time, as in `2030-01-31` or `2030-01-31T12:00:00Z`. A day means its start. */
  readonly date?: true
  /** Set if it is a UUID. */
  readonly uuid?: true
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const beta: QueryParameter = { name: 'beta', description: 'Sent by SDKs with their beta calls. Ignored.' }

/** One object for all requests, because an open stream keeps it. */
const noParameters: Readonly<Record<string, string>> = Object.freeze({})

/**
 * The known parameters of a query. Without a list of known ones the query is not checked, because probes add their own parameters. With
 * `ignoresOthers` unknown parameters are ignored.
 */
export function readQuery(
  known: readonly QueryParameter[] | undefined,
  query: string,
  ignoresOthers = false,
): Readonly<Record<string, string>> {
  if (query === '' || known === undefined) return noParameters
  const found: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const parameter = known.find(one => one.name === name)
    if (parameter === undefined && ignoresOthers) continue
    if (parameter === undefined) {
      throw new GatewayError('unknown_parameter', {
        message: `Unknown query parameter "${name.slice(0, 100)}".`,
        param: name.slice(0, 100),
      })
    }
    if (!fits(parameter, value) || found[name] !== undefined) throw invalidQueryError(parameter, value)
    found[name] = value
  }
  return found
}

const fits = ({ values, whole, date, uuid }: QueryParameter, value: string): boolean =>
  values?.includes(value) !== false &&
  (whole === undefined || (/^\d{1,9}$/.test(value) && whole.min <= +value && +value <= whole.max)) &&
  (date === undefined || isDate(value)) &&
  (uuid === undefined || uuidPattern.test(value))

const isDate = (text: string): boolean => isUtcTime(text.length === 10 ? `${text}T00:00Z` : text)

/** The Unix milliseconds of a date parameter. */
export const timeOf = (date: string | undefined): number | undefined => (date === undefined ? undefined : Date.parse(date))

function allowedOf({ values, whole, date, uuid }: QueryParameter): string {
  if (values !== undefined) return values.map(one => `"${one}"`).join(', ')
  if (date) return 'a day or a time of UTC, as in "2030-01-31" or "2030-01-31T12:00:00Z"'
  if (uuid) return 'an id, as the entries of the list have it'
  return whole === undefined ? 'one value' : `a whole number from ${whole.min} to ${whole.max}`
}

function invalidQueryError(parameter: QueryParameter, value: string): GatewayError {
  const { name, values } = parameter
  const { sentence, ...facts } = didYouMean(values === undefined || values.includes(value) ? [] : similarNames(value, values))
  return new GatewayError('invalid_parameter_value', {
    message: `The query parameter "${name}" takes ${allowedOf(parameter)}, once.${sentence}`,
    param: name,
    ...facts,
  })
}

/** Throws if a value names nothing known. */
export function checkNamed(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return
  const { sentence, ...facts } = didYouMean(similarNames(value, known).slice(0, 1))
  throw new GatewayError('invalid_parameter_value', {
    message: `The query parameter "${name}" is "${value.slice(0, 100)}", and there is no such ${name} here.${sentence}`,
    param: name,
    ...facts,
  })
}

/** A suggestion for an unknown name, as a sentence and as a field of the error. Empty if no known name is similar. */
export function didYouMean(near: readonly string[]): { readonly sentence: string; readonly suggestion?: string } {
  if (near.length === 0) return { sentence: '' }
  const suggestion = `Did you mean ${near.map(name => `"${name}"`).join(' or ')}?`
  return { sentence: ` ${suggestion}`, suggestion }
}
