/** The variables of the process, handed in so that a test can hold them. */
export type Environment = Readonly<Record<string, string | undefined>>

interface Override {
  readonly variable: string
  readonly field: string
  readonly read?: (text: string) => unknown
}

const overrides: readonly Override[] = [
  // What is no number stays a text, so that the schema can say what it takes.
  { variable: 'PORT', field: 'port', read: text => (/^\d+$/.test(text) ? Number(text) : text) },
  { variable: 'HOST', field: 'host' },
  { variable: 'SIGNALBOX_STORAGE', field: 'storage' },
  { variable: 'SIGNALBOX_REDIS', field: 'redis' },
  { variable: 'SIGNALBOX_ADMIN_KEY', field: 'admin_key' },
  { variable: 'SIGNALBOX_SEALING_KEY', field: 'sealing_key' },
]

/** A variable's value; one that is set to nothing is not set. */
export function settingOf(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim()
  return value === '' ? undefined : value
}

/** The fields that variables decide, by field: the value, and which variable said it. */
export function overriding(environment: Environment): ReadonlyMap<string, { readonly variable: string; readonly value: unknown }> {
  return new Map(
    overrides.flatMap(({ variable, field, read = text => text }) => {
      const text = settingOf(environment, variable)
      return text === undefined ? [] : [[field, { variable, value: read(text) }] as const]
    }),
  )
}
