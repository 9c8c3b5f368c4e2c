import type { MediaSupport } from '../protocol/media-support.ts'

export const media: MediaSupport = { places: ['user', 'system', 'tool'] }
