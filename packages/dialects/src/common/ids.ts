import type { Item } from '../protocol/item.ts'
import { fnv1a } from './fnv.ts'

/**
 * Derives a call id for a call without a usable one. It is a hash of the response that contains the call, so that decoding stays pure and
 * ids of two responses in a conversation differ.
 */
export function deriveCallId(...seed: readonly (string | number)[]): string {
  const text = seed.join('\u0000')
  return `call_${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}${hash(text, 0x9e3779b9)}`
}

/** The ids of the calls and results of a conversation. */
export const callIdsIn = (items: readonly Item[]): readonly string[] =>
  items.flatMap(item => (item.type === 'function_call' || item.type === 'function_call_output' ? item.call_id : []))

/** The hash that stands for a call id which a provider does not accept. Each attempt gives another one. */
export const hashedCallId = (id: string, attempt: number): string => (attempt === 0 ? deriveCallId(id) : deriveCallId(attempt, id))

/** A call id for providers that limit its length: itself, or its hash. */
export const shortCallId = (id: string, attempt: number, maxLength: number): string =>
  id.length <= maxLength ? id : hashedCallId(id, attempt)

/** Seven base 36 digits. */
function hash(text: string, basis: number): string {
  let value = fnv1a(text, basis)
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b)
  return ((value ^ (value >>> 13)) >>> 0).toString(36).padStart(7, '0')
}

/** The id of a response with another dialect's prefix: `idUnder('chatcmpl-', metadata)`. */
export const idUnder = (prefix: string, { id }: { readonly id: string }): string => prefix + id.slice(id.indexOf('_') + 1)

/** Vendors limit the length of user ids, but some clients send whole objects. */
const maxIdLength = 64

/** The client's user id, or its hash if it is too long. */
export const shortId = (id: string): string => (id.length <= maxIdLength ? id : deriveCallId(id).replace('call_', 'id_'))

/** The request id of a response, as in headers and logs. A response id is the request id without dashes. */
export const requestIdOf = (metadata: { readonly id: string }): string =>
  idUnder('', metadata).replace(/^(?:[a-z]+-)?(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, '$1-$2-$3-$4-$5')

/** Longer ids are never used as map keys: V8 does not hash texts longer than 16,383 characters, so it compares each with all others. */
const maxLookupLength = 4_096

/** The call id, or an empty string if it is too long to be a map key. */
export const usableCallId = (id: string): string => (id.length <= maxLookupLength ? id : '')

/** The id of a call within one response: its own, unless that is empty, taken or too long; otherwise one derived from `seed`. `taken`: ids used so far. */
export function callIdFor(taken: Set<string>, given: string, seed: readonly (string | number)[]): string {
  const isUsable = usableCallId(given) !== '' && !taken.has(given)
  const id = isUsable ? given : deriveCallId(...seed)
  taken.add(id)
  return id
}
