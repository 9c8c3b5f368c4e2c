import type { Provider } from '@signalbox/core/protocol'
import { compatible, type Spoken } from '@signalbox/core/providers'
import { type Access, accessOf, credentialIn, type Field, fieldsOf, halfOf, holds, isOn, variableOf } from './access.ts'
import { type BuiltIn, builtIns } from './built-in.ts'
import type { Environment } from './environment.ts'
import { StartError, wrong } from './fault.ts'
import type { Config } from './schema.ts'

export interface ProvidersOn {
  readonly providers: readonly Provider[]
  /** What the operator should hear, one line each. */
  readonly notices: readonly string[]
}

type Listed = Config['providers'][number]

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
    notices: found.flatMap(({ notice }) => notice ?? []),
  }
}

interface Found {
  readonly provider?: Provider
  readonly notice?: string
}

function fromEnvironment(row: BuiltIn, environment: Environment): Found {
  const access = accessOf(row, {}, environment)
  if (isOn(row, access)) return { provider: sound(row.make(access), row.id) }
  const half = halfOf(row, access)
  if (!half) return {}
  const sign = variableOf(row, half.sign, environment)
  return { notice: `${row.id} stays off: ${sign} is set, but ${row.fields[half.missing]?.join(' or ')} is not.` }
}

interface Place {
  readonly field: string
  readonly environment: Environment
}

function fromConfig(listed: Listed, place: Place): Provider {
  const { speaks, data_policy } = listed
  if (speaks?.length === 0) throw wrong(`${place.field}.speaks`, [], 'at least one of responses, chat, messages, gemini, bedrock')
  const row = builtIns.find(({ id }) => id === listed.id)
  const made = row ? builtIn(row, listed, place) : stranger(listed, place)
  return data_policy === undefined ? made : { ...made, data_policy }
}

function stranger({ id, speaks, base_url, ...listed }: Listed, place: Place): Provider {
  const { field } = place
  const foreign = given(listed).find(each => each !== 'api_key')
  if (foreign !== undefined) throw unasked(`${field}.${foreign}`, id, ['speaks', 'base_url', 'api_key'])
  if (base_url === undefined) throw wrong(`${field}.base_url`, undefined, `an address, since "${id}" is not built in`)
  const apiKey = keyOf(listed, place)
  return compatible({ id, baseUrl: base_url, ...(apiKey !== undefined && { apiKey }), ...(speaks && { speaks }) })
}

function builtIn(row: BuiltIn, listed: Listed, place: Place): Provider {
  const { field } = place
  const foreign = given(listed).find(each => !fieldsOf(row).includes(each))
  if (foreign !== undefined) throw unasked(`${field}.${foreign}`, row.id, fieldsOf(row))
  const known = accessOf(row, { ...listed, api_key: keyOf(listed, place) }, place.environment)
  const isElsewhere = listed.base_url !== undefined
  if (!isOn(row, known) && !isElsewhere && !row.asksNothing) throw lacking(row, known, field)
  // Behind an address of one's own anything may stand, also something that asks for no key.
  const access = isElsewhere && known.api_key === undefined ? { ...known, api_key: '' } : known
  return speaking(sound(row.make(access), field), { listed, access, place })
}

/** A provider that speaks more or other languages at another address is any server that does. */
function speaking(
  made: Provider,
  { listed, access, place }: { readonly listed: Listed; readonly access: Access; readonly place: Place },
): Provider {
  const { speaks, base_url } = listed
  if (!speaks) return made
  const spoken = made.dialects.map(({ name }) => name)
  const at = speaks.findIndex(name => !spoken.includes(name))
  if (at === -1) return { ...made, dialects: made.dialects.filter(({ name }) => isSpoken(speaks, name)) }
  if (base_url === undefined) throw wrong(`${place.field}.speaks[${at}]`, speaks[at], `what "${made.id}" speaks: ${spoken.join(', ')}`)
  const { id, quirks, data_policy } = made
  const { api_key: apiKey } = access
  return compatible({
    id,
    baseUrl: base_url,
    speaks,
    ...(apiKey !== undefined && { apiKey }),
    ...(quirks && { quirks }),
    ...(data_policy !== undefined && { data_policy }),
  })
}

const isSpoken = (speaks: readonly Spoken[], name: string): boolean => speaks.some(each => each === name)

/** The fields of access that the config names. */
const given = (listed: Partial<Listed>): readonly Field[] => (Object.keys(holds) as Field[]).filter(field => listed[field] !== undefined)

const unasked = (field: string, id: string, takes: readonly string[]): StartError =>
  new StartError(`\`${field}\` is for other providers; "${id}" takes ${takes.join(', ')}.`)

/** The first way that somebody began to go. */
function lacking({ id, ways, fields }: BuiltIn, access: Access, place: string): StartError {
  const way = ways.find(each => each.some(field => access[field] !== undefined)) ?? ways[0] ?? []
  const field = way.find(each => access[each] === undefined) ?? 'api_key'
  const variables = fields[field] ?? []
  const also = variables.length === 0 ? '' : `, which may also be in ${variables.join(' or ')}`
  return wrong(`${place}.${field}`, undefined, `${holds[field]} of "${id}"${also}`)
}

/** A name that cannot stand in an address is found now, and not by the first caller. */
function sound(provider: Provider, place: string): Provider {
  const { credential, dialects } = provider
  if (!credential) return provider
  try {
    for (const { name: dialect } of dialects) provider.endpoint({ dialect, model: 'model', stream: false, credential })
  } catch (error) {
    if (error instanceof TypeError) throw new StartError(`${place}: ${error.message}`)
    throw error
  }
  return provider
}

function keyOf({ api_key, api_key_env }: Pick<Listed, 'api_key' | 'api_key_env'>, { field, environment }: Place): string | undefined {
  if (api_key !== undefined && api_key_env !== undefined) {
    throw new StartError(`\`${field}\` has \`api_key\` and \`api_key_env\`; it takes one of them.`)
  }
  if (api_key_env === undefined) return api_key
  const key = credentialIn(environment, api_key_env)
  if (key === undefined) throw new StartError(`\`${field}.api_key_env\` is "${api_key_env}", and no such variable is set.`)
  return key
}
