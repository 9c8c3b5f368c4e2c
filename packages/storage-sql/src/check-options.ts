/** A storage option: its valid values, their description, and a remedy for invalid ones. */
export interface StorageOption {
  readonly takes: string
  is(value: unknown): boolean
  readonly wayOut?: string
  readonly isRequired?: boolean
}

/** A table with a row for every option of a type, so that none can be forgotten. */
export type StorageOptionTable<Options> = { readonly [Name in keyof Required<Options>]: StorageOption }

const ofType = (type: string, takes: string): StorageOption => ({ takes, is: value => typeof value === type })

/** Kinds of options by name. */
export const optionOf = {
  text: ofType('string', 'a text'),
  number: ofType('number', 'a number'),
  flag: ofType('boolean', 'true or false'),
  milliseconds: { takes: 'milliseconds above 0', is: value => typeof value === 'number' && value > 0 },
  oneOf: (...values: readonly string[]): StorageOption => ({
    takes: values.map(value => `\`${value}\``).join(' or '),
    is: value => values.includes(String(value)),
  }),
} as const satisfies Readonly<Record<string, StorageOption | ((...values: readonly string[]) => StorageOption)>>

/**
 * Checks the options of a storage at run time, for callers without a compiler. An undefined option is absent.
 *
 * @throws {TypeError} Names the option, what it got and what it takes.
 * @example checkStorageOptions('d1Storage', { timeout: 5 }, { timeoutMs: optionOf.milliseconds }) // There is no option `timeout`. …
 */
export function checkStorageOptions(call: string, options: unknown, table: Readonly<Record<string, StorageOption>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${call}: the argument is ${describe(options)}; it takes an object of options.`)
  const known = new Map(Object.entries(table))
  for (const name of Object.keys(options)) {
    if (!known.has(name)) throw new TypeError(`${call}: there is no option \`${name}\`.${hintFor(name, [...known.keys()])}`)
  }
  const given = new Map(Object.entries(options))
  for (const [name, option] of known) checkStorageArgument(`${call}: \`${name}\``, given.get(name), option)
}

/**
 * Checks one value; `place` starts the message.
 *
 * @throws {TypeError} The value is not valid for the option.
 */
export function checkStorageArgument(place: string, value: unknown, { takes, is, wayOut, isRequired = false }: StorageOption): void {
  if (value === undefined ? !isRequired : is(value)) return
  throw new TypeError(`${place} is ${describe(value)}; it takes ${takes}.${wayOut === undefined ? '' : ` ${wayOut}`}`)
}

function hintFor(name: string, known: readonly string[]): string {
  const wrong = name.toLowerCase()
  const nearest = known.find(each => each.toLowerCase().startsWith(wrong) || wrong.startsWith(each.toLowerCase()))
  return nearest === undefined ? ` There are ${known.map(each => `\`${each}\``).join(', ')}.` : ` Did you mean \`${nearest}\`?`
}

/** Whether an object has methods of these names. `hasMethods(env.DB, 'prepare', 'batch')` */
export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every(name => typeof Reflect.get(value, name) === 'function')

/** Names of Cloudflare bindings and storages, by the methods they have. */
const shapes: readonly (readonly [called: string, ...methods: string[]])[] = [
  ['a D1 database', 'prepare', 'batch'],
  ['a namespace of Durable Objects', 'idFromName', 'get'],
  ['a storage', 'ping', 'close'],
]

/** Describes a value in a message, without its content if that may be a secret. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return shapes.find(([, ...methods]) => hasMethods(value, ...methods))?.[0] ?? 'an object'
  return typeof value === 'string' ? 'a text' : typeof value === 'function' ? 'a function' : String(value)
}
