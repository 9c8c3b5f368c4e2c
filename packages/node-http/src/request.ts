import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiRequest, type BodyText, mountBefore } from '@signalbox/api'
import type { Awaitable } from '@signalbox/storage'
import { type BodyOptions, type BodyPace, isBuffered, readRequestBody, requestCodings, sendContinue } from './request-body.ts'

/** A client's request, in the form that the API accepts. */
export interface NodeExchange {
  readonly request: ApiRequest
  /** Registers a callback for when the client disconnects before the response is complete. The signal is already aborted then. */
  readonly onDisconnect: (run: () => void) => void
  /** Whether more of the body is coming than a response should wait for. */
  readonly isUploading: (partlyRead: boolean) => boolean
}

/** Headers of which Node silently keeps only the first. They are joined instead, so that two keys are not treated as one. */
const singleHeaders = ['authorization', 'content-type', 'content-encoding']

/** Bytes that a client may still send while its response is written. Beyond that, the connection is closed. */
const maxDrainBytes = 65_536

interface NodeExchangeOptions extends Pick<ApiRequest, 'signedIn'> {
  readonly pace: BodyPace
}

/** Turns an IncomingMessage into plain values. */
export function createNodeExchange(
  message: IncomingMessage,
  response: ServerResponse,
  { pace, signedIn }: NodeExchangeOptions,
): NodeExchange {
  const { path, query } = splitTarget(message)
  // Not a lazy getter: a getter on a per-request object keeps each of them alive until a full garbage collection.
  const controller = new AbortController()
  let isGone = false
  let disconnected: (() => void) | undefined
  response.once('close', () => {
    if (response.writableFinished) return
    isGone = true
    controller.abort()
    disconnected?.()
  })
  return {
    request: {
      method: message.method ?? 'GET',
      path,
      query,
      header: name => requestHeader(message, name),
      arrived: () => isBuffered(message) || isParsedByFramework(message),
      codings: requestCodings,
      text: (limit, heard, coding) => {
        if (!(Number(message.headers['content-length']) > limit)) sendContinue(message, response)
        return requestBody(message, { limit, pace, heard, coding })
      },
      signal: controller.signal,
      ...addressOf(message),
      ...('originalUrl' in message && mountOf(message, path)),
      signedIn,
    },
    onDisconnect: run => {
      disconnected = run
      if (isGone) run()
    },
    isUploading: partlyRead =>
      isBodyPending(message) && (partlyRead || !(Number(message.headers['content-length'] ?? Number.NaN) <= maxDrainBytes)),
  }
}

/**
 * Why a request that Node's parser accepted is invalid; undefined if it is valid. With two Host headers a proxy may have used a different
 * one than this server, and HTTP/2 is not text.
 */
export function faultOfRequest(message: IncomingMessage): string | undefined {
  // Messages of an HTTP/2 server have a stream.
  if (message.httpVersionMajor !== 1 && !('stream' in message)) return 'The HTTP version of the request is not supported.'
  let hosts = 0
  const { rawHeaders } = message
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) return 'The request has more than one Host header.'
  if (message.httpVersion === '1.0')
    return message.headers['transfer-encoding'] === undefined ? undefined : 'HTTP/1.0 does not support Transfer-Encoding.'
  return hosts === 0 && message.httpVersion === '1.1' ? 'The request has no Host header.' : undefined
}

/** The peer address of the connection, which may be a proxy. A Unix socket has none. */
export const addressOf = ({ socket: { remoteAddress } }: IncomingMessage): Pick<ApiRequest, 'ip'> =>
  remoteAddress === undefined ? {} : { ip: remoteAddress }

/** The prefix that a framework removed from the path, as Express does in `app.use('/llm', …)`. */
function mountOf(message: IncomingMessage & { readonly originalUrl: unknown }, path: string): Pick<ApiRequest, 'mount'> {
  if (typeof message.originalUrl !== 'string' || message.originalUrl === message.url) return {}
  const mount = mountBefore(splitTarget({ url: message.originalUrl }).path, path)
  return mount === undefined ? {} : { mount }
}

/** Whether a body was announced and is incomplete. */
export const isBodyPending = ({ headers, complete }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)

/** The path and query of a request line, which may contain a whole URL, whose host is ignored. */
function requestTarget(url: string): string {
  if (url.startsWith('/') || !/^https?:\/\//i.test(url)) return url
  // The host ends at the first of these: a slash after a question mark does not start a path.
  const end = url.slice(url.indexOf('://') + 3).search(/[/?#]/)
  if (end === -1) return '/'
  const rest = url.slice(url.indexOf('://') + 3 + end)
  return rest.startsWith('/') ? rest : `/${rest}`
}

interface Target {
  readonly path: string
  readonly query: string
}

/** Splits a request target as text, so that path and query keep their escapes. */
export function splitTarget({ url = '/' }: { readonly url?: string | undefined }): Target {
  const target = requestTarget(url)
  const mark = target.indexOf('?')
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** A header by lower-case name. */
export function requestHeader(message: IncomingMessage, name: string): string | undefined {
  // HTTP/2 has the host in a pseudo-header.
  const value = message.headers[name] ?? (name === 'host' ? message.headers[':authority'] : undefined)
  if (value === undefined) return undefined
  if (name === 'content-encoding' && isParsedByFramework(message)) return undefined
  if (singleHeaders.includes(name)) return joinRawHeaders(message.rawHeaders, name) ?? undefined
  return typeof value === 'string' ? value : value.join(', ')
}

function joinRawHeaders(raw: readonly string[], name: string): string | undefined {
  let value: string | undefined
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at] ?? ''
    if (key.length !== name.length || key.toLowerCase() !== name) continue
    value = value === undefined ? raw[at + 1] : `${value}, ${raw[at + 1]}`
  }
  return value
}

/** Whether Express or a similar framework has already read the body and left its parsed form in `body`. */
const isParsedByFramework = (message: IncomingMessage): message is IncomingMessage & { readonly body: unknown } =>
  'body' in message && message.body !== undefined && message.readableDidRead

function requestBody(message: IncomingMessage, options: BodyOptions): Awaitable<BodyText> {
  if (!isParsedByFramework(message)) return readRequestBody(message, options)
  const { limit } = options
  const { body } = message
  const text = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString('utf8') : JSON.stringify(body)
  return Buffer.byteLength(text) > limit ? { ok: false, why: 'too_large' } : { ok: true, text }
}
