import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as zlib from 'node:zlib'
import { type BodyText, type ClientLimits, collectBytes, isBomb, watchUpload } from '@signalbox/api'
import { largeBody } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import type { Awaitable } from '@signalbox/storage'

/** The limits on slow uploads, and the clock that measures them. */
export interface BodyPace extends Required<ClientLimits> {
  readonly clock: Gateway['clock']
}

export interface BodyOptions {
  /** Bytes. */
  readonly limit: number
  readonly pace: BodyPace
  /** Called with the total bytes after each chunk; returns false to stop reading. */
  readonly heard: ((bytes: number) => boolean) | undefined
  /** The content coding to undo; then the limit and the bytes are those of the decoded body. */
  readonly coding?: string | undefined
}

/** Whether the whole body is in memory and unread. */
export const isBuffered = (message: IncomingMessage): boolean => message.complete && message.readableFlowing === null

/** Reads at most `limit` bytes, counted as they arrive, and abandons an upload that is too slow. */
export function readRequestBody(message: IncomingMessage, options: BodyOptions): Awaitable<BodyText> {
  const { limit } = options
  if (Number(message.headers['content-length'] ?? 0) > limit) return { ok: false, why: 'too_large' }
  if (message.readableDidRead) return { ok: false, why: 'consumed' }
  if (message.destroyed) return { ok: false, why: 'broken' }
  if (options.coding !== undefined) return readDecoded(message, options)
  return isBuffered(message) ? readBuffered(message, limit) : readStreamed(message, options)
}

/** Reads a body that is already complete, as most are, with one synchronous read, without events or a timer. */
function readBuffered(message: IncomingMessage, limit: number): BodyText {
  const bytes: Buffer | null = message.read()
  if (bytes === null) return { ok: true, text: '' }
  return bytes.length > limit ? { ok: false, why: 'too_large' } : utf8Text(bytes)
}

function readStreamed(message: IncomingMessage, { limit, pace, heard }: BodyOptions): Promise<BodyText> {
  return new Promise(resolve => {
    let collected = collectorFor(message)
    let bytes = 0
    const upload = watchUpload(pace.clock, pace, () => done({ ok: false, why: 'broken' }))
    const done = (result: BodyText): void => {
      upload.stop()
      message.off('data', take).off('end', end).off('close', broken)
      if (!result.ok) message.pause()
      // Listeners of the message outlive this function and must not keep the body in memory.
      collected = emptyCollector
      resolve(result)
    }
    const take = (piece: Buffer): void => {
      bytes += piece.length
      upload.heard(piece.length)
      if (bytes > limit) done({ ok: false, why: 'too_large' })
      else if (heard?.(bytes) === false) done({ ok: false, why: 'stopped' })
      else collected.add(piece, bytes)
    }
    const end = (): void => done(collected.text(bytes))
    const broken = (): void => done({ ok: false, why: 'broken' })
    message.on('data', take).on('end', end).on('close', broken)
  })
}

/** The largest window of zstd in HTTP: 8 MiB (RFC 9659). A decoder takes as much memory as the sender names. */
const maxWindowLog = 23

/** Decoders by content coding, best first. Other runtimes that have `node:http` may lack zstd. */
const decoders: ReadonlyMap<string, () => zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress> = new Map([
  ...(typeof zlib.createZstdDecompress === 'function'
    ? [['zstd', () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: maxWindowLog } })] as const]
    : []),
  ['br', () => zlib.createBrotliDecompress()] as const,
  ['gzip', () => zlib.createGunzip()] as const,
  ['deflate', () => zlib.createInflate()] as const,
])

/** Content codings of request bodies that are decoded. */
export const requestCodings: readonly string[] = [...decoders.keys()]

/** Decodes a body piece by piece, and stops as soon as it has become too large: a bomb is never decoded whole. */
function readDecoded(message: IncomingMessage, { limit, pace, heard, coding = '' }: BodyOptions): Promise<BodyText> {
  const decoder = decoders.get(coding)?.()
  if (decoder === undefined) return Promise.resolve({ ok: false, why: 'not_decodable' })
  return new Promise(resolve => {
    const collected = collectBytes()
    let bytes = 0
    let encodedBytes = 0
    const upload = watchUpload(pace.clock, pace, () => done({ ok: false, why: 'broken' }))
    const onPiece = (piece: Buffer): void => {
      encodedBytes += piece.length
      upload.heard(piece.length)
    }
    // Zlib ends after the first frame of zstd, and after the end of br and deflate. What follows would be lost without a word.
    const end = (): void => {
      const isWhole = decoder.bytesWritten === encodedBytes
      done(isWhole ? utf8Text(joinPieces(collected.pieces(), bytes)) : { ok: false, why: 'not_decodable' })
    }
    const onClose = (): void => {
      if (!message.complete) done({ ok: false, why: 'broken' })
    }
    const done = (result: BodyText): void => {
      upload.stop()
      message.off('data', onPiece).off('close', onClose).unpipe(decoder)
      if (!result.ok) message.pause()
      decoder.destroy()
      resolve(result)
    }
    decoder.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > limit) done({ ok: false, why: 'too_large' })
      else if (isBomb(encodedBytes, bytes)) done({ ok: false, why: 'bomb' })
      else if (heard?.(bytes) === false) done({ ok: false, why: 'stopped' })
      else collected.add(piece)
    })
    decoder.on('error', () => done({ ok: false, why: 'not_decodable' }))
    decoder.on('end', end)
    message.on('data', onPiece).on('close', onClose).pipe(decoder)
  })
}

/** Collects the pieces of a body. */
interface BodyCollector {
  /** `bytes`: the length with this piece. */
  add(piece: Buffer, bytes: number): void
  text(bytes: number): BodyText
}

const emptyCollector: BodyCollector = { add() {}, text: () => ({ ok: true, text: '' }) }

function collectorFor(message: IncomingMessage): BodyCollector {
  const length = Number(message.headers['content-length'] ?? 0)
  return length >= largeBody ? collectLarge(message, length) : collectPieces()
}

function collectPieces(): BodyCollector {
  const collected = collectBytes()
  return {
    add: piece => collected.add(piece),
    text: bytes => utf8Text(joinPieces(collected.pieces(), bytes)),
  }
}

/** Bytes of the buffer of a large body before it grows. It is never more than twice as large as what has arrived, whatever was announced. */
const firstBytes = largeBody

/** Copies the pieces to their place in one buffer, and frees them and the buffer at once instead of leaving them to a later collection. */
function collectLarge(message: IncomingMessage, length: number): BodyCollector {
  let whole = Buffer.allocUnsafeSlow(firstBytes)
  // Node's parser never delivers more than was announced, but frameworks replace the body.
  const beyond: Buffer[] = []
  return {
    add(piece, bytes) {
      if (bytes > length) {
        beyond.push(piece)
        return
      }
      if (bytes > whole.length) whole = grown(whole, Math.min(length, 2 * bytes))
      whole.set(piece, bytes - piece.length)
      if (isUnshared(message, piece, bytes)) free(piece)
    },
    text(bytes) {
      const beyondBytes = beyond.reduce((sum, piece) => sum + piece.length, 0)
      const announced = whole.subarray(0, bytes - beyondBytes)
      const text = utf8Text(beyond.length > 0 ? Buffer.concat([announced, ...beyond]) : announced)
      free(whole)
      return text
    },
  }
}

const grown = ({ buffer }: Buffer, bytes: number): Buffer<ArrayBuffer> => Buffer.from((buffer as ArrayBuffer).transfer(bytes))

/** Methods through which a wrapped message passes its pieces to others. */
const wrappable = ['emit', 'on', 'push', 'read'] as const

/** Whether a piece was read from the socket for this reader alone, and fills its memory. */
const isUnshared = (message: IncomingMessage, { buffer, length }: Buffer, bytes: number): boolean =>
  buffer.byteLength === length &&
  message.socket?.bytesRead >= bytes &&
  message.listenerCount('data') === 1 &&
  !wrappable.some(method => Object.hasOwn(message, method))

/** Frees the memory of a buffer that nothing refers to any more. */
const free = ({ buffer }: Buffer): void => void (buffer as ArrayBuffer).transfer(0)

function joinPieces(pieces: readonly Uint8Array[], bytes: number): Buffer {
  const [first] = pieces
  return pieces.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(pieces, bytes)
}

/** Rejects invalid UTF-8: decoding would replace the bytes, and the model would receive different text than the client sent. */
const utf8Text = (bytes: Buffer): BodyText => (isUtf8(bytes) ? { ok: true, text: bytes.toString('utf8') } : { ok: false, why: 'not_utf8' })

const waiting = new WeakSet<IncomingMessage>()

/** Records that the client sends the body only after `100 Continue`, which Node has not sent. */
export const expectContinue = (request: IncomingMessage): void => void waiting.add(request)

/** Sends `100 Continue` if the client waits for it. Called when the body is about to be read. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue()
}
