import type { MediaSupport } from '../protocol/media-support.ts'

/** Media from tool results is sent in a user message after them. */
export const media: MediaSupport = { places: ['user', 'system', 'tool'] }
