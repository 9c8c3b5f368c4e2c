import type { ApiReply } from '../api.ts'

/** A response body with a tag that identifies it. */
export interface View {
  readonly text: string
  readonly etag: string
}

/** The view of a `key` for the models of a `version`. Computed once, and cached while recently used. */
export type Views = (version: number, key: string, make: () => unknown) => View

/** Each may be as large as all models together. */
const maxViews = 64

export function keepViews(): Views {
  let views = new Map<string, View>()
  let of = 0
  return (version, key, make) => {
    if (version !== of) {
      views = new Map()
      of = version
    }
    const view = views.get(key) ?? viewOf(make())
    // Re-inserting an entry makes it the newest, because a Map keeps insertion order.
    views.delete(key)
    views.set(key, view)
    if (views.size > maxViews) views.delete(views.keys().next().value ?? '')
    return view
  }
}

export const viewReply = ({ text, etag }: View): ApiReply => ({
  status: 200,
  headers: { 'content-type': 'application/json', etag },
  body: text,
})

/** The JSON body of a value, with its tag. */
export function viewOf(value: unknown): View {
  const text = JSON.stringify(value)
  return { text, etag: `"${fingerprint(text)}"` }
}

/**
 * A hash that depends on the text only, so it is the same in every process and after a restart. Two 32-bit FNV-1a hashes with different
 * offsets; not suitable for security.
 */
function fingerprint(text: string): string {
  let one = 0x811c9dc5
  let two = 0x9747b28c
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, 0x01000193)
    two = Math.imul(two ^ code, 0x5bd1e995)
    two ^= two >>> 15
  }
  return [one, two, text.length].map(number => (number >>> 0).toString(36)).join('-')
}
