// AWS event stream (`application/vnd.amazon.eventstream`): a message is a prelude of two lengths and their checksum, headers,
// a payload, and a checksum over all of it. Read by hand: it is this little, and the packages that read it bring more than
// they read.

/** Two lengths and a checksum of them: what says how long a message is. */
export const preludeSize = 12
const checksumSize = 4
/** A prelude, no headers, no payload, a checksum. */
const minSize = preludeSize + checksumSize

export interface Message {
  /** Those that are text; others say nothing of interest. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Of the message that begins here, once its prelude is proven. Throws where there can be none. */
export function sizeOfMessage(bytes: Uint8Array): number {
  const view = viewOf(bytes)
  if (view.getUint32(8) !== crc32(bytes.subarray(0, 8))) throw new Error('The checksum of a message’s beginning is wrong.')
  const size = view.getUint32(0)
  if (size < minSize || view.getUint32(4) > size - minSize) throw new Error('The lengths of a message contradict each other.')
  return size
}

/** A whole message, its prelude proven. Throws where its checksum or its headers are broken. */
export function readMessage(bytes: Uint8Array): Message {
  const view = viewOf(bytes)
  const end = bytes.length - checksumSize
  if (view.getUint32(end) !== crc32(bytes.subarray(0, end))) throw new Error('The checksum of a message is wrong.')
  const headersEnd = preludeSize + view.getUint32(4)
  return { headers: readHeaders(bytes.subarray(preludeSize, headersEnd)), payload: bytes.subarray(headersEnd, end) }
}

const bytesType = 6
const textType = 7
/** Of values by their type; bytes and texts say theirs themselves. */
const sizes: readonly number[] = [0, 0, 1, 2, 4, 8, Number.NaN, Number.NaN, 8, 16]

function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const view = viewOf(bytes)
  const decoder = new TextDecoder()
  const headers = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + view.getUint8(at)
    const type = view.getUint8(nameEnd)
    const hasSize = type === bytesType || type === textType
    const start = nameEnd + (hasSize ? 3 : 1)
    const end = start + (hasSize ? view.getUint16(nameEnd + 1) : (sizes[type] ?? Number.NaN))
    if (!(end <= bytes.length)) throw new Error('The headers of a message are broken.')
    if (type === textType) headers.set(decoder.decode(bytes.subarray(at + 1, nameEnd)), decoder.decode(bytes.subarray(start, end)))
    at = end
  }
  return headers
}

/** CRC-32 as in gzip and PNG, a byte at a time. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (let at = 0; at < bytes.length; at += 1) sum = (sum >>> 8) ^ (remainders[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return (sum ^ 0xffffffff) >>> 0
}
