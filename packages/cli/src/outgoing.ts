import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { type NodeTransportOptions, type ProxyOptions, proxyFromEnvironment } from '@signalbox/node-http'
import type { Environment } from './environment.ts'
import { StartError, withoutPassword } from './fault.ts'
import type { Config } from './schema.ts'

/**
 * How calls leave this machine: through the proxies of the environment, with the certificates of the config.
 *
 * @throws {StartError} A proxy is not one of HTTP, or a file cannot be read.
 */
export function outgoingOptions(tls: Config['tls'], environment: Environment): Pick<NodeTransportOptions, 'proxy' | 'tls'> {
  const proxy = proxiesIn(environment)
  return { proxy, tls: tls === undefined ? undefined : readCertificates(tls) }
}

/** The proxies that the environment names. */
export function proxiesIn(environment: Environment): ProxyOptions | undefined {
  try {
    return proxyFromEnvironment(environment)
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

function readCertificates({ ca_file: ca, cert_file: cert, key_file: key }: NonNullable<Config['tls']>) {
  if ((cert === undefined) !== (key === undefined))
    throw new StartError('`tls.cert_file` and `tls.key_file` belong together: set both, or neither.')
  return {
    // Authorities of the config are added to the usual ones, which Node would otherwise replace by them.
    ca: ca === undefined ? undefined : [...rootCertificates, readPem('ca_file', ca)],
    cert: cert === undefined ? undefined : readPem('cert_file', cert),
    key: key === undefined ? undefined : readPem('key_file', key),
  }
}

function readPem(field: string, file: string): string {
  const text = readConfigured(field, file)
  if (text.includes('-----BEGIN ')) return text
  throw new StartError(`\`tls.${field}\` is ${JSON.stringify(file)}, which is not a PEM file: it must have \`-----BEGIN …-----\`.`)
}

function readConfigured(field: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`\`tls.${field}\` is ${JSON.stringify(file)}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** The proxies for the start message, without their passwords. */
export function shownProxy({ http, https = http, noProxy }: ProxyOptions): string {
  const named = [...new Set([https, http].flatMap(proxy => proxy ?? []))]
  const text = named.map(proxy => withoutPassword(proxy.includes('://') ? proxy : `http://${proxy}`)).join(', ')
  const only = https === undefined ? ' for http: only' : named.length > 1 ? ' (https, http)' : ''
  return `${text}${only}${noProxy === undefined ? '' : `, not for ${noProxy}`}`
}
