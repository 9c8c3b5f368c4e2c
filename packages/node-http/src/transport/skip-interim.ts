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
  /** Called when a request is sent. */
  start(): void
  /** Called when the final response begins. */
  stop(): void
}

export function interimFilter(socket: Socket): InterimFilter {
  const read = socket.read.bind(socket)
  let held: Buffer | undefined
  const readFinal = (size?: number): Buffer | null => {
    const chunk: Buffer | null = read(size)
    if (chunk === null) return null
    const bytes = held === undefined ? chunk : Buffer.concat([held, chunk])
    held = undefined
    const rest = withoutInterim(bytes)
    if (rest === undefined) held = bytes
    return rest === undefined || rest.length === 0 ? null : rest
  }
  return {
    start() {
      socket.read = readFinal
    },
    stop() {
      socket.read = read
    },
  }
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
