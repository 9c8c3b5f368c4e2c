import type { ImagePart, Item, MessageItem, Native } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import { type DialectName, innerDialect, type JsonObject } from '../protocol/wire.ts'
import { stringOf } from './json.ts'

// Images that a model made. Inside they are items as the gateway's own language has them: `image_generation_call`, with the bytes in
// base64 as `result`; one that its provider keeps at an address has that as `url`.

export const imageType = 'image_generation_call'

/** The item of an image; undefined if the URL is neither base64 of an image nor an address of the web. `original`: its object on the wire. */
export function imageItem(url: string, original?: { readonly dialect: DialectName; readonly body: JsonObject }): Native | undefined {
  const facts = isAddress(url) ? { result: null, url } : imageBytes(url)
  if (!facts) return undefined
  return remember<Native>({ type: 'native', dialect: innerDialect, body: { type: imageType, status: 'completed', ...facts } }, original)
}

/** The item as it is announced. */
export const announcedImage: Native = {
  type: 'native',
  dialect: innerDialect,
  body: { type: imageType, status: 'in_progress', result: null },
}

/** The data URL or address of the image that an item is; undefined if it is none, or if its bytes are missing or no base64. */
export function imageUrlOf(item: Item): string | undefined {
  if (item.type !== 'native' || item.dialect !== innerDialect || item.body.type !== imageType) return undefined
  const { result, url, output_format } = item.body
  if (typeof url === 'string' && isAddress(url)) return url
  const bytes = stringOf(result)
  if (!base64.test(bytes)) return undefined
  const format = stringOf(output_format)
  return `data:image/${imageFormat.test(format) ? format : formatOf(bytes)};base64,${bytes}`
}

/**
 * Images that the model made in an earlier turn. Where a language does not say otherwise they are images of the user, since few models take
 * one in their own turns.
 */
export const sentBack = (images: readonly ImagePart[]): MessageItem => ({
  type: 'message',
  role: 'user',
  content: [
    { type: 'text', text: images.length === 1 ? '(The image that the assistant made:)' : '(The images that the assistant made:)' },
    ...images,
  ],
})

/** The images of such a message; undefined if the item is another. */
export function imagesSentBack(item: Item): readonly ImagePart[] | undefined {
  if (item.type !== 'message' || item.role !== 'user') return undefined
  const images = item.content.filter(part => part.type === 'image' && part.isGenerated === true) as readonly ImagePart[]
  return images.length > 0 ? images : undefined
}

/** Whether a URL is that of an image which can be sent back: base64, or an address. */
export const isImageUrl = (url: string): boolean => isAddress(url) || imageBytes(url) !== undefined

/** The image as Markdown, for languages whose answers hold nothing but text. */
export const imageMarkdown = (url: string): string => `![image](${url})`

const imageFormat = /^[a-z][a-z.+-]{2,20}$/
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** An address without characters that would end it in Markdown. */
const isAddress = (url: string): boolean => url.length <= maxAddressLength && /^https?:\/\/[^\s()<>"\\]+$/i.test(url)
const maxAddressLength = 8_192

/** What is before the comma of a data URL is short. */
const maxHeadLength = 100

function imageBytes(url: string): JsonObject | undefined {
  const comma = url.slice(0, maxHeadLength).indexOf(',')
  const [, format = ''] = /^data:image\/([^;,]+);base64$/.exec(url.slice(0, Math.max(comma, 0))) ?? []
  const result = url.slice(comma + 1)
  return imageFormat.test(format) && base64.test(result) ? { result, output_format: format } : undefined
}

/** How the bytes of each format begin, in base64. */
const beginnings: readonly (readonly [string, string])[] = [
  ['/9j/', 'jpeg'],
  ['UklGR', 'webp'],
  ['R0lGOD', 'gif'],
]
const formatOf = (bytes: string): string => beginnings.find(([start]) => bytes.startsWith(start))?.[1] ?? 'png'
