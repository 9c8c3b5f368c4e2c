import { type Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'

/** Bare HTTP, to observe exactly what a server does to a connection. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
  /** The local port of the connection: the same port means the same connection. */
  readonly port: number
}

export interface Asking {
  readonly url: string
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent?: Agent
}

export const ask = ({ url, path, method = 'POST', headers = {}, body, agent }: Asking): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(
      new URL(`${url}${path}`),
      { method, headers: { ...length, ...headers }, ...(agent ? { agent } : { agent: false as const }) },
      answer => {
        const port = answer.socket.localPort ?? 0
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('error', reject)
        answer.once('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString(), port }),
        )
      },
    )
    sent.once('error', reject)
    sent.end(body)
  })

/** A bare connection, already open. */
export const dial = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {})
      resolve(socket)
    })
  })

/** The path of the request line: relative to where the API is mounted. */
export const below = (url: string, path: string): string => new URL(`${url}${path}`).pathname

export const post = (path: string, secret: string, body: string): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${secret}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

/** Everything received on a connection until it ends, is silent for too long, or has sent enough. */
export const hear = (
  socket: Socket,
  { timeoutMs = 60_000, enough = () => false }: { readonly timeoutMs?: number; readonly enough?: (text: string) => boolean } = {},
): Promise<{ readonly text: string; readonly ended: boolean }> =>
  new Promise(resolve => {
    let text = ''
    const finish = (ended: boolean): void => {
      clearTimeout(timer)
      socket.off('data', take).off('close', close).off('end', close)
      resolve({ text, ended })
    }
    const take = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      if (enough(text)) finish(false)
    }
    const close = (): void => finish(true)
    const timer = setTimeout(() => finish(false), timeoutMs)
    socket.on('data', take).once('end', close).once('close', close)
    if (socket.destroyed) finish(true)
  })

export const later = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))
