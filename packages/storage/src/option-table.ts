import { nearestOf } from './nearest.ts'

/** What an option takes, and the way out where another value came. */
export interface OptionSpec {
  /** In words, as in `a number`. */
  readonly takes: string
  is(value: unknown): boolean
  readonly wayOut?: string
  readonly isRequired?: boolean
}

/** What an option takes: a kind of value, a specification, or an object with options of its own. */
type OptionKind = keyof typeof optionKinds | OptionSpec | OptionTable
/** What each option of an object takes, by name. */
export interface OptionTable {
  readonly [name: string]: OptionKind
}
/** A table with a row for every option of a type, so that none can be forgotten. */
export type OptionTableOf<Options> = { readonly [Name in keyof Required<Options>]: OptionKind }

const ofType = (type: string, takes: string): OptionSpec => ({ takes, is: value => typeof value === type })
const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const optionKinds = {
  text: ofType('string', 'a string'),
  'text or function': { takes: 'a string or a function', is: value => typeof value === 'string' || typeof value === 'function' },
  number: ofType('number', 'a number'),
  milliseconds: { takes: 'milliseconds above 0', is: value => typeof value === 'number' && value > 0 },
  flag: ofType('boolean', 'true or false'),
  function: ofType('function', 'a function'),
  list: { takes: 'a list', is: Array.isArray },
  object: { takes: 'an object', is: isPlainObject },
  'object or false': { takes: 'an object, or false', is: value => value === false || isPlainObject(value) },
  any: { takes: 'a value', is: () => true },
} as const satisfies Readonly<Record<string, OptionSpec>>

/** An option that takes one of some words. `wordOf('server', 'caller')` */
export const wordOf = (...words: readonly string[]): OptionSpec => ({
  takes: words.map(word => `\`${word}\``).join(' or '),
  is: value => words.includes(String(value)),
})

const isSpec = (kind: OptionSpec | OptionTable): kind is OptionSpec => typeof kind.is === 'function'

/** What the options belong to: the function that is called and, where they stand inside others, the option that holds them. */
interface OptionPlace {
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
  if (!isPlainObject(options))
    throw new TypeError(
      `${call}: ${option === undefined ? 'the argument' : `\`${option}\``} is ${describeValue(options)}; it takes an object of options.`,
    )
  const known = new Map(Object.entries(table))
  const given = new Map(Object.entries(options as object))
  const pathOf = (name: string): string => (option === undefined ? name : `${option}.${name}`)
  for (const name of given.keys())
    if (!known.has(name)) throw new TypeError(`${call}: there is no option \`${pathOf(name)}\`.${hintFor(name, [...known.keys()])}`)
  for (const [name, kind] of known) {
    const value = given.get(name)
    if (typeof kind === 'object' && !isSpec(kind)) {
      if (value !== undefined) checkOptionTable({ call, option: pathOf(name) }, value, kind)
    } else checkArgument(`${call}: \`${pathOf(name)}\``, value, typeof kind === 'string' ? optionKinds[kind] : kind)
  }
}

/**
 * Checks one value; `place` begins the message.
 *
 * @throws {TypeError} It is none of those that the option takes.
 */
export function checkArgument(place: string, value: unknown, { takes, is, wayOut, isRequired = false }: OptionSpec): void {
  if (value === undefined ? !isRequired : is(value)) return
  throw new TypeError(`${place} is ${describeValue(value)}; it takes ${takes}.${wayOut === undefined ? '' : ` ${wayOut}`}`)
}

function hintFor(name: string, known: readonly string[]): string {
  const [nearest] = nearestOf(name, known)
  return nearest === undefined ? ` There are ${known.map(each => `\`${each}\``).join(', ')}.` : ` Did you mean \`${nearest}\`?`
}

/** Whether an object has methods of these names. `hasMethods(env.DB, 'prepare', 'batch')` */
export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every(name => typeof Reflect.get(value, name) === 'function')

/** What a binding of Cloudflare or a storage is called, by the methods that it has. */
const shapes: readonly (readonly [called: string, ...methods: string[]])[] = [
  ['a D1 database', 'prepare', 'batch'],
  ['a namespace of Durable Objects', 'idFromName', 'get'],
  ['a storage', 'ping', 'close'],
]

/** A value in a message, without its content where that may be a secret. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return shapes.find(([, ...methods]) => hasMethods(value, ...methods))?.[0] ?? 'an object'
  return typeof value === 'string' ? 'a string' : typeof value === 'function' ? 'a function' : String(value)
}
