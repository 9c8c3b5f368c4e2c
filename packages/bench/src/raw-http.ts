/** The head of an HTTP request, and the position of its body in the bytes read so far. */
export interface Head {
  readonly path: string
  /** Bytes of the request, including the head. */
  readonly size: number
  readonly bodyAt: number
}

const headEnd = Buffer.from('\r\n\r\n')

/** Reads a head; undefined if it is incomplete. */
export function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf(headEnd)
  if (end === -1) return undefined
  const text = bytes.toString('latin1', 0, end + 2)
  const bodyAt = end + headEnd.length
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
  return { path: text.slice(text.indexOf(' ') + 1, text.indexOf(' HTTP/')), bodyAt, size: bodyAt + length }
}

export interface Post {
  readonly path: string
  /** Empty: no header. */
  readonly authorization: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** The bytes of a JSON POST request. */
export function postBytes({ path, authorization, headers = {}, body }: Post): Buffer {
  const proof = authorization === '' ? '' : `authorization: ${authorization}\r\n`
  const others = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = Buffer.byteLength(body)
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${proof}${others.join('')}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
  )
}
