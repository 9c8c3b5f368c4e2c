import { GatewayError } from '../errors/gateway-error.ts'
import { isObject, own } from '../protocol/wire.ts'
import type { Field, Fields, InputMode, InputSpec, ValueSpec } from './fields.ts'
import { didYouMean, invalidValue } from './invalid-value.ts'

/** How a caller writes the names of fields: `json` as over HTTP, `typescript` as in process. */
export type NameStyle = 'typescript' | 'json'

interface CheckScope {
  readonly mode: InputMode
  /** Stands before the names of the fields, as in `budget.`. */
  readonly prefix: string
}

/**
 * Checks what a caller passes in process. Fields that are `undefined` count as absent.
 *
 * @throws `field_immutable`, `unknown_field`, `missing_required_parameter` or `invalid_parameter_value`, the first of these that
 * applies, with the name of the field
 */
export function checkInput({ fields, mode }: InputSpec, input: Readonly<Record<string, unknown>>): void {
  const faults = faultsIn(fields, input, { mode, prefix: '' })
  const [first, ...others] = faults
  if (first === undefined) return
  const rank = ({ code }: GatewayError): number => faultOrder.indexOf(code)
  throw others.reduce((worst, fault) => (rank(fault) < rank(worst) ? fault : worst), first)
}

// An unknown field comes before a missing one: it may be the missing one, misspelled.
const faultOrder: readonly string[] = ['field_immutable', 'unknown_field', 'missing_required_parameter', 'invalid_parameter_value']

/** Whether an input takes a field, and how. Undefined: it does not. */
export function isTaken(field: Field, mode: InputMode, nameStyle: NameStyle): 'required' | 'optional' | 'nullable' | undefined {
  if (field.inProcess && nameStyle === 'json') return undefined
  return mode === 'options' ? 'optional' : field[mode]
}

function faultsIn(fields: Fields, input: Readonly<Record<string, unknown>>, place: CheckScope): readonly GatewayError[] {
  const need = (field: Field) => isTaken(field, place.mode, 'typescript')
  const faults: GatewayError[] = []
  let unknown: string | undefined
  for (const [name, value] of Object.entries(input)) {
    const field = own(fields, name)
    if (value === undefined || (field && need(field) !== undefined)) continue
    if (field && isImmutable(field, place.mode)) return [immutable(place.prefix + name)]
    unknown ??= name
  }
  // One of them is enough: an input may have a great many.
  if (unknown !== undefined) {
    const taken = Object.entries(fields).filter(([, field]) => need(field) !== undefined)
    return [
      unknownField(
        place.prefix,
        unknown,
        taken.map(([name]) => name),
      ),
    ]
  }
  for (const [name, field] of Object.entries(fields)) {
    const value = own(input, name)
    if (need(field) === undefined || (value === null && need(field) === 'nullable')) continue
    const param = place.prefix + name
    if (value !== undefined) faults.push(...valueFaults(field, value, { ...place, prefix: param }))
    else if (need(field) === 'required')
      faults.push(new GatewayError('missing_required_parameter', { message: `\`${param}\` is missing.`, param }))
  }
  return faults
}

/** Fields that a change may not name, since they were set when the resource was created. */
export const isImmutable = (field: Field, mode: InputMode): boolean =>
  mode === 'update' && field.inProcess !== true && (field.immutable === true || (field.create !== undefined && field.update === undefined))

const immutable = (param: string): GatewayError =>
  new GatewayError('field_immutable', {
    message: `\`${param}\` was settled when this was made, and cannot be changed. Make another one instead.`,
    param,
  })

function unknownField(prefix: string, name: string, taken: readonly string[]): GatewayError {
  const param = prefix + name.slice(0, 100)
  const suggestion = didYouMean(name, taken)
  return new GatewayError('unknown_field', {
    message: `There is no field \`${param}\` here. ${suggestion ?? `It takes ${taken.join(', ')}.`}`,
    param,
    ...(suggestion !== undefined && { suggestion }),
  })
}

/** `place.prefix`: the name of the field itself. */
function valueFaults(spec: ValueSpec, value: unknown, place: CheckScope): readonly GatewayError[] {
  const takes = takesInstead(spec, value)
  if (takes !== undefined) return [invalidValue(place.prefix, value, spec.kind === 'enum' ? { oneOf: spec.values } : takes)]
  if (spec.kind === 'object')
    return faultsIn(spec.fields, value as Readonly<Record<string, unknown>>, { ...place, prefix: `${place.prefix}.` })
  if (spec.kind !== 'list' || !Array.isArray(value)) return []
  for (const [at, entry] of value.entries()) {
    if (spec.of.kind !== 'object' && takesInstead(spec.of, entry) === undefined) continue
    const faults = valueFaults(spec.of, entry, { ...place, prefix: `${place.prefix}[${at}]` })
    if (faults.length > 0) return faults
  }
  return []
}

/** What a value would have to be, in words. Undefined: it fits. */
function takesInstead(spec: ValueSpec, value: unknown): string | undefined {
  switch (spec.kind) {
    case 'string':
      return typeof value === 'string' ? lengthOutside(spec, charactersIn(value, spec.max), 'character') : 'a text'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? valueOutside(spec, value) : 'a number'
    case 'integer':
    case 'microdollars':
    case 'usd':
      return takesInteger(spec, value)
    case 'enum':
      return spec.values.some(word => word === value) ? undefined : spec.values.map(word => JSON.stringify(word)).join(', ')
    case 'time':
      return takesDate(value)
    case 'milliseconds':
      return typeof value === 'number' && Math.abs(value) <= maxTime ? undefined : 'Unix milliseconds'
    case 'list':
      if (spec.or !== undefined && value === spec.or) return undefined
      return Array.isArray(value) ? lengthOutside(spec, value.length, 'entry') : `a list${spec.or === undefined ? '' : `, or "${spec.or}"`}`
    case 'map':
      return isObject(value) && Object.values(value).every(each => typeof each === 'string') ? undefined : 'an object of texts'
    case 'object':
      return isObject(value) ? undefined : 'an object'
  }
}

/** Characters as JSON Schema counts them, not UTF-16 units; a string of more than twice `max` units is not counted. */
const charactersIn = (text: string, max = text.length): number =>
  text.length > max && text.length <= 2 * max ? [...text].length : text.length

/** The last moment that a Date can be, in Unix milliseconds. */
const maxTime = 8.64e15

interface Bounds {
  readonly min?: number
  readonly above?: number
  readonly max?: number
}

const plurals = { character: 'characters', entry: 'entries' } as const

function lengthOutside(
  { min = 0, max = Number.POSITIVE_INFINITY }: Bounds,
  length: number,
  unit: keyof typeof plurals,
): string | undefined {
  const [side, bound] = length < min ? ['least', min] : length > max ? ['most', max] : []
  return side === undefined ? undefined : `at ${side} ${bound} ${bound === 1 ? unit : plurals[unit]}`
}

function valueOutside(
  { min = Number.NEGATIVE_INFINITY, above, max = Number.POSITIVE_INFINITY }: Bounds,
  value: number,
): string | undefined {
  if (value < min) return `${min} or more`
  if (above !== undefined && value <= above) return `more than ${above}`
  return value > max ? `${max} or less` : undefined
}

function takesInteger({ min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds, value: unknown): string | undefined {
  if (typeof value !== 'number') return 'a number'
  return Number.isSafeInteger(value) ? valueOutside({ min, max }, value) : 'a whole number'
}

const takesDate = (value: unknown): string | undefined =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'a valid Date, as in `new Date("2030-01-31T12:00:00Z")`'
