import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiRequest, BodyText } from '@signalbox/api'
import type { Awaitable } from '@signalbox/core/runtime'
import { type BodyPace, type BodyReading, hasArrived, readText } from './body.ts'

export interface Exchange {
  readonly request: ApiRequest
  /** Registers what to do when the client leaves before the reply is over; the signal has fired by then. */
  readonly leave: (run: () => void) => void
  /** More of the body is coming than is worth waiting for. */
  readonly uploading: (partlyRead: boolean) => boolean
}

/** Node keeps only the first of these when there are several, silently. Two keys are no key. */
const single = ['authorization', 'content-type', 'content-encoding']

/** What a client may still be sending while its reply goes out; beyond it the connection is closed. */
const worthDraining = 65_536

/** IncomingMessage → plain values. */
export function exchangeOf(message: IncomingMessage, response: ServerResponse, pace: BodyPace): Exchange {
  const { path, query } = locate(message)
  // Made at once, as a field: a getter in an object made per request keeps each of them alive until a full collection.
  const controller = new AbortController()
  let gone = false
  let onLeave: (() => void) | undefined
  response.once('close', () => {
    if (response.writableFinished) return
    gone = true
    controller.abort()
    onLeave?.()
  })
  return {
    request: {
      method: message.method ?? 'GET',
      path,
      query,
      header: name => headerOf(message, name),
      arrived: () => hasArrived(message) || parsedBefore(message),
      text: (limit, heard) => bodyOf(message, { limit, pace, heard }),
      signal: controller.signal,
      ...ipOf(message),
    },
    leave: run => {
      onLeave = run
      if (gone) run()
    },
    uploading: partlyRead =>
      hasBody(message) && (partlyRead || !(Number(message.headers['content-length'] ?? Number.NaN) <= worthDraining)),
  }
}

/**
 * Why a request that Node's parser accepted is invalid, or undefined if it is valid. With two Host headers a proxy may have used
 * another one than this server, and HTTP/2 is not text.
 */
export function faultOf(message: IncomingMessage): string | undefined {
  // A server of HTTP/2 hands over messages that have a stream.
  if (message.httpVersionMajor !== 1 && !('stream' in message)) return 'The request is of an HTTP version that is not spoken here.'
  let hosts = 0
  const { rawHeaders } = message
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) return 'The request has more than one Host header.'
  if (message.httpVersion === '1.0')
    return message.headers['transfer-encoding'] === undefined ? undefined : 'HTTP/1.0 has no transfer encodings.'
  return hosts === 0 && message.httpVersion === '1.1' ? 'The request has no Host header.' : undefined
}

/** Of the connection: behind a proxy it is the proxy's. A Unix socket has none. */
const ipOf = ({ socket: { remoteAddress } }: IncomingMessage): Pick<ApiRequest, 'ip'> =>
  remoteAddress === undefined ? {} : { ip: remoteAddress }

/** A body is coming: it was announced, and is not here to its end. */
export const hasBody = ({ headers, complete }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)

/** `http://host/path` is lawful on a request line; the host has no say. */
function targetOf(url: string): string {
  if (url.startsWith('/') || !/^https?:\/\//i.test(url)) return url
  // A host ends at the first of these: behind a question mark a slash begins no path.
  const end = url.slice(url.indexOf('://') + 3).search(/[/?#]/)
  if (end === -1) return '/'
  const rest = url.slice(url.indexOf('://') + 3 + end)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Cut out of the text, so the router sees what came. */
export function locate(message: IncomingMessage): { readonly path: string; readonly query: string } {
  const target = targetOf(message.url ?? '/')
  const mark = target.indexOf('?')
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

function headerOf(message: IncomingMessage, name: string): string | undefined {
  const value = message.headers[name]
  if (value === undefined) return undefined
  if (name === 'content-encoding' && parsedBefore(message)) return undefined
  if (single.includes(name)) return joined(message.rawHeaders, name) ?? undefined
  return typeof value === 'string' ? value : value.join(', ')
}

function joined(raw: readonly string[], name: string): string | undefined {
  let value: string | undefined
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at] ?? ''
    if (key.length !== name.length || key.toLowerCase() !== name) continue
    value = value === undefined ? raw[at + 1] : `${value}, ${raw[at + 1]}`
  }
  return value
}

/** Express and its kin may have read the body already, and leave what they made of it here. */
const parsedBefore = (message: IncomingMessage): message is IncomingMessage & { readonly body: unknown } =>
  'body' in message && message.body !== undefined && message.readableDidRead

function bodyOf(message: IncomingMessage, reading: BodyReading): Awaitable<BodyText> {
  if (!parsedBefore(message)) return readText(message, reading)
  const { limit } = reading
  const { body } = message
  const text = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString('utf8') : JSON.stringify(body)
  return Buffer.byteLength(text) > limit ? { ok: false, why: 'too_large' } : { ok: true, text }
}
