import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { collectBytes } from '@signalbox/api'
import type { MediaFound, MediaReader, MediaWanted } from '@signalbox/core/runtime'
import { Agent, buildConnector, request } from 'undici'
import { isPublic } from './public-addresses.ts'
import { createProxySelector, type ProxyOptions, portOf, proxiedConnector } from './transport/proxy.ts'

/** Options of `guardedMedia`. */
export interface GuardedMediaOptions {
  /** Milliseconds per URL, including redirects. Default: 15,000. */
  readonly timeoutMs?: number
  /** Decides which resolved IP addresses may be connected to. Default: public Internet addresses. */
  readonly isAllowed?: (address: string) => boolean
  /** Whether plain http is accepted too. Default: false. */
  readonly allowHttp?: boolean
  /** Proxies, asked for addresses that were resolved and checked here. Default: none. */
  readonly proxy?: ProxyOptions
}

const maxRedirects = 3
const notPublic = 'the address is not public'
const acceptedTypes = /^(?:image\/(?:png|jpeg|gif|webp|heic|heif)|application\/pdf|text\/(?:plain|markdown|csv|html))$/

const refuseMedia = (why: string): MediaFound => ({ ok: false, why })

/**
 * Creates a reader of images and files at URLs in requests, for providers that only accept inline data. The IP address is checked when
 * connecting, and again for each redirect, so a name that resolves differently the second time (DNS rebinding) is refused too.
 *
 * @example createGateway({ providers, models, storage, transport: nodeTransport(), media: guardedMedia() })
 */
export function guardedMedia({
  timeoutMs = 15_000,
  isAllowed = isPublic,
  allowHttp = false,
  proxy,
}: GuardedMediaOptions = {}): MediaReader {
  const guarded = buildConnector({ timeout: timeoutMs, lookup: guardedLookup(isAllowed), allowH2: false })
  const connect = proxy === undefined ? guarded : guardedTunnel(proxy, { guarded, timeoutMs, isAllowed })
  const agent = new Agent({ connect, allowH2: false })
  const protocols = allowHttp ? ['https:', 'http:'] : ['https:']

  const faultOfUrl = (url: URL): string | undefined => {
    if (!protocols.includes(url.protocol)) return `only ${protocols.map(name => `${name}//`).join(' and ')} URLs are supported`
    if (url.username !== '' || url.password !== '') return 'URLs with a user name or password are not supported'
    // An IP literal is not looked up, so it is checked here.
    const host = url.hostname.replace(/^\[|\]$/g, '')
    return isIP(host) !== 0 && !isAllowed(host) ? notPublic : undefined
  }

  return async (address, wanted) => {
    const within = AbortSignal.any([wanted.signal, AbortSignal.timeout(timeoutMs)])
    let next = address
    try {
      for (let hops = 0; hops <= maxRedirects; hops++) {
        const url = URL.parse(next)
        if (!url) return refuseMedia('it is not a valid URL')
        const wrong = faultOfUrl(url)
        if (wrong !== undefined) return refuseMedia(wrong)
        const { statusCode, headers, body } = await request(url, {
          dispatcher: agent,
          signal: within,
          headers: { 'user-agent': 'signalbox' },
        })
        const { location } = headers
        if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
          discardBody(body)
          next = URL.parse(location, url)?.href ?? ''
          continue
        }
        const mediaType = bareValue(headers['content-type'])
        if (statusCode === 200 && !['', 'identity'].includes(bareValue(headers['content-encoding']))) {
          discardBody(body)
          return refuseMedia('its server sent a compressed response')
        }
        if (statusCode === 200 && acceptedTypes.test(mediaType))
          return await readMedia(body, { mediaType, length: Number(headers['content-length'] ?? 0), wanted })
        discardBody(body)
        return refuseMedia(statusCode === 200 ? 'it is neither an image nor a document' : `its server answered with status ${statusCode}`)
      }
      return refuseMedia('it has too many redirects')
    } catch (error) {
      return refuseMedia(error instanceof Error && error.message === notPublic ? notPublic : 'its server could not be reached in time')
    }
  }
}

const bareValue = (type: string | string[] | undefined): string =>
  String(type ?? '')
    .replace(/;.*$/, '')
    .trim()
    .toLowerCase()

/** Closes the connection of an unread body. The resulting error event is ignored. */
function discardBody(body: Readable): void {
  body.on('error', () => {})
  body.destroy()
}

interface MediaBody {
  readonly mediaType: string
  /** The announced length; 0 if there is none. */
  readonly length: number
  readonly wanted: Pick<MediaWanted, 'maxBytes' | 'onBytes'>
}

async function readMedia(body: Readable, { mediaType, length, wanted: { maxBytes, onBytes } }: MediaBody): Promise<MediaFound> {
  const tooLarge = refuseMedia(`it is larger than ${maxBytes} bytes`)
  if (length > maxBytes) {
    discardBody(body)
    return tooLarge
  }
  const collected = collectBytes()
  let size = 0
  // Leaving the loop closes the connection.
  for await (const piece of body) {
    size += piece.length
    if (size > maxBytes) return tooLarge
    if (!onBytes(size)) return refuseMedia('there is no memory for it')
    collected.add(piece)
  }
  return { ok: true, mediaType, base64: Buffer.concat(collected.pieces()).toString('base64') }
}

interface TunnelOptions {
  readonly guarded: buildConnector.connector
  readonly timeoutMs: number
  readonly isAllowed: (address: string) => boolean
}

/** Connects through a proxy, which is asked for a checked address: it would resolve the name itself, perhaps differently. */
function guardedTunnel(proxies: ProxyOptions, { guarded, timeoutMs, isAllowed }: TunnelOptions): buildConnector.connector {
  const proxyOf = createProxySelector(proxies)
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false })
  return (options, callback) => {
    const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`)
    const proxy = proxyOf(url)
    if (proxy === undefined) return guarded(options, callback)
    guardedLookup(isAllowed)(options.hostname, { all: false }, (error, address, family) => {
      if (error) return callback(error, null)
      const target = `${family === 6 ? `[${String(address)}]` : String(address)}:${portOf(url)}`
      proxiedConnector({ proxy, connect, connectMs: timeoutMs, target, tunnelHttp: true })(options, callback)
    })
  }
}

/** Resolves a name, and fails unless all its addresses are allowed, since these are then connected to. */
const guardedLookup =
  (isAllowed: (address: string) => boolean): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const open = addresses.filter(({ address }) => isAllowed(address))
      const [first] = open
      if (!first || open.length < addresses.length) return callback(new Error(notPublic), [])
      return options.all ? callback(null, open) : callback(null, first.address, first.family)
    })
  }
