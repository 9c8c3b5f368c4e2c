import type { MediaSupport } from '../protocol/media-support.ts'

/** Accepted media types of images, with their standard spelling. */
export const imageTypes: ReadonlyMap<string, string> = new Map(
  ['jpeg', 'png', 'gif', 'webp', 'jpg'].map(kind => [`image/${kind}`, kind === 'jpg' ? 'image/jpeg' : `image/${kind}`]),
)

/** A file of any text type is sent as text. */
export const isTextType = (type: string): boolean => type === '' || type.startsWith('text/')

export const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ type, isBase64 }) => isBase64 && imageTypes.has(type),
  file: ({ type, isBase64 }) => (isBase64 && type === 'application/pdf') || isTextType(type),
}
