import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { asIterator, type TransportReply } from '@signalbox/core/runtime'
import { transportError } from './errors.ts'

/** Bytes that may come out of one byte before it counts as a bomb, once there is enough to judge by. */
const maxRatio = 100
const judgedFrom = 1_048_576

/** We ask for none, but some send compressed answers all the same: one layer is decoded, anything stranger is refused. */
export function decoded(reply: TransportReply, maxBytes: number): TransportReply | Promise<TransportReply> {
  const encoding = reply.header('content-encoding')?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? reply : unwrapped(reply, encoding, maxBytes)
}

async function unwrapped(reply: TransportReply, encoding: string, maxBytes: number): Promise<TransportReply> {
  const body = asIterator(reply.body)
  const first = Object.hasOwn(decoders, encoding) ? await body.next() : undefined
  const decoder = first && decoders[encoding]?.(first.value?.[0])
  if (decoder === undefined) {
    await body.return?.()
    throw transportError('UNKNOWN_ENCODING', 'The answer is encoded in a way that is not understood.')
  }
  const source = replayed(first, body)
  const header = (name: string): string | undefined =>
    name === 'content-encoding' || name === 'content-length' ? undefined : reply.header(name)
  return { status: reply.status, header, body: inflate(source, decoder, maxBytes) }
}

type Bytes = AsyncIterator<Uint8Array, undefined>

/** The first byte says which kind of `deflate` it is: with the wrapping of the standard, or bare, as some send it. */
const decoders: Readonly<Record<string, (first: number | undefined) => Transform | undefined>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: first => ((first ?? 0) % 16 === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  // Absent before Node 22.15.
  zstd: () => (typeof zlib.createZstdDecompress === 'function' ? zlib.createZstdDecompress() : undefined),
}

function replayed(first: IteratorResult<Uint8Array, undefined> | undefined, rest: Bytes): Bytes {
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
  // Writes are not awaited one by one: zlib holds back by its own buffer, and `drain` is waited for.
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
        if (given > maxBytes || (given > judgedFrom && given > taken * maxRatio))
          throw transportError('DECODED_TOO_LARGE', 'The answer is too large once decoded.')
        return step
      } catch (error) {
        close()
        throw error instanceof Error && 'code' in error && /^(?:Z_|ERR_|E?BROTLI|ZSTD)/.test(String(error.code))
          ? transportError('BAD_ENCODING', 'The answer could not be decoded.')
          : error
      }
    },
    async return() {
      close()
      return { done: true, value: undefined }
    },
  }
}
