import { type Environment, settingOf } from './environment.ts'
import { StartError } from './fault.ts'

// What it takes to reach a provider, by the names of the fields in the config, and the variables that say the same.

/** Each field with what it holds, for messages about it. */
export const holds = {
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
} as const

export type Field = keyof typeof holds
export type Access = Readonly<Partial<Record<Field, string>>>

export interface Reachable {
  /** The fields that it takes, each with the variables that say the same; the first that is set counts. */
  readonly fields: Readonly<Partial<Record<Field, readonly string[]>>>
  /**
   * What turns it on: all fields of one of these. The first field of each is the sign that it is meant, so that whoever gave that
   * one hears what else is missing.
   */
  readonly ways: readonly (readonly [sign: Field, ...rest: Field[]])[]
}

const isField = (name: string): name is Field => name in holds
export const fieldsOf = ({ fields }: Reachable): readonly Field[] => Object.keys(fields).filter(isField)

/** What the config says, else the environment. */
export function accessOf(row: Reachable, listed: Readonly<Partial<Record<Field, string | undefined>>>, environment: Environment): Access {
  return Object.fromEntries(
    fieldsOf(row).flatMap(field => {
      const value = listed[field] ?? inEnvironment(row, field, environment)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

/** Why it is not on: what is there, and what is missing beside it. */
export interface Half {
  readonly sign: Field
  readonly missing: Field
}

export const isOn = ({ ways }: Reachable, access: Access): boolean => ways.some(way => way.every(field => access[field] !== undefined))

/** Nothing where nobody meant it. */
export function halfOf({ ways }: Reachable, access: Access): Half | undefined {
  for (const way of ways) {
    const missing = way.find(field => access[field] === undefined)
    if (missing !== undefined && access[way[0]] !== undefined) return { sign: way[0], missing }
  }
  return undefined
}

/** The variable that says a field, if one does. */
export const variableOf = (row: Reachable, field: Field, environment: Environment): string | undefined =>
  row.fields[field]?.find(name => settingOf(environment, name) !== undefined)

function inEnvironment(row: Reachable, field: Field, environment: Environment): string | undefined {
  const variable = variableOf(row, field, environment)
  return variable === undefined ? undefined : credentialIn(environment, variable, field)
}

/** What travels in a header or an address; a file may be called as it likes. */
export function credentialIn(environment: Environment, variable: string, field: Field = 'api_key'): string | undefined {
  const value = settingOf(environment, variable)
  if (value === undefined || field === 'credentials_file' || /^[\x21-\x7e]+$/.test(value)) return value
  throw new StartError(`${variable} holds something that no header can carry; it takes visible ASCII characters without spaces.`)
}
