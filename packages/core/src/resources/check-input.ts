import { GatewayError } from '@signalbox/dialects/errors'
import { isObject, isUtcTime, own, toUsd } from '@signalbox/dialects/protocol'
import type { Field, Fields, InputMode, InputSpec, ValueSpec } from './fields.ts'
import { invalidSecretValueError, unknownFieldError } from './invalid-value.ts'
import { wireName } from './wire.ts'

/** The style of field names and values: `json` as over HTTP, with money in USD and times in ISO 8601; `typescript` as in process. */
export type NameStyle = 'typescript' | 'json'

interface CheckScope {
  readonly mode: InputMode
  readonly nameStyle: NameStyle
  /** Prefix of the field names, as in `budget.`. */
  readonly prefix: string
}

/**
 * Checks an input of a call in process, or the body of an HTTP request. Fields that are `undefined` count as absent. Messages do not
 * repeat the given texts, because these may be secrets.
 *
 * @throws `field_immutable`, `unknown_field`, `missing_required_parameter` or `invalid_parameter_value`, the first of these that
 * applies, with the name of the field
 */
export function checkInput(
  { fields, mode }: InputSpec,
  input: Readonly<Record<string, unknown>>,
  nameStyle: NameStyle = 'typescript',
): void {
  const faults = faultsIn(fields, input, { mode, nameStyle, prefix: '' })
  const [first, ...others] = faults
  if (first === undefined) return
  const rank = ({ code }: GatewayError): number => faultOrder.indexOf(code)
  throw others.reduce((worst, fault) => (rank(fault) < rank(worst) ? fault : worst), first)
}

// An unknown field comes before a missing one, because it may be the missing one, misspelled.
const faultOrder: readonly string[] = ['field_immutable', 'unknown_field', 'missing_required_parameter', 'invalid_parameter_value']

/** Whether an input may or must have a field. Undefined if it must not. */
export function isTaken(field: Field, mode: InputMode, nameStyle: NameStyle): 'required' | 'optional' | 'nullable' | undefined {
  if (field.inProcess && nameStyle === 'json') return undefined
  return mode === 'options' ? 'optional' : field[mode]
}

function faultsIn(fields: Fields, input: Readonly<Record<string, unknown>>, place: CheckScope): readonly GatewayError[] {
  const need = (field: Field) => isTaken(field, place.mode, place.nameStyle)
  const byName = new Map(
    Object.entries(fields).map(([name, field]) => [place.nameStyle === 'json' ? wireName(name, field) : name, field] as const),
  )
  const isGiven = (name: string): boolean => own(input, name) !== undefined
  const isLeftOut = (field: Field | undefined): boolean => field === undefined || need(field) === undefined
  for (const [name, field] of byName) if (isImmutable(field, place.mode) && isGiven(name)) return [immutableError(place.prefix + name)]
  // Only the first is reported, because an input may have very many.
  const unknown = Object.keys(input).find(name => isLeftOut(byName.get(name)) && isGiven(name))
  if (unknown !== undefined) {
    const taken = [...byName].filter(([, field]) => !isLeftOut(field)).map(([name]) => name)
    return [unknownFieldError(place.prefix, unknown, taken)]
  }
  const faults: GatewayError[] = []
  for (const [name, field] of byName) {
    const value = own(input, name)
    if (need(field) === undefined || (value === null && need(field) === 'nullable')) continue
    const param = place.prefix + name
    if (value !== undefined) faults.push(...valueFaults(field, value, { ...place, prefix: param }))
    else if (need(field) === 'required')
      faults.push(new GatewayError('missing_required_parameter', { message: `\`${param}\` is missing.`, param }))
  }
  return faults
}

/** Whether a change must not have the field, because it is set on creation. */
const isImmutable = (field: Field, mode: InputMode): boolean =>
  mode === 'update' && field.inProcess !== true && (field.immutable === true || (field.create !== undefined && field.update === undefined))

/** The JSON names of the fields that a change must not have. */
export const immutableNames = ({ fields, mode }: InputSpec): readonly string[] =>
  Object.entries(fields)
    .filter(([, field]) => isImmutable(field, mode))
    .map(([name, field]) => wireName(name, field))

const immutableError = (param: string): GatewayError =>
  new GatewayError('field_immutable', {
    message: `\`${param}\` cannot be changed after creation. Create a new resource instead.`,
    param,
  })

/** `place.prefix`: the name of the value's own field. */
function valueFaults(spec: ValueSpec, value: unknown, place: CheckScope): readonly GatewayError[] {
  const expected = expectedInstead(spec, value, place.nameStyle)
  if (expected !== undefined)
    return [invalidSecretValueError(place.prefix, value, spec.kind === 'enum' ? { oneOf: spec.values } : expected)]
  if (spec.kind === 'object')
    return faultsIn(spec.fields, value as Readonly<Record<string, unknown>>, { ...place, prefix: `${place.prefix}.` })
  if (spec.kind !== 'list' || !Array.isArray(value)) return []
  for (const [at, entry] of value.entries()) {
    if (spec.of.kind !== 'object' && expectedInstead(spec.of, entry, place.nameStyle) === undefined) continue
    const faults = valueFaults(spec.of, entry, { ...place, prefix: `${place.prefix}[${at}]` })
    if (faults.length > 0) return faults
  }
  return []
}

/** What a value should have been, in words. Undefined if it is valid. */
function expectedInstead(spec: ValueSpec, value: unknown, nameStyle: NameStyle): string | undefined {
  switch (spec.kind) {
    case 'string':
      return typeof value === 'string' ? (unstorableText(value) ?? lengthOutside(spec, charactersIn(value, spec), 'character')) : 'a string'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'number':
      return expectedNumber(spec, value)
    case 'usd':
      return nameStyle === 'json' ? expectedNumber(usdBounds(spec), value) : expectedInteger(spec, value)
    case 'integer':
    case 'microdollars':
      return expectedInteger(spec, value)
    case 'enum':
      return spec.values.some(word => word === value) ? undefined : spec.values.map(word => JSON.stringify(word)).join(', ')
    case 'time':
      return nameStyle === 'json' ? expectedTime(value) : expectedDate(value)
    case 'milliseconds':
      return typeof value === 'number' && Math.abs(value) <= maxTime ? undefined : 'Unix milliseconds'
    case 'list':
      return expectedList(nameStyle === 'json' ? { ...spec, or: undefined } : spec, value)
    case 'map':
      return takesMap(value)
    case 'json':
    case 'object':
      return isObject(value) ? undefined : 'an object'
  }
}

/** Databases reject NUL, and store every lone surrogate as the same character, so that two names would become one. */
const unstorableText = (text: string): string | undefined =>
  text.includes('\0') || !text.isWellFormed() ? 'text without NUL characters and lone surrogates' : undefined

function takesMap(value: unknown): string | undefined {
  if (!isObject(value) || !Object.values(value).every(each => typeof each === 'string')) return 'an object of strings'
  return unstorableText(Object.entries(value).flat().join(' '))
}

/**
 * The length in characters, as JSON Schema counts it, instead of UTF-16 units. A character has one or two units, so most texts are known
 * to be within the bounds without counting.
 */
function charactersIn(text: string, { min = 0, max = text.length }: Bounds): number {
  const isUncertain = text.length < 2 * min || (text.length > max && text.length <= 2 * max)
  return isUncertain ? [...text].length : text.length
}

/** The latest time of a Date, in Unix milliseconds. */
const maxTime = 8.64e15

interface Bounds {
  readonly min?: number | undefined
  readonly above?: number | undefined
  readonly max?: number | undefined
}

const usdBounds = ({ min, max }: Bounds): Bounds => ({ min: min && toUsd(min), max: max && toUsd(max) })

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

const expectedNumber = (bounds: Bounds, value: unknown): string | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? valueOutside(bounds, value) : 'a number'

function expectedInteger(bounds: Bounds, value: unknown): string | undefined {
  if (typeof value !== 'number') return 'a number'
  return Number.isSafeInteger(value) ? valueOutside(bounds, value) : 'a whole number'
}

function expectedList({ or, ...bounds }: Bounds & { readonly or?: string | undefined }, value: unknown): string | undefined {
  if (or !== undefined && value === or) return undefined
  return Array.isArray(value) ? lengthOutside(bounds, value.length, 'entry') : `a list${or === undefined ? '' : `, or "${or}"`}`
}

const expectedTime = (value: unknown): string | undefined =>
  typeof value === 'string' && isUtcTime(value) ? undefined : 'a time in UTC, as in "2030-01-31T12:00:00Z"'

const expectedDate = (value: unknown): string | undefined =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'a valid Date, as in `new Date("2030-01-31T12:00:00Z")`'
