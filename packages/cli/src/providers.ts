import type { Provider } from '@signalbox/core/protocol'
import { compatible } from '@signalbox/core/providers'
import { type BuiltIn, builtIns, unspoken } from './built-in.ts'
import { type Environment, settingOf } from './environment.ts'
import { StartError, wrong } from './fault.ts'
import type { Config } from './schema.ts'

export interface ProvidersOn {
  readonly providers: readonly Provider[]
  /** What the operator should hear, one line each. */
  readonly notices: readonly string[]
}

type Listed = Config['providers'][number]
type Spoken = BuiltIn['speaks'][number]

const spoken: readonly string[] = ['responses', 'chat'] satisfies readonly Spoken[]
const isSpoken = (dialect: string): dialect is Spoken => spoken.includes(dialect)
export const spokenHere = 'this version speaks responses and chat'

/** Whom to call: first those that the config lists, then every built-in one whose credential is in the environment. */
export function providersOf({ providers }: Pick<Config, 'providers'>, environment: Environment): ProvidersOn {
  const ids = providers.map(({ id }) => id)
  for (const [at, id] of ids.entries())
    if (ids.indexOf(id) !== at) throw wrong(`providers[${at}].id`, id, 'an id that no other provider has')
  const found = builtIns.filter(({ id }) => !ids.includes(id)).map(row => fromEnvironment(row, environment))
  return {
    providers: [
      ...providers.map((listed, at) => fromConfig(listed, { field: `providers[${at}]`, environment })),
      ...found.flatMap(({ provider }) => provider ?? []),
    ],
    notices: [
      ...found.flatMap(({ notice }) => notice ?? []),
      ...unspoken.flatMap(({ id, variables, language }) => {
        const variable = variables.find(name => settingOf(environment, name) !== undefined)
        if (variable === undefined || ids.includes(id)) return []
        return [`${id} stays off, though ${variable} is set: ${spokenHere}, and not yet ${language}.`]
      }),
    ],
  }
}

interface Place {
  readonly field: string
  readonly environment: Environment
}

function fromConfig(listed: Listed, place: Place): Provider {
  const { id, base_url } = listed
  const { field } = place
  const stranger = unspoken.find(row => row.id === id)
  if (stranger && (base_url === undefined || listed.speaks === undefined)) {
    throw new StartError(`\`${field}.id\` is "${id}", which speaks ${stranger.language}; ${spokenHere}, and cannot call it yet.`)
  }
  const speaks = listed.speaks?.map((dialect, at) => {
    if (isSpoken(dialect)) return dialect
    throw new StartError(`\`${field}.speaks[${at}]\` is "${dialect}"; ${spokenHere}, and not yet that.`)
  })
  if (speaks?.length === 0) throw wrong(`${field}.speaks`, [], `at least one of ${spoken.join(', ')}`)
  const row = builtIns.find(known => known.id === id)
  const baseUrl = base_url ?? (row && filled(row, place.environment))
  if (typeof baseUrl !== 'string') {
    const missing = baseUrl ? `set ${baseUrl.missing}, or give its address` : `an address, since "${id}" is not built in`
    throw wrong(`${field}.base_url`, undefined, missing)
  }
  return build(row ?? { id, variables: [], baseUrl, speaks: ['chat'] }, {
    apiKey: keyOf(listed, row, place) ?? '',
    baseUrl,
    ...(speaks && { speaks }),
    ...(listed.data_policy !== undefined && { data_policy: listed.data_policy }),
  })
}

function keyOf(
  { id, api_key, api_key_env, base_url }: Listed,
  row: BuiltIn | undefined,
  { field, environment }: Place,
): string | undefined {
  if (api_key !== undefined && api_key_env !== undefined) {
    throw new StartError(`\`${field}\` has \`api_key\` and \`api_key_env\`; it takes one of them.`)
  }
  if (api_key_env !== undefined) {
    const key = credentialIn(environment, api_key_env)
    if (key === undefined) throw new StartError(`\`${field}.api_key_env\` is "${api_key_env}", and no such variable is set.`)
    return key
  }
  const key = api_key ?? firstKey(row, environment)
  if (key === undefined && row && row.variables.length > 0 && base_url === undefined) {
    throw wrong(`${field}.api_key`, undefined, `the key of "${id}", which may also be in ${row.variables.join(' or ')}`)
  }
  return key
}

interface Found {
  readonly provider?: Provider
  readonly notice?: string
}

function fromEnvironment(row: BuiltIn, environment: Environment): Found {
  const apiKey = firstKey(row, environment)
  if (apiKey === undefined) return {}
  const baseUrl = filled(row, environment)
  if (typeof baseUrl === 'string') return { provider: build(row, { apiKey, baseUrl }) }
  return { notice: `${row.id} stays off: ${row.variables.join(', ')} is set, but ${baseUrl.missing} is not.` }
}

const firstKey = (row: BuiltIn | undefined, environment: Environment): string | undefined =>
  row?.variables.map(variable => credentialIn(environment, variable)).find(key => key !== undefined)

function credentialIn(environment: Environment, variable: string): string | undefined {
  const key = settingOf(environment, variable)
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key
  throw new StartError(`${variable} holds something that no header can carry; it takes visible ASCII characters without spaces.`)
}

/** The address of a row with its variables filled in, or the first of them that is not set. */
function filled({ baseUrl }: BuiltIn, environment: Environment): string | { readonly missing: string } {
  const missing = [...baseUrl.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) =>
    settingOf(environment, name) === undefined ? [name] : [],
  )[0]
  if (missing !== undefined) return { missing }
  return baseUrl.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(settingOf(environment, name) ?? ''))
}

interface Access {
  readonly apiKey: string
  readonly baseUrl: string
  readonly speaks?: readonly Spoken[]
  readonly data_policy?: string
}

function build(row: BuiltIn, { apiKey, baseUrl, speaks = row.speaks, data_policy = row.data_policy }: Access): Provider {
  const { id, quirks, make } = row
  const policy = data_policy === undefined ? {} : { data_policy }
  if (!make) return compatible({ id, baseUrl, apiKey, speaks, ...policy, ...(quirks && { quirks }) })
  const made = make({ apiKey, baseUrl })
  return { ...made, ...policy, dialects: made.dialects.filter(({ name }) => speaks.some(spoken => spoken === name)) }
}
