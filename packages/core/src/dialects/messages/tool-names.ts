import { hashed, plainName } from '../tool-names.ts'

const plain = /^[a-zA-Z0-9_-]+$/
const longestName = 128

/** An id may be of any length there. */
export const safeId = (id: string): string => (plain.test(id) ? id : hashed(id, id.length))

export const safeName = (name: string): string => plainName(name, longestName)
