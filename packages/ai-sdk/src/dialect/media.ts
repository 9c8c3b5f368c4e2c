// Media types and bytes of files.

/** Base64 prefix of a file → media type. */
const signatures: readonly (readonly [start: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi0', 'application/pdf'],
  ['SUQz', 'audio/mpeg'],
]

/** RIFF files name their content at byte 8, which is character 11 of the base64. */
const riffTypes: readonly (readonly [text: string, mediaType: string])[] = [
  ['WAVE', 'audio/wav'],
  ['WEBP', 'image/webp'],
]

/** Completes a media type. If only its first half is given (`image` or `image/*`), the bytes decide, or else the usual type of the kind. */
export function mediaTypeOf(declared: string, base64: string | undefined): string {
  const [kind = '', subtype = '*'] = declared.toLowerCase().split('/', 2)
  if (subtype !== '*' && subtype !== '') return declared
  const known = base64 === undefined ? undefined : signatureOf(base64)
  return known?.startsWith(`${kind}/`) || (known !== undefined && kind === 'application') ? known : (usual.get(kind) ?? declared)
}

const usual: ReadonlyMap<string, string> = new Map([
  ['image', 'image/png'],
  ['audio', 'audio/wav'],
  ['text', 'text/plain'],
  ['application', 'application/pdf'],
  ['video', 'video/mp4'],
])

function signatureOf(base64: string): string | undefined {
  const known = signatures.find(([start]) => base64.startsWith(start))
  if (known) return known[1]
  if (!/^UklGR[A-Za-z0-9+/]{11}/.test(base64)) return undefined
  const head = atob(base64.slice(0, 16))
  return riffTypes.find(([text]) => head.slice(8, 12) === text)?.[1]
}

/** Maximum bytes converted to characters at once. */
const chunkBytes = 0x2000

/** Bytes as base64. */
export function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += chunkBytes)
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + chunkBytes) as unknown as number[])
  return btoa(text)
}
