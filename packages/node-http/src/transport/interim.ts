import type { Socket } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')
/** `HTTP/1.1 1`: the first digit of a status tells an announcement from an answer. */
const statusAt = 9
const longestHead = 65_536

/**
 * Takes announcements (100, 103) out of what a socket brings before its answer: undici takes a 100 that nobody asked for
 * as a broken connection. Nothing is touched once the answer has begun.
 */
export function skipInterim(socket: Socket, awaiting: () => boolean): void {
  const read = socket.read.bind(socket)
  let held: Buffer | undefined
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size)
    if (chunk === null || !awaiting()) return chunk
    const bytes = held === undefined ? chunk : Buffer.concat([held, chunk])
    held = undefined
    const rest = withoutInterim(bytes)
    if (rest === undefined) held = bytes
    return rest === undefined || rest.length === 0 ? null : rest
  }
}

/** Undefined: it cannot be told yet, more has to come. */
function withoutInterim(bytes: Buffer): Buffer | undefined {
  let rest = bytes
  while (rest.length > 0) {
    if (rest.length <= statusAt) return 'HTTP/1.'.startsWith(rest.toString('latin1', 0, 7)) ? undefined : rest
    if (rest.toString('latin1', 0, 7) !== 'HTTP/1.' || rest[statusAt] !== 0x31) return rest
    const end = rest.indexOf(headEnd)
    if (end === -1) return rest.length < longestHead ? undefined : rest
    rest = rest.subarray(end + headEnd.length)
  }
  return rest
}
