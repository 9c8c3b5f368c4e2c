import { type Environment, settingOf } from './environment.ts'
import { StartError } from './fault.ts'

// The config fields that give access to a provider, and their environment variables.

/** The access fields, with a description of each for messages. */
export const accessFields = {
  api_key: 'the key',
  base_url: 'the address',
  region: 'the AWS region',
  access_key_id: 'the access key id',
  secret_access_key: 'the secret access key',
  session_token: 'the session token',
  resource: 'the name of the resource',
  project: 'the project',
  location: 'the location',
  credentials_file: 'the file with the service account’s key',
  account_id: 'the account id',
  workspace: 'the id of the workspace',
} as const

export type AccessField = keyof typeof accessFields
export type Access = Readonly<Partial<Record<AccessField, string>>>

/** How a provider can be configured. */
export interface ProviderAccess {
  /** The fields it takes, each with its variables; the first one that is set is used. */
  readonly fields: Readonly<Partial<Record<AccessField, readonly string[]>>>
  /**
   * The authentication methods: all fields of one of them enable the provider. The first field of a method signals the intent to use it, so
   * that a message can name what is missing.
   */
  readonly methods: readonly (readonly [first: AccessField, ...rest: AccessField[]])[]
}

const isField = (name: string): name is AccessField => Object.hasOwn(accessFields, name)
export const fieldsOf = ({ fields }: ProviderAccess): readonly AccessField[] => Object.keys(fields).filter(isField)

/** The access fields, from the config or else from the environment. */
export function accessOf(
  row: ProviderAccess,
  listed: Readonly<Partial<Record<AccessField, string | undefined>>>,
  environment: Environment,
): Access {
  return Object.fromEntries(
    fieldsOf(row).flatMap(field => {
      const value = listed[field] ?? fromVariable(row, field, environment)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

/** An incomplete method: the field that signals it, and a missing one. */
export interface IncompleteAccess {
  readonly startedBy: AccessField
  readonly missing: AccessField
}

export const isOn = ({ methods }: ProviderAccess, access: Access): boolean =>
  methods.some(method => method.every(field => access[field] !== undefined))

/** Undefined if no method was started. */
export function incompleteAccess({ methods }: ProviderAccess, access: Access): IncompleteAccess | undefined {
  for (const method of methods) {
    const missing = method.find(field => access[field] === undefined)
    if (missing !== undefined && access[method[0]] !== undefined) return { startedBy: method[0], missing }
  }
  return undefined
}

/** The variable that sets a field, if any. */
export const variableOf = (row: ProviderAccess, field: AccessField, environment: Environment): string | undefined =>
  row.fields[field]?.find(name => settingOf(environment, name) !== undefined)

function fromVariable(row: ProviderAccess, field: AccessField, environment: Environment): string | undefined {
  const variable = variableOf(row, field, environment)
  return variable === undefined ? undefined : credentialIn(environment, variable, field)
}

/** The keys of different accounts in `api_key`, which are separated by commas: a string if there is one. */
export function apiKeysIn(apiKey: string): string | readonly string[] {
  return apiKey.includes(',') ? apiKey.split(',').filter(key => key !== '') : apiKey
}

/** The value of a variable, checked to be valid in a header or URL; a file name may contain anything. */
export function credentialIn(environment: Environment, variable: string, field: AccessField = 'api_key'): string | undefined {
  const value = settingOf(environment, variable)
  if (value === undefined || field === 'credentials_file' || /^[\x21-\x7e]+$/.test(value)) return value
  throw new StartError(`${variable} is not a valid header value; it takes visible ASCII characters without spaces.`)
}
