/**
 * Names that are not the snake case of their name in code: those of an offer in config files, catalog files and HTTP bodies, and those
 * with an acronym or a digit.
 */
const differing = [
  ['model', 'provider_model_id'],
  ['api', 'dialect'],
  ['apis', 'speaks'],
  ['baseURL', 'base_url'],
  ['docsURL', 'docs_url'],
  ['mantleURL', 'mantle_url'],
  ['cacheWrite1h', 'cache_write_1h'],
] as const satisfies readonly (readonly [code: string, wire: string])[]

const wireNames: ReadonlyMap<string, string> = new Map(differing)
const codeNames: ReadonlyMap<string, string> = new Map(differing.map(([code, wire]) => [wire, code]))

type DifferingNames = { readonly [Pair in (typeof differing)[number] as Pair[1]]: Pair[0] }

/** A section of a file with the names that its fields have in code. */
export type CodeNames<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value as CodeNameOf<Name>]: CodeNames<Value[Name]> }
    : Value

type CodeNameOf<Wire> = Wire extends keyof DifferingNames ? DifferingNames[Wire] : CamelCase<Wire>

type CamelCase<Name> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : Name extends string
    ? Name
    : never

/** Fields whose values have names of others, in code and in files: body fields of a provider, and kinds of tools. */
const foreign: ReadonlySet<string> = new Set(['fixedFields', 'fixed_fields', 'thinkingSwitch', 'thinking_switch', 'tools'])

/**
 * The name that a field of a model, an offer, a price or a provider has in files and HTTP bodies.
 *
 * @example wireNameOf('contextWindow') // 'context_window'
 * @example wireNameOf('model') // 'provider_model_id'
 */
export const wireNameOf = (name: string): string => wireNames.get(name) ?? name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/**
 * The name in code of a field of files and HTTP bodies: `wireNameOf` backwards.
 *
 * @example codeNameOf('context_window') // 'contextWindow'
 */
export const codeNameOf = (name: string): string =>
  codeNames.get(name) ?? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * Models, offers, prices or provider facts as files have them: with the names of files at every depth.
 *
 * @example withWireNames({ contextWindow: 8192, price: { cacheWrite: 1 } }) // { context_window: 8192, price: { cache_write: 1 } }
 */
export const withWireNames = (value: unknown): unknown => renamed(value, wireNameOf)

/**
 * A section of a file with the names that its fields have in code, at every depth.
 *
 * @example withCodeNames({ first_byte_ms: 1_000 }) // { firstByteMs: 1_000 }
 */
export const withCodeNames = <Section extends object>(section: Section): CodeNames<Section> => renamed(section, codeNameOf) as never

function renamed(value: unknown, nameOf: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map(each => renamed(each, nameOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [nameOf(name), foreign.has(name) ? field : renamed(field, nameOf)]),
  )
}
