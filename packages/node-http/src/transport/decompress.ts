import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { isBomb } from '@signalbox/api'
import { asIterator } from '@signalbox/core/runtime'
import type { TransportReply } from '@signalbox/dialects/protocol'
import { transportError } from './transport-errors.ts'

/** Decodes a response. Requests do not ask for compression, but some servers compress once anyway. Any other encoding is rejected. */
export function decompress(reply: TransportReply, maxBytes: number): TransportReply | Promise<TransportReply> {
  const encoding = reply.header('content-encoding')?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? reply : decodeBody(reply, encoding, maxBytes)
}

async function decodeBody(reply: TransportReply, encoding: string, maxBytes: number): Promise<TransportReply> {
  const body = asIterator(reply.body)
  const first = Object.hasOwn(decompressors, encoding) ? await body.next() : undefined
  const decoder = first && decompressors[encoding]?.(first.value?.[0])
  if (decoder === undefined) {
    await body.return?.()
    throw transportError('UNKNOWN_ENCODING', 'The content encoding of the response is not supported.')
  }
  const source = withFirst(first, body)
  const header = (name: string): string | undefined =>
    name === 'content-encoding' || name === 'content-length' ? undefined : reply.header(name)
  return { status: reply.status, header, body: inflate(source, decoder, maxBytes) }
}

type Bytes = AsyncIterator<Uint8Array, undefined>

/** The first byte distinguishes zlib-wrapped `deflate` (the standard) from raw `deflate`, which some servers send. */
const decompressors: Readonly<Record<string, (first: number | undefined) => Transform | undefined>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: first => ((first ?? 0) % 16 === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  // Undefined before Node 22.15.
  zstd: () => (typeof zlib.createZstdDecompress === 'function' ? zlib.createZstdDecompress() : undefined),
}

function withFirst(first: IteratorResult<Uint8Array, undefined> | undefined, rest: Bytes): Bytes {
  let held = first
  return {
    async next() {
      const step = held ?? (await rest.next())
      held = undefined
      return step
    },
    async return() {
      await rest.return?.()
      return { done: true, value: undefined }
    },
  }
}

function inflate(source: Bytes, decoder: Transform, maxBytes: number): Bytes {
  let taken = 0
  let given = 0
  let over = false
  const output = decoder[Symbol.asyncIterator]() as Bytes
  const close = (): void => {
    over = true
    decoder.destroy()
    source.return?.().catch(() => {})
  }
  // Writes are not awaited individually: zlib's buffer bounds them, and `drain` is awaited.
  const feed = async (): Promise<void> => {
    for (let step = await source.next(); !step.done && !over; step = await source.next()) {
      taken += step.value.length
      if (!decoder.write(step.value)) await new Promise(resolve => decoder.once('drain', resolve).once('close', resolve))
    }
    decoder.end()
  }
  feed().catch((error: unknown) => decoder.destroy(error instanceof Error ? error : new Error('broken')))
  return {
    async next() {
      if (over) return { done: true, value: undefined }
      try {
        const step = await output.next()
        if (step.done) return step
        given += step.value.length
        if (given > maxBytes || isBomb(taken, given)) throw transportError('DECODED_TOO_LARGE', 'The decompressed response is too large.')
        return step
      } catch (error) {
        close()
        throw error instanceof Error && 'code' in error && /^(?:Z_|ERR_|E?BROTLI|ZSTD)/.test(String(error.code))
          ? transportError('BAD_ENCODING', 'The response could not be decompressed.')
          : error
      }
    },
    async return() {
      close()
      return { done: true, value: undefined }
    },
  }
}
