import { similarNames } from './similar-names.ts'

/** The values that an option accepts, and a hint for the error message. */
export interface OptionSpec {
  /** Description of the accepted values, as in `a number`. */
  readonly takes: string
  is(value: unknown): boolean
  readonly wayOut?: string
  readonly isRequired?: boolean
}

/** A built-in kind of value, a specification, or an object with options of its own. */
type OptionKind = keyof typeof optionKinds | OptionSpec | OptionTable
/** The kinds of an object's options, by name. */
export interface OptionTable {
  readonly [name: string]: OptionKind
}
/** A table with a row for every option of a type, so that none can be missing. */
export type OptionTableOf<Options> = { readonly [Name in keyof Required<Options>]: OptionKind }

const ofType = (type: string, takes: string): OptionSpec => ({ takes, is: value => typeof value === type })
const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const optionKinds = {
  text: ofType('string', 'a string'),
  'text or function': { takes: 'a string or a function', is: value => typeof value === 'string' || typeof value === 'function' },
  'text or texts': {
    takes: 'a string or a list of strings',
    is: value => typeof value === 'string' || (Array.isArray(value) && value.every(each => typeof each === 'string')),
  },
  number: ofType('number', 'a number'),
  milliseconds: { takes: 'milliseconds above 0', is: value => typeof value === 'number' && value > 0 },
  flag: ofType('boolean', 'true or false'),
  function: ofType('function', 'a function'),
  list: { takes: 'a list', is: Array.isArray },
  object: { takes: 'an object', is: isPlainObject },
  'object or false': { takes: 'an object, or false', is: value => value === false || isPlainObject(value) },
  any: { takes: 'a value', is: () => true },
} as const satisfies Readonly<Record<string, OptionSpec>>

/** An option that must be one of the given words. `wordOf('server', 'caller')` */
export const wordOf = (...words: readonly string[]): OptionSpec => ({
  takes: words.map(word => `\`${word}\``).join(' or '),
  is: value => words.includes(String(value)),
})

const isSpec = (kind: OptionSpec | OptionTable): kind is OptionSpec => typeof kind.is === 'function'

/** The function that the options are passed to and, for nested options, the name of the option that contains them. */
interface OptionPlace {
  readonly call: string
  readonly option?: string
}

/**
 * Checks options for unknown names and values of the wrong kind, for callers without TypeScript. An undefined option counts as missing.
 *
 * @throws {TypeError} An option is unknown or has the wrong kind. The message names the option, the value and what it accepts.
 * @example
 * checkOptionTable({ call: 'openai' }, { baseUrl }, { apiKey: 'text', baseURL: 'text' }) // There is no option `baseUrl`. Did you mean `baseURL`?
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
 * @throws {TypeError} The option does not accept the value.
 */
export function checkArgument(place: string, value: unknown, { takes, is, wayOut, isRequired = false }: OptionSpec): void {
  if (value === undefined ? !isRequired : is(value)) return
  throw new TypeError(`${place} is ${describeValue(value)}; it takes ${takes}.${wayOut === undefined ? '' : ` ${wayOut}`}`)
}

/**
 * Checks that no text, and no text of a list, is in quotes: `docker --env-file` keeps the quotes of `KEY="value"` as a part of the value.
 *
 * @throws {TypeError} The message names the option.
 */
export function checkUnquoted(call: string, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (Array.isArray(value)) checkUnquoted(call, Object.fromEntries(value.map((each, index) => [`${name}[${index}]`, each])))
    else if (isQuoted(value)) throw new TypeError(`${call}: \`${name}\` ${inQuotes}`)
  }
}

/** What is wrong with a value in quotes. */
export const inQuotes =
  'begins and ends with a quotation mark, which is a part of the value. Remove both: `docker --env-file`, for one, keeps them.'

/** Whether a value is a text that begins and ends with the same quotation mark. */
export const isQuoted = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 1 && /^["'`]/.test(value) && value.at(0) === value.at(-1)

/** Names of options that an earlier version had, with the present ones. The config has both in snake case. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['provider_model_id', 'model'],
  ['dialect', 'api'],
  ['dialects', 'apis'],
  ['speaks', 'apis'],
  ['prepare', 'transformRequest'],
  ['operator', 'ownedBy'],
  ['record', 'decisionLog'],
  ['items', 'storedItems'],
  ['holdMs', 'firstContentWaitMs'],
  ['bodyBytes', 'maxBodyBytes'],
  ['uploadBytes', 'maxUploadBytes'],
  ['uploadBytesPerWorkspace', 'maxUploadBytesPerWorkspace'],
  ['uploadBytesPerUser', 'maxUploadBytesPerUser'],
  ['exportRows', 'maxExportRows'],
  ['connections', 'maxConnections'],
  ['connectionsPerWorkspace', 'maxConnectionsPerWorkspace'],
  ['connectionsPerUser', 'maxConnectionsPerUser'],
  ['messageBytes', 'maxMessageBytes'],
  ['keptBytes', 'maxHistoryBytes'],
  ['keptBytesPerWorkspace', 'maxHistoryBytesPerWorkspace'],
  ['keptBytesPerUser', 'maxHistoryBytesPerUser'],
  ['keptBytesTotal', 'maxHistoryBytesTotal'],
  ['hedgeMaxCost', 'maxHedgeCost'],
  ['hedgeMaxCostUsd', 'maxHedgeCostUsd'],
  ['onPlan', 'onRoute'],
  ['onCommit', 'onFirstContent'],
  ['onSettle', 'onFinish'],
])

/** The present name of an option that an earlier version had, if it is among `known`. */
export function presentName(name: string, known: readonly string[]): string | undefined {
  const now = renamed.get(name)
  return now !== undefined && known.includes(now) ? now : undefined
}

function hintFor(name: string, known: readonly string[]): string {
  const now = presentName(name, known)
  if (now !== undefined) return ` It is \`${now}\` now.`
  const [nearest] = similarNames(name, known)
  return nearest === undefined ? ` There are ${known.map(each => `\`${each}\``).join(', ')}.` : ` Did you mean \`${nearest}\`?`
}

/** Whether an object has methods of these names. `hasMethods(env.DB, 'prepare', 'batch')` */
export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every(name => typeof Reflect.get(value, name) === 'function')

/** Names of Cloudflare bindings and storages for error messages, recognized by their methods. */
const shapes: readonly (readonly [called: string, ...methods: string[]])[] = [
  ['a D1 database', 'prepare', 'batch'],
  ['a namespace of Durable Objects', 'idFromName', 'get'],
  ['a storage', 'ping', 'close'],
]

/** A value that is no secret, as it is written in source: a text has quotes, so that "5" and 5 differ. */
export const inSource = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value) : String(value)

/** Describes a value for a message, without content that may be secret. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return shapes.find(([, ...methods]) => hasMethods(value, ...methods))?.[0] ?? 'an object'
  return typeof value === 'string' ? 'a string' : typeof value === 'function' ? 'a function' : String(value)
}
