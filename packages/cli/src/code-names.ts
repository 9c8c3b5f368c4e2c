import { type CodeNameOf, codeNameOf } from '@signalbox/core/protocol'

/** A section of the config with the names that its fields have in code. */
export type CodeNames<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value as CodeNameOf<Name>]: CodeNames<Value[Name]> }
    : Value

/**
 * A section of the config with the names that its fields have in code. Lists are left as they are.
 *
 * @example withCodeNames({ first_byte_ms: 1_000 }) // { firstByteMs: 1_000 }
 */
export const withCodeNames = <Section extends object>(section: Section): CodeNames<Section> =>
  Object.fromEntries(
    Object.entries(section).map(([name, value]) => [codeNameOf(name), isSection(value) ? withCodeNames(value) : value]),
  ) as never

const isSection = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
