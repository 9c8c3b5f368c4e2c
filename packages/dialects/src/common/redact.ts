import type { Credential } from '../protocol/provider.ts'
import { toBase64Url } from './base64.ts'

const maxLength = 500

/** Patterns of secrets in provider messages. Repetitions are bounded, because the text is untrusted. */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk|ak|gsk|xai|pplx|hf|nvapi|fw|key|tgp|csk)[-_][\w\-*.]{6,2000}/gi, '[redacted]'],
  [/\bBearer\s{1,8}[^\s"',;]{1,2000}/gi, 'Bearer [redacted]'],
  [/\beyJ[\w-]{4,2000}\.[\w-]{4,2000}(?:\.[\w-]{0,2000})?/g, '[redacted]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,32}/g, '[redacted]'],
  [/\bAIza[\w-]{20,60}/g, '[redacted]'],
  [/\bya29\.[\w.-]{20,2000}/g, '[redacted]'],
  [/\b((?:api[-_]?|access[-_]?)?(?:key|token|secret|signature|password|sig)=)[^&\s"']{1,2000}/gi, '$1[redacted]'],
]

/** Provider text that may be shown to a client: no secrets, no control characters, at most 500 characters. */
export function redact(text: string): string {
  const clean = secrets.reduce((kept, [pattern, put]) => kept.replace(pattern, put), withoutControls(text.slice(0, 4 * maxLength)))
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed here
const withoutControls = (text: string): string => text.replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g, ' ').trim()

/** Minimum common letters and digits for a quotation. Shorter stretches may be ordinary words. */
const minQuoted = 8

/**
 * The provider's text without the secret it was called with. A provider may quote the secret unchanged, escaped for a URL, JSON, HTML or a
 * string, in base64, hex or decimal bytes, in capitals or full width, or broken over lines, and its message may be cut inside it. So only
 * letters and digits of text and secret are compared, and every stretch that both have in common is removed.
 */
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
