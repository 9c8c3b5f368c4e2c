import { hashed } from '../common/tool-names.ts'

const safeCharacters = /^[a-zA-Z0-9_-]+$/
export const maxToolName = 128

export const isSafeId = (id: string): boolean => safeCharacters.test(id)

/** A call id that the provider accepts, which may have any length. Another one for each attempt. */
export const safeId = (id: string, attempt: number): string => (isSafeId(id) ? id : hashed(id, attempt, id.length))
