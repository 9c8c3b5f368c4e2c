import { nearestOf } from './nearest.ts'

/** What an option takes: a kind of value, or an object with options of its own. */
type OptionKind = keyof typeof optionKinds | OptionTable
/** What each option of an object takes, by name. */
export interface OptionTable {
  readonly [name: string]: OptionKind
}
/** A table with a row for every option of a type, so that none can be forgotten. */
export type OptionTableOf<Options> = { readonly [Name in keyof Required<Options>]: OptionKind }

const typed =
  (type: string) =>
  (value: unknown): boolean =>
    typeof value === type
const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Kinds of values by name: what to call each, and which values are of it. */
const optionKinds = {
  text: { takes: 'a string', is: typed('string') },
  'text or function': { takes: 'a string or a function', is: (value: unknown) => typeof value === 'string' || typeof value === 'function' },
  number: { takes: 'a number', is: typed('number') },
  flag: { takes: 'true or false', is: typed('boolean') },
  function: { takes: 'a function', is: typed('function') },
  list: { takes: 'a list', is: Array.isArray },
  object: { takes: 'an object', is: isPlainObject },
  'object or false': { takes: 'an object, or false', is: (value: unknown) => value === false || isPlainObject(value) },
  any: { takes: 'a value', is: () => true },
} as const satisfies Readonly<Record<string, { readonly takes: string; readonly is: (value: unknown) => boolean }>>

/** What the options belong to: the function that is called and, where they stand inside others, the option that holds them. */
export interface OptionPlace {
  readonly call: string
  readonly option?: string
}

/**
 * Checks options as JavaScript passes them, where no compiler does: unknown names, and values of another kind. An option that is
 * undefined is absent.
 *
 * @throws {TypeError} It names the option, what it got and what it takes.
 * @example
 * checkOptionTable({ call: 'openai' }, { baseURL }, { apiKey: 'text', baseUrl: 'text' }) // There is no option `baseURL`. Did you mean `baseUrl`?
 */
export function checkOptionTable({ call, option }: OptionPlace, options: unknown, table: OptionTable): void {
  if (options === undefined) return
  if (!isPlainObject(options))
    throw new TypeError(
      `${call}: ${option === undefined ? 'the argument' : `\`${option}\``} is ${described(options)}; it takes an object of options.`,
    )
  const known = new Map(Object.entries(table))
  for (const [name, value] of Object.entries(options as object)) {
    const path = option === undefined ? name : `${option}.${name}`
    const kind = known.get(name)
    if (kind === undefined) throw new TypeError(`${call}: there is no option \`${path}\`.${hintFor(name, [...known.keys()])}`)
    if (value === undefined) continue
    if (typeof kind === 'object') checkOptionTable({ call, option: path }, value, kind)
    else if (!optionKinds[kind].is(value))
      throw new TypeError(`${call}: \`${path}\` is ${described(value)}; it takes ${optionKinds[kind].takes}.`)
  }
}

function hintFor(name: string, known: readonly string[]): string {
  const [nearest] = nearestOf(name, known)
  return nearest === undefined ? ` There are ${known.map(each => `\`${each}\``).join(', ')}.` : ` Did you mean \`${nearest}\`?`
}

/** A value in a message, without its content where that may be a secret. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a string' : typeof value === 'function' ? 'a function' : `${value}`
}
