import { mintCallId } from '../mint.ts'

// Names and ids are letters, digits, `_` and `-` there. Whatever is written otherwise carries a hash of what it was, so that
// two of them never become one, and the same one always becomes the same.

const plain = /^[a-zA-Z0-9_-]+$/
const longestName = 128

export const safeId = (id: string): string => (plain.test(id) ? id : rewritten(id, id.length))

export const safeName = (name: string): string =>
  plain.test(name) && name.length <= longestName ? name : rewritten(name, longestName - hashLength - 1)

const hashLength = 21

const rewritten = (text: string, most: number): string =>
  `${text.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, most)}_${mintCallId(text).slice('call_'.length)}`
