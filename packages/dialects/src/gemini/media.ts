import type { MediaSupport } from '../protocol/media-support.ts'

export const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ isBase64 }) => isBase64,
  file: ({ isBase64 }) => isBase64,
}
