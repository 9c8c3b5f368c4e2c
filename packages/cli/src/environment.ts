import { inQuotes, isQuoted } from '@signalbox/storage/option-table'
import { StartError } from './fault.ts'

/** The environment variables of the process, passed in for tests. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Command line flags that set config fields, without their dashes. */
export type Flags = Readonly<Record<string, string | undefined>>

interface Override {
  readonly variable: string
  readonly flag?: string
  /** A field of the config, or of one of its sections: `timeouts.shutdown_ms`. */
  readonly field: string
  readonly read?: (text: string) => unknown
}

// Other text is unchanged, so that the schema reports what the field takes.
const digits = (text: string): unknown => (/^\d+$/.test(text) ? Number(text) : text)

/** The variables and flags that set config fields. */
export const overridingVariables: readonly Override[] = [
  { variable: 'PORT', field: 'port', read: digits },
  { variable: 'HOST', field: 'host' },
  { variable: 'SIGNALBOX_STORAGE', field: 'storage' },
  { variable: 'SIGNALBOX_WORKERS', flag: 'workers', field: 'workers', read: digits },
  { variable: 'SIGNALBOX_REDIS', field: 'redis' },
  { variable: 'SIGNALBOX_SHUTDOWN_MS', field: 'timeouts.shutdown_ms', read: digits },
  { variable: 'SIGNALBOX_KEEP_ALIVE_TIMEOUT_MS', field: 'timeouts.keep_alive_timeout_ms', read: digits },
  { variable: 'SIGNALBOX_ADMIN_KEY', field: 'admin_key' },
  { variable: 'SIGNALBOX_SEALING_KEY', field: 'sealing_key' },
]

/**
 * The value of a variable; an empty one counts as unset.
 *
 * @throws {StartError} The value is in quotes.
 */
export function settingOf(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim()
  if (isQuoted(value)) throw new StartError(`${variable} ${inQuotes}`)
  return value === '' ? undefined : value
}

/** The config file's content with the values of variables and flags in place of its own. */
export function withOverrides(raw: Readonly<Record<string, unknown>>, overrides: ReadonlyMap<string, OverrideValue>) {
  const result: Record<string, unknown> = { ...raw }
  for (const [field, { value }] of overrides) {
    const [name = '', inner] = field.split('.')
    result[name] = inner === undefined ? value : { ...(result[name] as object | undefined), [inner]: value }
  }
  return result
}

/** A value from outside the config file, and the variable or flag that set it. */
export interface OverrideValue {
  readonly source: string
  readonly value: unknown
}

/** The config fields that variables and flags set. Flags take precedence. */
export function overridesIn(environment: Environment, flags: Flags): ReadonlyMap<string, OverrideValue> {
  return new Map(
    overridingVariables.flatMap(({ variable, flag, field, read = text => text }) => {
      const given = flag === undefined ? undefined : flags[flag]
      const text = given ?? settingOf(environment, variable)
      return text === undefined ? [] : [[field, { source: given === undefined ? variable : `--${flag}`, value: read(text) }] as const]
    }),
  )
}
