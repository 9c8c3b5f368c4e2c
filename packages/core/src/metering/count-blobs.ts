import type { AudioPart, FilePart, ImagePart } from '@signalbox/dialects/protocol'
import { charactersPerToken } from './count-text.ts'

// Token counts of images, files and audio, derived from their dimensions and byte sizes.

/** A square of 1,024 pixels: most images sent by URL are scaled to about this size. */
const unseenImage = 1_400
/** `detail: low` scales an image down, whatever its size. */
const lowDetail = 85
/** Pixels to which a longer edge is scaled down before it is counted. */
const longestEdge = 1_568
const pixelsPerToken = 750
export const maxTokensPerImage = 1_600

/** Width × height ÷ 750 after scaling down, as Anthropic documents it. Other providers count tiles, with similar results. */
export function tokensOfImage({ url, detail }: Pick<ImagePart, 'url' | 'detail'>): number {
  if (detail === 'low') return lowDetail
  const size = sizeOf(url)
  if (!size) return unseenImage
  const scale = Math.min(1, longestEdge / Math.max(size.width, size.height))
  const tokens = Math.ceil((size.width * scale * (size.height * scale)) / pixelsPerToken)
  return Math.min(Math.max(tokens, 1), maxTokensPerImage)
}

/** A PDF page is about 50 kB and is read both as text and as an image. */
const pdf = { bytesPerPage: 50_000, tokensPerPage: 2_000, maxPages: 600 }
/** Assumed for a file given by URL or id, whose size is unknown. */
const unseenFile = 2_000

export function tokensOfFile({ url }: Pick<FilePart, 'url'>): number {
  const data = dataOf(url)
  if (!data) return unseenFile
  const bytes = bytesOf(data.base64)
  if (data.type.startsWith('text/')) return Math.ceil(bytes / charactersPerToken)
  return Math.min(Math.max(1, Math.ceil(bytes / pdf.bytesPerPage)), pdf.maxPages) * pdf.tokensPerPage
}

/** 25 tokens per second at typical data rates: 48,000 bytes per second uncompressed, otherwise 16,000. */
const bytesPerSoundToken: ReadonlyMap<string, number> = new Map([
  ['wav', 1_920],
  ['pcm16', 1_920],
])

export const tokensOfSound = ({ data, format }: Pick<AudioPart, 'data' | 'format'>): number =>
  Math.ceil(bytesOf(data) / (bytesPerSoundToken.get(format) ?? 640))

const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4)

const dataUrl = /^data:([\w.+/-]{0,200})(?:;[\w=.+-]{1,200}){0,5},/

/** Matches only the head of a data URL and slices the rest: a payload may be megabytes long. */
function dataOf(url: string): { readonly type: string; readonly base64: string } | undefined {
  const head = dataUrl.exec(url.slice(0, 1_300))
  return head ? { type: head[1] ?? '', base64: url.slice(head[0].length) } : undefined
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Reads `length` bytes of an image from `at`: fewer at its end, none if it is not base64. */
type Bytes = (at: number, length: number) => Uint8Array

/** Width and height from the image header; no pixels are decoded. Undefined for unknown formats and plain URLs. */
function sizeOf(url: string): Size | undefined {
  const data = dataOf(url)
  if (!data) return undefined
  const bytes = reader(data.base64)
  const head = bytes(0, 32)
  const format = formats.find(({ mark, at }) => startsWith(head, mark, at))
  const size = head.length === 32 ? format?.size(new DataView(head.buffer, head.byteOffset), bytes) : undefined
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

const startsWith = (head: Uint8Array, mark: string, at: number): boolean =>
  [...mark].every((letter, index) => head[at + index] === letter.charCodeAt(0))

interface Format {
  readonly mark: string
  readonly at: number
  readonly size: (head: DataView, bytes: Bytes) => Size | undefined
}

const formats: readonly Format[] = [
  { mark: '\x89PNG', at: 0, size: head => ({ width: head.getUint32(16), height: head.getUint32(20) }) },
  { mark: 'GIF8', at: 0, size: head => ({ width: head.getUint16(6, true), height: head.getUint16(8, true) }) },
  { mark: 'VP8 ', at: 12, size: head => ({ width: head.getUint16(26, true) & 0x3fff, height: head.getUint16(28, true) & 0x3fff }) },
  { mark: 'VP8L', at: 12, size: head => lossless(head.getUint32(21, true)) },
  { mark: 'VP8X', at: 12, size: head => ({ width: threeBytes(head, 24) + 1, height: threeBytes(head, 27) + 1 }) },
  { mark: '\xff\xd8', at: 0, size: (_, bytes) => jpegSize(bytes) },
]

const lossless = (bits: number): Size => ({ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 })
const threeBytes = (head: DataView, at: number): number => head.getUint16(at, true) | (head.getUint8(at + 2) << 16)

/** More segments than any camera writes before the frame header. */
const maxSegments = 200

/** Walks the segments up to the frame header, skipping previews and colour profiles. */
function jpegSize(bytes: Bytes): Size | undefined {
  let at = 2
  for (let segments = 0; segments < maxSegments; segments++) {
    const segment = bytes(at, 9)
    if (segment.length < 9 || segment[0] !== 0xff) return undefined
    const view = new DataView(segment.buffer, segment.byteOffset)
    if (isFrame(view.getUint8(1))) return { width: view.getUint16(7), height: view.getUint16(5) }
    at += 2 + view.getUint16(2)
  }
  return undefined
}

/** SOF0 to SOF15, except the three markers in that range with other meanings. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Decodes only the characters that contain the requested bytes. */
function reader(base64: string): Bytes {
  return (at, length) => {
    const from = Math.floor(at / 3)
    const to = Math.ceil((at + length) / 3)
    try {
      const text = atob(base64.slice(from * 4, to * 4))
      return Uint8Array.from(text.slice(at - from * 3, at - from * 3 + length), letter => letter.charCodeAt(0))
    } catch {
      return new Uint8Array(0)
    }
  }
}
