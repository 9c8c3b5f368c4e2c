import { readFileSync } from 'node:fs'
import type { VertexOptions } from '@signalbox/providers'
import { StartError } from './fault.ts'

type ServiceAccount = NonNullable<VertexOptions['serviceAccount']>

/** Reads the JSON key of a Google service account. Messages never quote it. */
export function readServiceAccount(file: string): ServiceAccount {
  const key = parseJson(readKeyFile(file))
  if (isServiceAccount(key)) return key
  throw new StartError(`The file ${file} is not a service account key: it must be JSON with \`client_email\` and \`private_key\`.`)
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`The key of the service account ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isServiceAccount(key: unknown): key is ServiceAccount {
  if (typeof key !== 'object' || key === null) return false
  const { client_email, private_key }: Partial<Record<keyof ServiceAccount, unknown>> = key
  return typeof client_email === 'string' && typeof private_key === 'string'
}
