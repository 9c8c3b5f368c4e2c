import { connect, type Socket } from 'node:net'
import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { compatible } from '@signalbox/providers'

/** The unparsed response from a raw socket. */
export interface RawAnswer {
  /** All bytes received, as latin1, so that a character is a byte. */
  readonly text: string
  readonly status: number
  readonly headers: string
  /** Behind the head, chunk framing and all. */
  readonly body: string
  /** How the connection ended; `open`: it did not, while we watched. */
  readonly ended: 'fin' | 'reset' | 'open'
  readonly ms: number
}

export const requestText = (path: string, body: JsonObject): string => {
  const json = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

/** Where a gateway would send the request. */
export function pathFor(dialect: BuiltInDialect, model: string, stream: boolean): string {
  const { endpoint, credential } = compatible({ id: 'raw', baseURL: 'http://127.0.0.1/v1', apis: [dialect] })
  if (!credential) throw new TypeError('This provider has no credential.')
  const { pathname, search } = new URL(endpoint({ api: dialect, model, stream, credential }))
  return pathname + search
}

export interface RawOptions {
  /** Looked at after each read; true: we have seen enough. */
  readonly enough?: (text: string) => boolean
  readonly timeoutMs?: number
}

/** Sends text on a fresh connection and reads until the other side ends, enough was seen, or patience does. */
export function rawExchange(port: number, text: string, options: RawOptions = {}): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  return readFrom(socket, text, options).finally(() => socket.destroy())
}

export function readFrom(socket: Socket, text: string, { enough = isWhole, timeoutMs = 1_000 }: RawOptions = {}): Promise<RawAnswer> {
  const started = performance.now()
  let seen = ''
  return new Promise(resolve => {
    const finish = (ended: RawAnswer['ended']): void => {
      clearTimeout(timer)
      socket.off('data', onData)
      socket.off('end', onEnd)
      const split = seen.indexOf('\r\n\r\n')
      resolve({
        text: seen,
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(seen)?.[1] ?? 0),
        headers: split === -1 ? seen : seen.slice(0, split),
        body: split === -1 ? '' : seen.slice(split + 4),
        ended,
        ms: performance.now() - started,
      })
    }
    const onData = (chunk: Buffer): void => {
      seen += chunk.toString('latin1')
      if (enough(seen)) finish('open')
    }
    const onEnd = (): void => finish('fin')
    const timer = setTimeout(() => finish('open'), timeoutMs)
    socket.on('data', onData)
    socket.once('end', onEnd)
    socket.once('error', () => finish('reset'))
    socket.write(text)
  })
}

/** True once a response with a known end is complete. */
export function isWhole(text: string): boolean {
  const split = text.indexOf('\r\n\r\n')
  if (split === -1) return false
  const head = text.slice(0, split).toLowerCase()
  // A hint is not the answer yet.
  if (/^http\/1\.1 1\d\d/.test(head)) return isWhole(text.slice(split + 4))
  const size = /content-length: (\d+)/.exec(head)?.[1]
  if (size !== undefined) return text.length >= split + 4 + Number(size)
  return head.includes('chunked')
    ? text.endsWith('\r\n0\r\n\r\n') || text.slice(split) === '\r\n\r\n0\r\n\r\n'
    : head.startsWith('http/1.1 204')
}

/** A chunked body without its framing; an incomplete chunk is included as far as it arrived. */
export function unchunk(body: string): string {
  let rest = body
  let out = ''
  for (;;) {
    const line = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, line), 16)
    if (line === -1 || !(size > 0)) return out
    out += rest.slice(line + 2, line + 2 + size)
    rest = rest.slice(line + 4 + size)
  }
}

/** Sizes of the chunks, in order. */
export function chunkSizes(body: string): readonly number[] {
  const sizes: number[] = []
  for (let rest = body; rest !== ''; ) {
    const line = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, line), 16)
    if (line === -1 || !(size > 0)) break
    sizes.push(size)
    rest = rest.slice(line + 4 + size)
  }
  return sizes
}

export const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString()
