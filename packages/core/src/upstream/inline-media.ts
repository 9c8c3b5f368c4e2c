import { itemParts, requiresInlineMedia } from '@signalbox/dialects/common'
import { type GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { FilePart, ImagePart, InferenceRequest, Item, Part, ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { bodyCaps } from '@signalbox/dialects/protocol'
import type { ClaimMemory, MediaReader } from '../runtime/ports.ts'

// Some providers accept images and files only as bytes. For these, URLs are downloaded first.

/** Bytes of images and files that are put into one request: one that is named twice counts twice. */
const maxMediaBytes = 20 * 1024 * 1024
const maxAddresses = 20
const maxAddressCharacters = 8_192

export type Inlined =
  | {
      readonly ok: true
      readonly request: InferenceRequest
      readonly bytes: number
      /** Releases the memory claimed for the parts, once the request is no longer needed. */
      readonly release: () => void
    }
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
  /** Called with the memory that the parts will take as their bytes arrive. Throws to refuse the request. */
  readonly claimMemory?: ClaimMemory | undefined
}

/** Minimum bytes claimed at a time: bytes may arrive one by one. */
const claimStep = 65_536

/** The memory claimed for the parts of one request. */
function openClaims(claimMemory: ClaimMemory = () => () => {}) {
  const releases: (() => void)[] = []
  let claimed = 0
  let isOpen = true
  let refusal: GatewayError | undefined
  return {
    /** Claims up to `bytes` in total. Returns false once that is refused. */
    reach(bytes: number): boolean {
      if (!isOpen || refusal) return false
      if (bytes <= claimed) return true
      const more = Math.max(bytes - claimed, claimStep)
      try {
        releases.push(claimMemory(more))
        claimed += more
      } catch (error) {
        if (!isGatewayError(error)) throw error
        refusal = error
      }
      return refusal === undefined
    },
    refusal: () => refusal,
    release(): void {
      isOpen = false
      for (const release of releases.splice(0)) release()
    },
  }
}

type Claims = ReturnType<typeof openClaims>

/** The request with images and files at URLs replaced by their bytes. Each URL is downloaded once. */
export async function inlineMedia(request: InferenceRequest, { kinds, read, signal, claimMemory }: MediaToRead): Promise<Inlined> {
  const { prompt } = request
  const isRead = (part: Part): part is Remote => isRemote(part) && kinds.includes(part.type)
  const named = prompt.input.flatMap(item => itemParts(item).filter(isRead)).map(({ url }) => url)
  if (named.some(url => url.length > maxAddressCharacters))
    return { ok: false, why: `The URL of an image or file in the request is longer than ${maxAddressCharacters} characters.` }
  const uses = new Map<string, number>()
  for (const url of named) uses.set(url, (uses.get(url) ?? 0) + 1)
  if (named.length > bodyCaps.remoteParts)
    return { ok: false, why: `The request names images and files at URLs ${named.length} times; the limit is ${bodyCaps.remoteParts}.` }
  if (uses.size > maxAddresses)
    return { ok: false, why: `The request has ${uses.size} URLs of images and files; the limit is ${maxAddresses}.` }
  const claims = openClaims(claimMemory)
  let isKept = false
  try {
    const downloaded = await download(uses, { read, signal, claims })
    if (!downloaded.ok) return downloaded
    isKept = true
    const { found, bytes } = downloaded
    const input = prompt.input.map(item => withInlinedMedia(item, found, isRead))
    return {
      ok: true,
      bytes,
      release: claims.release,
      request: named.length === 0 ? request : { ...request, prompt: { ...prompt, input } },
    }
  } finally {
    if (!isKept) claims.release()
  }
}

type Downloaded =
  | { readonly ok: true; readonly found: ReadonlyMap<string, string>; readonly bytes: number }
  | Extract<Inlined, { readonly ok: false }>

interface Download extends Pick<MediaToRead, 'read' | 'signal'> {
  readonly claims: Claims
}

/** The data URLs of all URLs, each of which is used that many times. */
async function download(uses: ReadonlyMap<string, number>, { read, signal, claims }: Download): Promise<Downloaded> {
  const found = new Map<string, string>()
  let left = maxMediaBytes
  let bytes = 0
  for (const [url, times] of uses) {
    const onBytes = (arrived: number): boolean => claims.reach(bytes + times * base64Length(arrived))
    const media = await read(url, { maxBytes: Math.floor(left / times), signal, onBytes })
    const mediaUrl = media.ok ? `data:${media.mediaType};base64,${media.base64}` : ''
    bytes += times * mediaUrl.length
    // A reader that does not report its bytes is refused now.
    const refusal = claims.reach(bytes) ? undefined : claims.refusal()
    if (refusal) return { ok: false, why: refusal.message, refusal }
    if (!media.ok) return { ok: false, why: `An image or file of the request could not be downloaded: ${media.why}` }
    left -= times * Math.ceil((media.base64.length * 3) / 4)
    if (left < 0) return { ok: false, why: `The images and files at URLs of the request have more than ${maxMediaBytes} bytes together.` }
    found.set(url, mediaUrl)
  }
  return { ok: true, found, bytes }
}

const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4

function withInlinedMedia(item: Item, found: ReadonlyMap<string, string>, isRead: (part: Part) => part is Remote): Item {
  if (!itemParts(item).some(isRead)) return item
  const parts = itemParts(item).map(part => (isRead(part) ? { ...part, url: found.get(part.url) ?? part.url } : part))
  if (item.type === 'message') return { ...item, content: parts }
  return item.type === 'function_call_output' ? { ...item, output: parts } : item
}
