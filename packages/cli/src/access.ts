import { type Environment, settingOf } from './environment.ts'
import { StartError } from './fault.ts'

// The config fields that reach a provider, and the environment variables for them.

/** The access fields, with what each holds for messages. */
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
  /** The fields that it takes, each with its variables; the first that is set counts. */
  readonly fields: Readonly<Partial<Record<AccessField, readonly string[]>>>
  /**
   * The methods of authentication: all fields of one of them turn the provider on. The first field of each signals that it is meant,
   * so that a message can name what is missing beside it.
   */
  readonly ways: readonly (readonly [sign: AccessField, ...rest: AccessField[]])[]
}

const isField = (name: string): name is AccessField => Object.hasOwn(accessFields, name)
export const fieldsOf = ({ fields }: ProviderAccess): readonly AccessField[] => Object.keys(fields).filter(isField)

/** The access fields from the config, else from the environment. */
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

/** An incomplete method: the field that signals it, and one that is missing. */
export interface IncompleteAccess {
  readonly sign: AccessField
  readonly missing: AccessField
}

export const isOn = ({ ways }: ProviderAccess, access: Access): boolean => ways.some(way => way.every(field => access[field] !== undefined))

/** Undefined if no method was begun. */
export function incompleteAccess({ ways }: ProviderAccess, access: Access): IncompleteAccess | undefined {
  for (const way of ways) {
    const missing = way.find(field => access[field] === undefined)
    if (missing !== undefined && access[way[0]] !== undefined) return { sign: way[0], missing }
  }
  return undefined
}

/** The variable that sets a field, if one does. */
export const variableOf = (row: ProviderAccess, field: AccessField, environment: Environment): string | undefined =>
  row.fields[field]?.find(name => settingOf(environment, name) !== undefined)

function fromVariable(row: ProviderAccess, field: AccessField, environment: Environment): string | undefined {
  const variable = variableOf(row, field, environment)
  return variable === undefined ? undefined : credentialIn(environment, variable, field)
}

/** The value of a variable, checked to fit into a header or a URL; a file name may hold anything. */
export function credentialIn(environment: Environment, variable: string, field: AccessField = 'api_key'): string | undefined {
  const value = settingOf(environment, variable)
  if (value === undefined || field === 'credentials_file' || /^[\x21-\x7e]+$/.test(value)) return value
  throw new StartError(`${variable} is not a valid header value; it takes visible ASCII characters without spaces.`)
}
