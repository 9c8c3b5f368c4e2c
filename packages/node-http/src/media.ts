import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { MediaFound, MediaReader } from '@signalbox/core/runtime'
import { Agent, request } from 'undici'
import { isPublic } from './media/addresses.ts'

export interface GuardedMediaOptions {
  /** For one address, redirects included. Default: 15,000. */
  readonly timeoutMs?: number
  /** Which resolved addresses may be asked. Default: those of the public Internet. */
  readonly permits?: (address: string) => boolean
  /** Whether plain http is taken too. Default: false. */
  readonly http?: boolean
}

const mostRedirects = 3
const taken = /^(?:image\/(?:png|jpeg|gif|webp|heic|heif)|application\/pdf|text\/(?:plain|markdown|csv|html))$/

const refused = (why: string): MediaFound => ({ ok: false, why })

/**
 * Reads images and files at addresses that callers named, for providers that take bytes only. The address is checked when
 * the connection is made, so a name that resolves to something else the second time gains nothing; each redirect anew.
 *
 * @example createGateway({ providers, models, storage, transport: nodeTransport(), media: guardedMedia() })
 */
export function guardedMedia({ timeoutMs = 15_000, permits = isPublic, http = false }: GuardedMediaOptions = {}): MediaReader {
  const agent = new Agent({ connect: { timeout: timeoutMs, lookup: guardedLookup(permits) }, allowH2: false })
  const protocols = http ? ['https:', 'http:'] : ['https:']

  const why = (url: URL): string | undefined => {
    if (!protocols.includes(url.protocol)) return `only ${protocols.map(name => `${name}//`).join(' and ')} addresses are read`
    if (url.username !== '' || url.password !== '') return 'an address with a user name or a password is not read'
    // An address in digits is not looked up, so it is checked here.
    const host = url.hostname.replace(/^\[|\]$/g, '')
    return isIP(host) !== 0 && !permits(host) ? 'the address is not a public one' : undefined
  }

  return async (address, { maxBytes, signal }) => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    let next = address
    try {
      for (let hops = 0; hops <= mostRedirects; hops++) {
        const url = URL.parse(next)
        if (!url) return refused('it is not an address')
        const wrong = why(url)
        if (wrong !== undefined) return refused(wrong)
        const { statusCode, headers, body } = await request(url, {
          dispatcher: agent,
          signal: within,
          headers: { 'user-agent': 'signalbox' },
        })
        const { location } = headers
        if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
          hangUp(body)
          next = URL.parse(location, url)?.href ?? ''
          continue
        }
        const mediaType = bare(headers['content-type'])
        if (statusCode === 200 && !['', 'identity'].includes(bare(headers['content-encoding']))) {
          hangUp(body)
          return refused('its server sent it compressed, unasked')
        }
        if (statusCode === 200 && taken.test(mediaType)) return await readAll(body, mediaType, maxBytes)
        hangUp(body)
        return refused(statusCode === 200 ? 'it is no image and no document' : `its server answered with status ${statusCode}`)
      }
      return refused('it redirects too often')
    } catch (error) {
      return refused(error instanceof Error && error.message === notPublic ? notPublic : 'its server could not be reached in time')
    }
  }
}

const bare = (type: string | string[] | undefined): string =>
  String(type ?? '')
    .replace(/;.*$/, '')
    .trim()
    .toLowerCase()

/** What is not read is not waited for either. A body that is cut off says so, and nobody needs to hear it. */
function hangUp(body: Readable): void {
  body.on('error', () => {})
  body.destroy()
}

async function readAll(body: AsyncIterable<Buffer>, mediaType: string, maxBytes: number): Promise<MediaFound> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    // Leaving the loop closes the connection.
    if (size > maxBytes) return refused(`it is larger than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return { ok: true, mediaType, base64: Buffer.concat(pieces).toString('base64') }
}

const notPublic = 'the address is not a public one'

/** Resolves a name, and hands on only what may be asked: the very addresses that are then connected to. */
const guardedLookup =
  (permits: (address: string) => boolean): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const open = addresses.filter(({ address }) => permits(address))
      const [first] = open
      if (!first || open.length < addresses.length) return callback(new Error(notPublic), [])
      return options.all ? callback(null, open) : callback(null, first.address, first.family)
    })
  }
