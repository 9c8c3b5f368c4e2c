import { type Provider, wireNameOf } from '@signalbox/dialects/protocol'
import { compatible } from '@signalbox/providers'
import {
  type Access,
  type AccessField,
  accessFields,
  accessOf,
  apiKeysIn,
  credentialIn,
  fieldsOf,
  incompleteAccess,
  isOn,
  variableOf,
} from './access.ts'
import { type BuiltIn, builtIns } from './built-in.ts'
import type { Environment } from './environment.ts'
import { invalidField, StartError } from './fault.ts'
import type { Config } from './schema.ts'

/** The enabled providers. */
export interface ProviderSetup {
  readonly providers: readonly Provider[]
  /** Notices for the operator, one line each. */
  readonly notices: readonly string[]
}

type ProviderConfig = Config['providers'][number]

/** The providers in the config, then every built-in one whose credential is in the environment. */
export function providersOf({ providers }: Pick<Config, 'providers'>, environment: Environment): ProviderSetup {
  const ids = providers.map(({ id }) => id)
  for (const [at, id] of ids.entries())
    if (ids.indexOf(id) !== at) throw invalidField(`providers[${at}].id`, id, 'an id that no other provider has')
  const found = builtIns.filter(({ id }) => !ids.includes(id)).map(row => fromEnvironment(row, environment))
  return {
    providers: [
      ...providers.map((listed, index) => fromConfig(listed, { field: `providers[${index}]`, environment })),
      ...found.flatMap(({ provider }) => provider ?? []),
    ],
    notices: found.flatMap(({ notice }) => notice ?? []),
  }
}

function fromEnvironment(row: BuiltIn, environment: Environment): { readonly provider?: Provider; readonly notice?: string } {
  const access = accessOf(row, {}, environment)
  if (isOn(row, access)) return { provider: checkedProvider(() => row.make(access), row.id) }
  const incomplete = incompleteAccess(row, access)
  if (!incomplete) return {}
  const variable = variableOf(row, incomplete.startedBy, environment)
  return { notice: `${row.id} stays disabled: ${variable} is set, but ${row.fields[incomplete.missing]?.join(' or ')} is not.` }
}

interface ConfigContext {
  readonly field: string
  readonly environment: Environment
}

function fromConfig(listed: ProviderConfig, context: ConfigContext): Provider {
  const { speaks, data_policy, provider_storage: providerStorage, unpriced_tools: unpricedTools } = listed
  if (speaks?.length === 0) throw invalidField(`${context.field}.speaks`, [], 'at least one of responses, chat, messages, gemini, bedrock')
  const row = builtIns.find(({ id }) => id === listed.id)
  const made = row ? builtIn(row, listed, context) : customProvider(listed, context)
  return {
    ...made,
    ...(data_policy !== undefined && { dataPolicy: data_policy }),
    ...(providerStorage && { providerStorage }),
    ...(unpricedTools && { unpricedTools }),
  }
}

function customProvider({ id, speaks, base_url, ...listed }: ProviderConfig, context: ConfigContext): Provider {
  const { field } = context
  const foreign = accessFieldsIn(listed).find(each => each !== 'api_key')
  if (foreign !== undefined) throw fieldOfOtherProviders(`${field}.${foreign}`, id, ['speaks', 'base_url', 'api_key'])
  if (base_url === undefined) throw invalidField(`${field}.base_url`, undefined, `a URL, because "${id}" is not built in`)
  const apiKey = apiKeyOf(listed, context)
  return checkedProvider(
    () => compatible({ id, baseURL: base_url, apiKey: apiKey === undefined ? undefined : apiKeysIn(apiKey), apis: speaks }),
    field,
  )
}

function builtIn(row: BuiltIn, listed: ProviderConfig, context: ConfigContext): Provider {
  const { field } = context
  const foreign = accessFieldsIn(listed).find(each => !fieldsOf(row).includes(each))
  if (foreign !== undefined) throw fieldOfOtherProviders(`${field}.${foreign}`, row.id, fieldsOf(row))
  const known = accessOf(row, { ...listed, api_key: apiKeyOf(listed, context) }, context.environment)
  const isElsewhere = listed.base_url !== undefined
  if (!isOn(row, known) && !isElsewhere && !row.needsNoAccess) throw missingAccess(row, known, field)
  // A server at a custom URL may need no key.
  const access = isElsewhere && known.api_key === undefined ? { ...known, api_key: '' } : known
  return withDialects(
    checkedProvider(() => row.make(access), field),
    { listed, access, context },
  )
}

/** Limits a provider to the configured dialects. With dialects that it does not have, it becomes a compatible server at `base_url`. */
function withDialects(
  made: Provider,
  { listed, access, context }: { readonly listed: ProviderConfig; readonly access: Access; readonly context: ConfigContext },
): Provider {
  const { speaks, base_url } = listed
  if (!speaks) return made
  const spoken = made.dialects.map(({ name }) => name)
  const at = speaks.findIndex(name => !spoken.includes(name))
  if (at === -1) return { ...made, dialects: made.dialects.filter(({ name }) => speaks.some(each => each === name)) }
  if (base_url === undefined)
    throw invalidField(`${context.field}.speaks[${at}]`, speaks[at], `a dialect of "${made.id}": ${spoken.join(', ')}`)
  const { id, quirks, dataPolicy } = made
  const { api_key: apiKey } = access
  return compatible({
    id,
    baseURL: base_url,
    apis: speaks,
    apiKey: apiKey === undefined ? undefined : apiKeysIn(apiKey),
    quirks,
    dataPolicy,
  })
}

/** The access fields that the config sets. */
const accessFieldsIn = (listed: Partial<ProviderConfig>): readonly AccessField[] =>
  (Object.keys(accessFields) as AccessField[]).filter(field => listed[field] !== undefined)

const fieldOfOtherProviders = (field: string, id: string, takes: readonly string[]): StartError =>
  new StartError(`\`${field}\` is for other providers; "${id}" takes ${takes.join(', ')}.`)

/** The error of incomplete credentials: the first missing field of the first partial method. */
function missingAccess({ id, methods, fields }: BuiltIn, access: Access, path: string): StartError {
  const way = methods.find(each => each.some(field => access[field] !== undefined)) ?? methods[0] ?? []
  const field = way.find(each => access[each] === undefined) ?? 'api_key'
  const variables = fields[field] ?? []
  const also = variables.length === 0 ? '' : `, which may also be in ${variables.join(' or ')}`
  return invalidField(`${path}.${field}`, undefined, `${accessFields[field]} of "${id}"${also}`)
}

/** Makes a provider and builds its URLs once, so that an invalid value is detected now instead of by the first request. */
function checkedProvider(make: () => Provider, context: string): Provider {
  try {
    const provider = make()
    const { credential, dialects } = provider
    if (credential) for (const { name: dialect } of dialects) provider.endpoint({ api: dialect, model: 'model', stream: false, credential })
    return provider
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const message = inConfigNames(error.message)
    throw new StartError(message.startsWith(`${context}: `) ? message : `${context}: ${message}`)
  }
}

/** Options as the config spells them: `baseURL` is its `base_url`. */
const inConfigNames = (message: string): string => message.replace(/(?<=`)[a-zA-Z]+(?=`)/g, name => wireNameOf(name))

function apiKeyOf(
  { api_key, api_key_env }: Pick<ProviderConfig, 'api_key' | 'api_key_env'>,
  { field, environment }: ConfigContext,
): string | undefined {
  if (api_key !== undefined && api_key_env !== undefined) {
    throw new StartError(`\`${field}\` has \`api_key\` and \`api_key_env\`; it takes one of them.`)
  }
  if (api_key_env === undefined) return typeof api_key === 'string' ? api_key : api_key?.join()
  const key = credentialIn(environment, api_key_env)
  if (key === undefined) throw new StartError(`\`${field}.api_key_env\` is "${api_key_env}", and no such variable is set.`)
  return key
}
