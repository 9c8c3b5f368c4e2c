import { isIPv6 } from 'node:net'
import type { Model, Provider } from '@signalbox/core/protocol'

export interface Announcement {
  readonly version: string
  readonly host: string
  readonly port: number
  readonly providers: readonly Provider[]
  readonly models: readonly Model[]
  readonly simulated: boolean
  readonly storage: string
  /** The sealing key's file, if it was made just now. */
  readonly sealingKeyFile: string | undefined
  /** The admin key, if it was made just now. */
  readonly secret: string | undefined
  readonly notices: readonly string[]
}

const most = 8
const some = (names: readonly string[]): string =>
  names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ') || 'none'

/** What the server says once it listens. */
export function announce(it: Announcement): string {
  const url = addressOf(it.host, it.port)
  const off = 'No provider is on: set a key such as OPENAI_API_KEY, or list `providers` in signalbox.config.json.'
  return [
    `Signalbox ${it.version} listens on ${url}`,
    ...(it.simulated ? [off, 'Until then simulated providers answer, offline and for play money.'] : []),
    `providers: ${some(it.providers.map(({ id }) => id))}`,
    `models:    ${some(it.models.map(({ id }) => id))}`,
    `storage:   ${it.storage}${it.sealingKeyFile === undefined ? '' : `; its sealing key is in ${it.sealingKeyFile} (back up both)`}`,
    ...it.notices,
    ...(it.secret === undefined
      ? []
      : ['', `Admin key, shown this once: ${it.secret}`, 'Try it:', '', curl(url, it.secret, it.models), '']),
    `The API describes itself at ${url}/v1/openapi.json`,
  ].join('\n')
}

/** Where a client on this machine finds us: nobody can call "every address". */
function addressOf(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

function curl(url: string, secret: string, models: readonly Model[]): string {
  const model = models.find(({ offers }) => offers.some(({ price }) => price !== undefined))
  const key = `-H ${quoted(`Authorization: Bearer ${secret}`)}`
  if (!model) return `curl ${url}/v1/models ${key}`
  const body = JSON.stringify({ model: model.id, input: 'Hello' })
  return `curl ${url}/v1/responses ${key} -H 'Content-Type: application/json' -d ${quoted(body)}`
}

/** As one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
