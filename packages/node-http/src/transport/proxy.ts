import { BlockList, isIP } from 'node:net'
import { type buildConnector, Client } from 'undici'
import { transportError } from './transport-errors.ts'

/** The proxies of outgoing calls. */
export interface ProxyOptions {
  /** The proxy of `http:` URLs, as in `http://user:password@proxy:3128`. Default: none. */
  readonly http?: string
  /** The proxy of `https:` URLs. Default: `http`. */
  readonly https?: string
  /** Hosts that are called directly, separated by commas: `localhost,.example.com,10.0.0.1:8080,10.0.0.0/8`; `*` is all. Default: none. */
  readonly noProxy?: string
}

/** The proxy of a URL; undefined if the URL is called directly. */
export type ProxySelector = (url: URL) => URL | undefined

/**
 * Reads proxies from environment variables as curl and undici do: `http_proxy`, `https_proxy` and `no_proxy`, else the same in upper case.
 * Undefined if none is set.
 *
 * @throws {TypeError} A variable is not the URL of an HTTP proxy.
 * @example nodeTransport({ proxy: proxyFromEnvironment(process.env) })
 */
export function proxyFromEnvironment(environment: Readonly<Record<string, string | undefined>>): ProxyOptions | undefined {
  // An empty value in lower case wins too, and means no proxy.
  const { http_proxy = environment.HTTP_PROXY, https_proxy = environment.HTTPS_PROXY, no_proxy = environment.NO_PROXY } = environment
  const [http, https, noProxy] = [http_proxy, https_proxy, no_proxy].map(text => text?.trim() || undefined)
  if (http === undefined && https === undefined) return undefined
  if (http !== undefined) proxyUrl(http, 'HTTP_PROXY')
  if (https !== undefined) proxyUrl(https, 'HTTPS_PROXY')
  return { http, https, noProxy }
}

/** The URL of a proxy, whose scheme may be left out. */
function proxyUrl(text: string, name: string): URL {
  const url = URL.parse(/^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url && /^https?:$/.test(url.protocol) && isDecodable(url.username + url.password)) return url
  throw new TypeError(`${name} is not the URL of an HTTP proxy; it takes \`http://HOST:PORT\` or \`https://HOST:PORT\`.`)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Creates the choice of a proxy for each URL. */
export function createProxySelector({ http, https = http, noProxy = '' }: ProxyOptions): ProxySelector {
  const proxies = new Map<string, URL>()
  if (http !== undefined) proxies.set('http:', proxyUrl(http, '`proxy.http`'))
  if (https !== undefined) proxies.set('https:', proxyUrl(https, '`proxy.https`'))
  const texts = noProxy.split(/[,\s]+/).filter(Boolean)
  const networks = networksOf(texts)
  const direct = texts.map(readEntry)
  return url => {
    const host = bareHost(url.hostname)
    const port = portOf(url)
    const isDirect = direct.some(entry => isCalledDirectly(entry, host, port)) || isWithin(networks, host)
    return isDirect ? undefined : proxies.get(url.protocol)
  }
}

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The networks among the entries, as in `10.0.0.0/8` and `fd00::/8`. */
function networksOf(texts: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const text of texts) {
    const [, address = '', length = ''] = /^([\d.]+|[\da-f:]+)\/(\d{1,3})$/i.exec(text) ?? []
    if (isIP(address) !== 0 && Number(length) <= (isIP(address) === 6 ? 128 : 32))
      networks.addSubnet(address, Number(length), family(address))
  }
  return networks
}

const isWithin = (networks: BlockList, host: string): boolean => isIP(host) !== 0 && networks.check(host, family(host))

interface NoProxyEntry {
  /** `*` for every host. */
  readonly host: string
  /** Empty: any. */
  readonly port: string
  /** `*.example.com`, which is not `example.com` itself. */
  readonly isBelow: boolean
}

/** `example.com`, `.example.com`, `*.example.com`, `10.0.0.1:80`, `::1`, `[::1]:443`, `*` */
function readEntry(text: string): NoProxyEntry {
  const [, host = text, port = ''] = /^(\[.+\]|[^:]+):(\d+)$/.exec(text) ?? []
  return { host: host === '*' ? host : bareHost(host.replace(/^\*?\./, '')), port, isBelow: host.startsWith('*.') }
}

function isCalledDirectly({ host, port, isBelow }: NoProxyEntry, target: string, targetPort: string): boolean {
  if (port !== '' && port !== targetPort) return false
  return host === '*' || target.endsWith(`.${host}`) || (!isBelow && target === host)
}

/** Without brackets, and without the dot at the end of a whole name. */
const bareHost = (host: string): string =>
  host
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()

export const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80')

/** The header with the credentials of a proxy's URL, if it has some. */
export function proxyAuthorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}

interface ProxiedOptions {
  readonly proxy: URL
  /** Connects to the proxy, and adds TLS to the server over its tunnel. */
  readonly connect: buildConnector.connector
  /** Milliseconds for the tunnel. */
  readonly connectMs: number
  /** The host and port that the proxy is asked for, if not those of the URL. */
  readonly target?: string
  /** Whether `http:` is tunnelled too. Default: false, its requests are sent to the proxy. */
  readonly tunnelHttp?: boolean
}

/** A connector through a proxy: for `https:` a tunnel by CONNECT, for `http:` a connection to the proxy itself. */
export function proxiedConnector({ proxy, connect, connectMs, target, tunnelHttp = false }: ProxiedOptions): buildConnector.connector {
  const toProxy: buildConnector.connector = (_, callback) =>
    connect({ protocol: proxy.protocol, host: proxy.host, hostname: bareHost(proxy.hostname), port: portOf(proxy) }, callback)
  return (options, callback) => {
    if (options.protocol !== 'https:' && !tunnelHttp) {
      toProxy(options, orUnreachable(callback))
      return
    }
    const path = target ?? `${options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname}:${options.port || 443}`
    const client = new Client(proxy.origin, { connect: toProxy })
    const tunnel = { path, headers: { host: path, ...proxyAuthorization(proxy) }, signal: AbortSignal.timeout(connectMs) }
    client.connect(tunnel, (error, reply) => {
      if (error !== null || reply === null) {
        client.destroy().catch(() => {})
        callback(unreachable(), null)
        return
      }
      const { socket, statusCode } = reply
      if (statusCode >= 200 && statusCode < 300) {
        if (options.protocol === 'https:') connect({ ...options, httpSocket: socket as never }, callback)
        else callback(null, socket as never)
        return
      }
      socket.on('error', () => {}).destroy()
      callback(transportError('ERR_PROXY_REFUSED', `The proxy answered with status ${statusCode}.`), null)
    })
  }
}

/** An error of undici would make its client connect again, without end. */
const unreachable = (): Error => transportError('ERR_PROXY_UNREACHABLE', 'The proxy cannot be reached.')

const orUnreachable =
  (callback: buildConnector.Callback): buildConnector.Callback =>
  (...[error, socket]) =>
    error === null ? callback(null, socket) : callback(unreachable(), null)
