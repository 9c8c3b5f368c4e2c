import { deriveCallId } from '../ids.ts'
import { plainName } from '../tool-names.ts'

// Tool names and call ids consist of the same few characters. Anything else is replaced with a hash of itself: two that differ
// stay different, and each stays the same in every request.

const maxLength = 64
const isPlain = (text: string): boolean => text.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(text)

export const safeCallId = (id: string): string => (isPlain(id) ? id : deriveCallId(id))

export const safeName = (name: string): string => plainName(name, maxLength)
