import { deriveCallId } from '../ids.ts'
import { plainName } from '../tool-names.ts'

// Tool names and call ids may only contain a few characters. A name with others is replaced by a hash, so that different names stay
// different, and a name is the same in every request.

const maxLength = 64
const isPlain = (text: string): boolean => text.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(text)

export const safeCallId = (id: string): string => (isPlain(id) ? id : deriveCallId(id))

export const safeName = (name: string): string => plainName(name, maxLength)
