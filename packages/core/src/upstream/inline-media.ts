import { itemParts, requiresInlineMedia } from '@signalbox/dialects/common'
import { type GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { FilePart, ImagePart, InferenceRequest, Item, Part, ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { bodyCaps } from '@signalbox/dialects/protocol'
import type { MediaReader } from '../runtime/ports.ts'

// Some providers accept images and files only as bytes. For these, URLs are downloaded first.

/** Bytes of images and files that are put into one request: one that is named twice counts twice. */
const maxMediaBytes = 20 * 1024 * 1024
const maxAddresses = 20
const maxAddressCharacters = 8_192

export type Inlined =
  | { readonly ok: true; readonly request: InferenceRequest; readonly bytes: number }
  /** `refusal`: the gateway has no memory for it now. */
  | { readonly ok: false; readonly why: string; readonly refusal?: GatewayError }

type Remote = ImagePart | FilePart

/** The kinds of parts that an offer does not accept as URLs. */
export type RemoteKinds = readonly Remote['type'][]

const isRemote = (part: Part): part is Remote => (part.type === 'image' || part.type === 'file') && !part.url.startsWith('data:')

const kinds: RemoteKinds = ['image', 'file']

/** The kinds of parts in the request that must be downloaded for this offer. */
export function kindsToRead(
  { prompt }: InferenceRequest,
  { dialect, quirks }: { readonly dialect: ProviderDialect; readonly quirks: Quirks },
): RemoteKinds {
  const untaken = kinds.filter(kind => requiresInlineMedia(kind, quirks, dialect))
  if (untaken.length === 0) return untaken
  return untaken.filter(kind => prompt.input.some(item => itemParts(item).some(part => part.type === kind && isRemote(part))))
}

export interface MediaToRead {
  readonly kinds: RemoteKinds
  readonly read: MediaReader
  readonly signal: AbortSignal
  /** Called with the bytes of memory that the parts take, before they are encoded. Throws to refuse the request. */
  readonly claimMemory?: ((bytes: number) => void) | undefined
}

/** The request with images and files at URLs replaced by their bytes. Each URL is downloaded once. */
export async function inlineMedia(request: InferenceRequest, { kinds, read, signal, claimMemory }: MediaToRead): Promise<Inlined> {
  const { prompt } = request
  const isRead = (part: Part): part is Remote => isRemote(part) && kinds.includes(part.type)
  const named = prompt.input.flatMap(item => itemParts(item).filter(isRead)).map(({ url }) => url)
  if (named.some(url => url.length > maxAddressCharacters))
    return { ok: false, why: `The URL of an image or file in the request is longer than ${maxAddressCharacters} characters.` }
  const uses = new Map<string, number>()
  for (const url of named) uses.set(url, (uses.get(url) ?? 0) + 1)
  if (named.length === 0) return { ok: true, request, bytes: 0 }
  if (named.length > bodyCaps.remoteParts)
    return { ok: false, why: `The request names images and files at URLs ${named.length} times; the limit is ${bodyCaps.remoteParts}.` }
  if (uses.size > maxAddresses)
    return { ok: false, why: `The request has ${uses.size} URLs of images and files; the limit is ${maxAddresses}.` }
  const found = new Map<string, string>()
  let left = maxMediaBytes
  for (const [url, times] of uses) {
    const media = await read(url, { maxBytes: Math.floor(left / times), signal })
    if (!media.ok) return { ok: false, why: `An image or file of the request could not be downloaded: ${media.why}` }
    left -= times * Math.ceil((media.base64.length * 3) / 4)
    if (left < 0) return { ok: false, why: `The images and files at URLs of the request have more than ${maxMediaBytes} bytes together.` }
    found.set(url, `data:${media.mediaType};base64,${media.base64}`)
  }
  const bytes = named.reduce((sum, url) => sum + (found.get(url)?.length ?? 0), 0)
  try {
    claimMemory?.(bytes)
  } catch (error) {
    if (isGatewayError(error)) return { ok: false, why: error.message, refusal: error }
    throw error
  }
  return {
    ok: true,
    bytes,
    request: { ...request, prompt: { ...prompt, input: prompt.input.map(item => withInlinedMedia(item, found, isRead)) } },
  }
}

function withInlinedMedia(item: Item, found: ReadonlyMap<string, string>, isRead: (part: Part) => part is Remote): Item {
  if (!itemParts(item).some(isRead)) return item
  const parts = itemParts(item).map(part => (isRead(part) ? { ...part, url: found.get(part.url) ?? part.url } : part))
  if (item.type === 'message') return { ...item, content: parts }
  return item.type === 'function_call_output' ? { ...item, output: parts } : item
}
