import type { Credential } from '../protocol/provider.ts'
import { toBase64Url } from './base64.ts'

// A provider may quote the secret unchanged, escaped for a URL, JSON, HTML or a string, in base64, hex or decimal bytes, in capitals or full
// width, or broken over lines, and its message may be cut inside it. So only letters and digits of text and secret are compared, and every stretch that both have in common is
// removed.

/** Minimum common letters and digits for a quotation. Shorter stretches may be ordinary words. */
const minQuoted = 8

/** The provider's text without the secret it was called with. */
export function withoutSecret(text: string, { secret }: Pick<Credential, 'secret'>): string {
  const bare = bareOf(text)
  if (bare.text.length < minQuoted) return text
  const quoted = quotedIn(bare.text, secretParts(secret).flatMap(formsOf))
  return quoted.length === 0 ? text : cutOut(text, bare, quoted)
}

/** For a secret in JSON, each part that is long enough to be a secret. */
const secretParts = (secret: string): readonly string[] => (secret.startsWith('{') ? (secret.match(/[\w+/=-]{16,4096}/g) ?? []) : [secret])

/** The encodings of a secret that differ in letters and digits. */
function formsOf(secret: string): readonly string[] {
  const bytes = new TextEncoder().encode(secret)
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  // In the base64 of a longer text, the secret may start at any of three offsets.
  const base64 = [0, 1, 2].map(skipped => toBase64Url(bytes.subarray(skipped)))
  return [bareOf(secret).text, bytes.join(''), ...[hex, ...base64].map(form => form.replace(/[_-]/g, '').toLowerCase())]
}

interface Bare {
  /** Letters and digits, in lower case. */
  readonly text: string
  /** Start and end of each character in the original. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** Escapes of JSON, strings, URLs and HTML, letters and digits, those of full width, and the prefix of hexadecimal bytes. */
const characters =
  /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|%([0-9a-f]{2})|&#x([0-9a-f]{1,4});|&#([0-9]{1,5});|([\uff10-\uff5a])|\b0x(?=[0-9a-f]{2})|[a-z0-9]/gi

function bareOf(original: string): Bare {
  let text = ''
  const starts: number[] = []
  const ends: number[] = []
  for (const match of original.matchAll(characters)) {
    const [whole, json, string, url, hex, decimal, wide] = match
    const code = json ?? string ?? url ?? hex
    const isEscape = code !== undefined || decimal !== undefined
    const character = isEscape
      ? String.fromCharCode(code === undefined ? Number(decimal) : Number.parseInt(code, 16))
      : (wide?.normalize('NFKC') ?? whole)
    if (!/^[a-z0-9]$/i.test(character)) continue
    text += character.toLowerCase()
    starts.push(match.index)
    ends.push(match.index + whole.length)
  }
  return { text, starts, ends }
}

/** Where the text contains a stretch of an encoding, in order. */
function quotedIn(text: string, forms: readonly string[]): readonly number[] {
  const places = new Map<string, number[]>()
  // Most stretches of the secret share no hash with the text, so no substring has to be created for them.
  const hashes = new Uint8Array(hashSize)
  eachStretch(text, (at, hash) => {
    const stretch = text.slice(at, at + minQuoted)
    const known = places.get(stretch)
    if (known) known.push(at)
    else places.set(stretch, [at])
    hashes[hash] = 1
  })
  const found: number[] = []
  for (const form of forms) {
    eachStretch(form, (at, hash) => {
      if (hashes[hash] === 0) return
      const stretch = form.slice(at, at + minQuoted)
      for (const place of places.get(stretch) ?? []) found.push(place)
      places.delete(stretch)
    })
  }
  return found.sort((a, b) => a - b)
}

const hashSize = 8_192
const factor = 31
/** The weight of the first character in a rolling hash. */
const leading = Array.from({ length: minQuoted - 1 }).reduce((power: number) => Math.imul(power, factor), 1)

/** Visits every stretch of `minQuoted` characters with its rolling hash. */
function eachStretch(text: string, visit: (at: number, hash: number) => void): void {
  let hash = 0
  for (let end = 0; end < text.length; end += 1) {
    const at = end - minQuoted + 1
    if (at > 0) hash -= Math.imul(text.charCodeAt(at - 1), leading)
    hash = (Math.imul(hash, factor) + text.charCodeAt(end)) | 0
    if (at >= 0) visit(at, hash & (hashSize - 1))
  }
}

function cutOut(text: string, { starts, ends }: Bare, quoted: readonly number[]): string {
  let kept = ''
  let from = 0
  for (const place of quoted) {
    const start = starts[place] ?? 0
    if (start >= from) kept += `${text.slice(from, start)}[redacted]`
    from = ends[place + minQuoted - 1] ?? text.length
  }
  return kept + text.slice(from)
}
