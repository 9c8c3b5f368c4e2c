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

// Bytes are read one by one: a view would be made for every message, and they are short.
const uint16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
const uint32 = (bytes: Uint8Array, at: number): number => uint16(bytes, at) * 0x10000 + uint16(bytes, at + 2)

/** Of the message that begins here, once its prelude is proven. Throws where there can be none. */
export function sizeOfMessage(bytes: Uint8Array, at: number): number {
  if (uint32(bytes, at + 8) !== crc32(bytes, at, at + 8)) throw new Error('The checksum of a message prelude is wrong.')
  const size = uint32(bytes, at)
  if (size < minSize || uint32(bytes, at + 4) > size - minSize) throw new Error('The lengths of a message contradict each other.')
  return size
}

/**
 * Reads whole messages whose preludes are proven, from `at` to `next`. Throws where a checksum or the headers are broken.
 * Nearly every message of a stream has the headers of the one before it, to the byte: those are read once.
 */
export function messageReader(): (bytes: Uint8Array, at: number, next: number) => Message {
  let known = new Uint8Array(0)
  let headers: Message['headers'] = new Map()
  return (bytes, at, next) => {
    const end = next - checksumSize
    if (uint32(bytes, end) !== crc32(bytes, at, end)) throw new Error('The checksum of a message is wrong.')
    const start = at + preludeSize
    const headersEnd = start + uint32(bytes, at + 4)
    if (headersEnd - start !== known.length || !standsAt(bytes, start, known)) {
      headers = readHeaders(bytes.subarray(start, headersEnd))
      known = new Uint8Array(bytes.subarray(start, headersEnd))
    }
    return { headers, payload: bytes.subarray(headersEnd, end) }
  }
}

function standsAt(bytes: Uint8Array, start: number, known: Uint8Array): boolean {
  for (let at = 0; at < known.length; at += 1) if (bytes[start + at] !== known[at]) return false
  return true
}

const bytesType = 6
const textType = 7
/** Of values by their type; bytes and texts say theirs themselves. */
const sizes: readonly number[] = [0, 0, 1, 2, 4, 8, Number.NaN, Number.NaN, 8, 16]

function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + (bytes[at] ?? 0)
    const type = bytes[nameEnd] ?? 0
    const hasSize = type === bytesType || type === textType
    const start = nameEnd + (hasSize ? 3 : 1)
    const next = start + (hasSize ? uint16(bytes, nameEnd + 1) : (sizes[type] ?? Number.NaN))
    if (!(next <= bytes.length)) throw new Error('The headers of a message are broken.')
    if (type === textType) headers.set(textIn(bytes, at + 1, nameEnd), textIn(bytes, start, next))
    at = next
  }
  return headers
}

/** Short and plain as a rule: a decoder costs more than the text is long. */
function textIn(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte >= 0x80) return new TextDecoder().decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

/** CRC-32 as in gzip and PNG. What is left of a byte that stands last, and of one that 1, 2 or 3 others follow. */
const last = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})
const oneBefore = (rests: Int32Array): Int32Array => rests.map(rest => (rest >>> 8) ^ (last[rest & 0xff] ?? 0))
const third = oneBefore(last)
const second = oneBefore(third)
const first = oneBefore(second)

/** Four bytes at a time, which takes half as long as one by one: every message is summed whole. */
function crc32(bytes: Uint8Array, start: number, end: number): number {
  let sum = -1
  let at = start
  for (; at + 4 <= end; at += 4) {
    sum ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
    sum = (first[sum & 0xff] ?? 0) ^ (second[(sum >>> 8) & 0xff] ?? 0) ^ (third[(sum >>> 16) & 0xff] ?? 0) ^ (last[sum >>> 24] ?? 0)
  }
  for (; at < end; at += 1) sum = (sum >>> 8) ^ (last[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return ~sum >>> 0
}
