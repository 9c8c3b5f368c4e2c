import { hashed, plainName } from '../tool-names.ts'

const safeCharacters = /^[a-zA-Z0-9_-]+$/
const maxNameLength = 128

/** A call id that the provider accepts. Ids may have any length. */
export const safeId = (id: string): string => (safeCharacters.test(id) ? id : hashed(id, id.length))

export const safeName = (name: string): string => plainName(name, maxNameLength)
