import { hashedCallId } from '../common/ids.ts'

// Tool names and call ids may only contain a few characters.

/** Of tool names and of call ids. */
export const maxNameLength = 64
const isPlain = (text: string): boolean => text.length <= maxNameLength && /^[a-zA-Z0-9_-]+$/.test(text)

/** The call id itself if it is plain, otherwise its hash, which differs by attempt. */
export const safeCallId = (id: string, attempt: number): string => (isPlain(id) ? id : hashedCallId(id, attempt))
