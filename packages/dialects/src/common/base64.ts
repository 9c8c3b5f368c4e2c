/** Characters per call. More arguments than this overflow the stack of some runtimes. */
const chunkSize = 8_192

/** `toBase64(new Uint8Array([104, 105]))` → `aGk=` */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunkSize)
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + chunkSize) as unknown as number[])
  return btoa(binary)
}

/** Encodes bytes as base64url, without padding. */
export const toBase64Url = (bytes: Uint8Array): string => toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Decodes base64; undefined if the text is not valid. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(binary.length)
  // An index loop, because iterating over the characters of a large file takes seconds.
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** Decodes base64url; undefined if the text is not valid. */
export const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> | undefined =>
  /^[\w-]*$/.test(text) ? fromBase64(text.replaceAll('-', '+').replaceAll('_', '/')) : undefined
