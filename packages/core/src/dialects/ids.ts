import { fnv1a } from '../runtime/fnv.ts'

/**
 * A call id for a call that came without a usable one. Made from the answer it stands in, so that decoding stays pure and
 * two answers of one conversation do not collide.
 */
export function deriveCallId(...seed: readonly (string | number)[]): string {
  const text = seed.join('\u0000')
  return `call_${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}${hash(text, 0x9e3779b9)}`
}

/** A call's id, or, where a vendor takes none so long, one that always stands for it: calls and results still find each other. */
export const shortCallId = (id: string, longest: number): string => (id.length <= longest ? id : deriveCallId(id))

/** Seven characters of base 36. */
function hash(text: string, basis: number): string {
  let value = fnv1a(text, basis)
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b)
  return ((value ^ (value >>> 13)) >>> 0).toString(36).padStart(7, '0')
}

/** The id of an answer as another language prefixes it: `idUnder('chatcmpl-', stamp)`. */
export const idUnder = (prefix: string, { id }: { readonly id: string }): string => prefix + id.slice(id.indexOf('_') + 1)

/** Vendors take so many characters of an id that stands for somebody; clients send whole objects as one. */
const longestId = 64

/** An id of a caller's making, or, where it is too long, one that always stands for it. */
export const shortId = (id: string): string => (id.length <= longestId ? id : deriveCallId(id).replace('call_', 'id_'))

/** The id of the request that an answer belongs to, as headers and logs have it: ours, in any language, are that one without its dashes. */
export const requestIdOf = (stamp: { readonly id: string }): string =>
  idUnder('', stamp).replace(/^(?:[a-z]+-)?(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, '$1-$2-$3-$4-$5')

/** The id of a call in one answer: its own, unless that is blank or taken, else one derived from `seed`. `taken`: the ids given so far. */
export function callIdFor(taken: Set<string>, given: string, seed: readonly (string | number)[]): string {
  const id = given !== '' && !taken.has(given) ? given : deriveCallId(...seed)
  taken.add(id)
  return id
}
