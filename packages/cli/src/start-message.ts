import { isIPv6 } from 'node:net'
import type { Model, Provider } from '@signalbox/dialects/protocol'

/** The content of the start message. */
export interface StartMessage {
  readonly version: string
  readonly host: string
  readonly port: number
  readonly providers: readonly Provider[]
  readonly models: readonly Model[]
  readonly simulated: boolean
  /** Processes that share the port, if there are several. */
  readonly workers: number | undefined
  readonly storage: string
  /** Where limits are counted, if not in the storage. */
  readonly redis: string | undefined
  /** The proxy of calls to providers, if there is one. */
  readonly proxy: string | undefined
  /** The sealing key's file, if this start created it. */
  readonly sealingKeyFile: string | undefined
  /** The admin key, if this start created it. */
  readonly secret: string | undefined
  readonly notices: readonly string[]
}

const maxNames = 8
const listNames = (names: readonly string[]): string =>
  names.length > maxNames ? `${names.slice(0, maxNames).join(', ')} and ${names.length - maxNames} more` : names.join(', ') || 'none'

/**
 * The message that the server prints once it listens: the address, what is configured, and a new admin key with a request to try. A trial, with a new
 * key and simulated providers, needs no more.
 */
export function announcementText(it: StartMessage): string {
  const url = localUrl(it.host, it.port)
  return [
    `Signalbox ${it.version} listens on ${url}`,
    ...(it.simulated ? (it.secret === undefined ? [simulates] : []) : configured(it)),
    ...it.notices,
    ...(it.secret === undefined ? [] : ['', `Admin key, shown this once: ${it.secret}`, '', curl(url, it.secret, it.models), '']),
  ].join('\n')
}

const simulates =
  'No provider is enabled, so simulated ones respond: set a key such as OPENAI_API_KEY, or list `providers` in signalbox.config.json.'

const configured = (it: StartMessage): readonly string[] => [
  `providers: ${listNames(it.providers.map(({ id }) => id))}`,
  `models:    ${listNames(it.models.map(({ id }) => id))}`,
  ...(it.workers === undefined ? [] : [`workers:   ${it.workers}`]),
  `storage:   ${it.storage}${it.redis === undefined ? '' : `, limits in ${it.redis}`}${it.sealingKeyFile === undefined ? '' : `; its sealing key is in ${it.sealingKeyFile} (back up both)`}`,
  ...(it.proxy === undefined ? [] : [`proxy:     ${it.proxy}`]),
]

/** The URL for a client on this machine, which cannot call a wildcard address. */
function localUrl(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

function curl(url: string, secret: string, models: readonly Model[]): string {
  const model = models.find(({ offers }) => offers.some(({ price }) => price !== undefined))
  const key = `-H ${shellQuoted(`Authorization: Bearer ${secret}`)}`
  if (!model) return `curl ${url}/v1/models ${key}`
  const body = JSON.stringify({ model: model.id, input: 'Hello' })
  return `curl ${url}/v1/responses ${key} -H 'Content-Type: application/json' -d ${shellQuoted(body)}`
}

/** Quotes a text as one shell word. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
