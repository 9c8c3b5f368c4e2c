// AWS event stream (`application/vnd.amazon.eventstream`). A message has a prelude (two lengths and their checksum), headers, a payload,
// and a checksum of all of it. Implemented here because the code is short and the available packages are much larger.

/** Bytes of the prelude: two lengths and their checksum. */
export const preludeSize = 12
const checksumSize = 4
/** Smallest message: a prelude and a checksum, without headers and payload. */
const minSize = preludeSize + checksumSize

export interface Message {
  /** Text headers only; the others are not needed. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

// Reads single bytes: messages are short, and a DataView would be allocated for each.
const uint16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
const uint32 = (bytes: Uint8Array, at: number): number => uint16(bytes, at) * 0x10000 + uint16(bytes, at + 2)

/** Size of the message that starts here, after checking its prelude. Throws if the prelude is invalid. */
export function sizeOfMessage(bytes: Uint8Array, at: number): number {
  if (uint32(bytes, at + 8) !== crc32(bytes, at, at + 8)) throw new Error('The checksum of a message prelude is wrong.')
  const size = uint32(bytes, at)
  if (size < minSize || uint32(bytes, at + 4) > size - minSize) throw new Error('The lengths of a message contradict each other.')
  return size
}

/**
 * Creates a reader of whole messages, from `at` to `next`, whose preludes were checked. Throws if a checksum or the headers are invalid.
 * Nearly every message has exactly the same header bytes as the one before, so those are parsed once.
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
/** Value sizes by header type. Byte and text values carry their own length. */
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

/** Decodes short ASCII directly, because a TextDecoder costs more than the text is long. */
function textIn(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte >= 0x80) return new TextDecoder().decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

/** CRC-32 as in gzip and PNG: tables for a byte at the end, and for one followed by 1, 2 or 3 others. */
const last = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})
const oneBefore = (rests: Int32Array): Int32Array => rests.map(rest => (rest >>> 8) ^ (last[rest & 0xff] ?? 0))
const third = oneBefore(last)
const second = oneBefore(third)
const first = oneBefore(second)

/** Processes four bytes at a time, which takes half as long; every message is checksummed completely. */
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
