import type { Socket } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')
/** The index of the first status digit in `HTTP/1.1 1`, which distinguishes an interim response from a final one. */
const statusAt = 9
const maxHeadBytes = 65_536

/**
 * Removes interim responses (100, 103) before the final response from a socket's input, because undici treats an unsolicited 100 as a
 * broken connection. Bytes after the start of the final response are not touched.
 */
export interface InterimFilter {
  readonly socket: Socket
  /** The socket's own `read`, and the one without interim responses. */
  readonly read: Socket['read']
  readonly readFinal: Socket['read']
  /** The beginning of a response. */
  held: Buffer | undefined
  /** Whether anything was received since the request was sent, interim responses too. */
  hasReceived: boolean
}

export function interimFilter(socket: Socket): InterimFilter {
  const filter: InterimFilter = {
    socket,
    read: socket.read,
    readFinal: size => readFinal(filter, size),
    held: undefined,
    hasReceived: false,
  }
  return filter
}

/** Called when a request is sent. */
export function skipInterim(filter: InterimFilter): void {
  filter.hasReceived = false
  filter.socket.read = filter.readFinal
}

/** Called when the final response begins. */
export function readAll({ socket, read }: InterimFilter): void {
  socket.read = read
}

function readFinal(filter: InterimFilter, size?: number): Buffer | null {
  const chunk: Buffer | null = filter.read.call(filter.socket, size)
  if (chunk === null) return null
  filter.hasReceived = true
  const bytes = filter.held === undefined ? chunk : Buffer.concat([filter.held, chunk])
  const rest = withoutInterim(bytes)
  filter.held = rest === undefined ? bytes : undefined
  return rest === undefined || rest.length === 0 ? null : rest
}

/** Undefined if more bytes are needed to decide. */
function withoutInterim(bytes: Buffer): Buffer | undefined {
  let rest = bytes
  while (rest.length > 0) {
    if (rest.length <= statusAt) return 'HTTP/1.'.startsWith(rest.toString('latin1', 0, 7)) ? undefined : rest
    if (rest.toString('latin1', 0, 7) !== 'HTTP/1.' || rest[statusAt] !== 0x31) return rest
    const end = rest.indexOf(headEnd)
    if (end === -1) return rest.length < maxHeadBytes ? undefined : rest
    rest = rest.subarray(end + headEnd.length)
  }
  return rest
}
