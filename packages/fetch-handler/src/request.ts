import { type ApiRequest, type BodyText, collectBytes, isBomb, mountBefore, type SignIn, signedInBy, watchUpload } from '@signalbox/api'
import type { ClientPace } from './idle-timer.ts'

/** One client request as the API takes it, with the means to end it. */
export interface FetchExchange {
  readonly request: ApiRequest
  /** Aborts the request's signal: the client has disconnected. */
  readonly disconnect: (reason: unknown) => void
  /** Registers a callback for when the client aborts the Request itself. */
  readonly onAbort: (run: (reason: unknown) => void) => void
  readonly isDisconnected: () => boolean
}

/** How the URL of a request is read. Default: unchanged. */
export interface ExchangeOptions {
  /** The path that the API sees, for a gateway mounted below another path. */
  readonly mapPath?: ((path: string) => string) | undefined
  /** The query that the API sees, without what a framework added. */
  readonly mapQuery?: ((query: string) => string) | undefined
  /** The sender's address, for the audit log. */
  readonly ip?: string | undefined
  readonly signIn?: SignIn<Request> | undefined
}

/** Turns a Request into plain values. */
export function createExchange(
  request: Request,
  pace: ClientPace,
  { mapPath = path => path, mapQuery = query => query, ip, signIn }: ExchangeOptions,
): FetchExchange {
  const { path: whole, query } = splitUrl(request.url)
  const path = mapPath(whole)
  const mount = mountBefore(whole, path)
  const controller = new AbortController()
  const { signal } = request
  const follow = (): void => controller.abort(signal.reason)
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  return {
    request: {
      method: request.method,
      path,
      mount,
      ip,
      query: mapQuery(query),
      // Requests that were never sent over a network have no Host header.
      header: name => request.headers.get(name) ?? (name === 'host' ? new URL(request.url).host : undefined),
      arrived: () => request.body === null,
      codings: requestCodings,
      text: (limit, heard, coding) => readBodyText(request, { limit, pace, heard, coding }),
      signal: controller.signal,
      ...(signIn && signedInBy(signIn, request)),
    },
    disconnect: reason => controller.abort(reason),
    isDisconnected: () => controller.signal.aborted,
    onAbort: run => signal.addEventListener('abort', () => run(signal.reason), { once: true }),
  }
}

/** Split as text, so that path and query keep their escapes, whatever the host. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const [beforeHash = ''] = (start === -1 ? '/' : url.slice(start)).split('#', 1)
  const mark = beforeHash.indexOf('?')
  return mark === -1 ? { path: beforeHash, query: '' } : { path: beforeHash.slice(0, mark), query: beforeHash.slice(mark + 1) }
}

interface BodyOptions {
  readonly limit: number
  readonly pace: ClientPace
  /** Receives the total bytes after each piece; returns false to stop reading. */
  readonly heard: ((bytes: number) => boolean) | undefined
  /** The content coding to undo; then the limit and the bytes are those of the decoded body. */
  readonly coding?: string | undefined
}

/** Content codings of request bodies that every runtime with `DecompressionStream` decodes. */
const requestCodings: readonly string[] = typeof DecompressionStream === 'undefined' ? [] : ['gzip', 'deflate']

/** Bytes that are decoded at a time: some runtimes decode a whole piece at once, to up to a thousand times its length. */
const decodedPiece = 4_096

interface EncodedBody {
  readonly coding: string
  /** Counts the bytes that the decoder has taken. */
  readonly encoded: { bytes: number }
}

/** Decodes a body piece by piece. */
function decoded(body: ReadableStream<Uint8Array>, { coding, encoded }: EncodedBody): ReadableStream<Uint8Array> {
  const inPieces = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      encoded.bytes += piece.length
      for (let at = 0; at < piece.length; at += decodedPiece) controller.enqueue(piece.subarray(at, at + decodedPiece))
    },
  })
  const decoder = new DecompressionStream(coding as CompressionFormat) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>
  return body.pipeThrough(inPieces).pipeThrough(decoder)
}

/** Reads the body as text. Abandons an upload that is too slow without waiting for the runtime. */
async function readBodyText(request: Request, options: BodyOptions): Promise<BodyText> {
  if (request.bodyUsed) return { ok: false, why: 'consumed' }
  if (request.body === null) return { ok: true, text: '' }
  if (Number(request.headers.get('content-length') ?? 0) > options.limit) return { ok: false, why: 'too_large' }
  if (request.body.locked) return { ok: false, why: 'consumed' }
  const { coding } = options
  const encoded = { bytes: 0 }
  const reader = (coding === undefined ? request.body : decoded(request.body, { coding, encoded })).getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  return new Promise(resolve => {
    const upload = watchUpload(options.pace.clock, options.pace, () => {
      resolve(brokenBody)
      cancel()
    })
    void readPieces(reader, options, { onBytes: upload.heard, encoded }).then(text => {
      upload.stop()
      resolve(text)
      if (!text.ok) cancel()
    })
  })
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

const brokenBody: BodyText = { ok: false, why: 'broken' }

interface PieceCounts {
  readonly onBytes: (bytes: number) => void
  readonly encoded: EncodedBody['encoded']
}

/** Counts the bytes as they arrive, because Content-Length is unverified and may be missing. */
async function readPieces(reader: Reader, { limit, heard, coding }: BodyOptions, { onBytes, encoded }: PieceCounts): Promise<BodyText> {
  const collected = collectBytes()
  let bytes = 0
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      onBytes(step.value.byteLength)
      bytes += step.value.byteLength
      if (bytes > limit) return { ok: false, why: 'too_large' }
      if (coding !== undefined && isBomb(encoded.bytes, bytes)) return { ok: false, why: 'bomb' }
      if (heard?.(bytes) === false) return { ok: false, why: 'stopped' }
      collected.add(step.value)
    }
    return decodePieces(collected.pieces())
  } catch (error) {
    // Decoders throw a TypeError; a connection that breaks is an error of another kind.
    return coding !== undefined && error instanceof TypeError ? { ok: false, why: 'not_decodable' } : brokenBody
  }
}

/** Rejects invalid bytes: replacing them would send the model different text than the client wrote. */
function decodePieces(pieces: readonly Uint8Array[]): BodyText {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for (const piece of pieces) text += decoder.decode(piece, { stream: true })
    return { ok: true, text: text + decoder.decode() }
  } catch {
    return { ok: false, why: 'not_utf8' }
  }
}
