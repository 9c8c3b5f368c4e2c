import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { FrameReader } from '../../protocol/dialect.ts'
import type { Frame } from '../../protocol/wire.ts'

// AWS event stream: frames of a length, headers, a payload, and two checksums.

/** The longest frame that we take in, in bytes. */
export const maxFrameSize = 4 * 1024 * 1024
/** Two lengths and a checksum of them; the least that says how long a frame is. */
const preludeSize = 12
/** A prelude, no headers, no payload, a checksum. */
const minFrameSize = 16

/**
 * Bytes → frames, each with its checksums proven, however the bytes were cut. What is whole before a broken frame is still
 * told: the break throws with the read after it. Half a frame at the end is no frame; whether the answer was over by then
 * the decoder knows.
 */
export function readEventStream(): FrameReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const encoder = new TextEncoder()
  const codec = new EventStreamCodec(
    bytes => decoder.decode(typeof bytes === 'string' ? encoder.encode(bytes) : bytes),
    text => encoder.encode(text),
  )
  let held: Uint8Array[] = []
  let size = 0
  /** So many bytes have to be here before there is anything to decide. */
  let due = preludeSize
  let fault: unknown

  const frameOf = (message: Uint8Array): Frame => {
    const { headers, body } = codec.decode(message)
    const header = (name: string): string => {
      const value = headers[name]?.value
      return typeof value === 'string' ? value : ''
    }
    const data = decoder.decode(body)
    const kind = header(':message-type')
    if (kind === 'exception') return { event: header(':exception-type') || 'exception', data }
    // An error of the transport has no payload: all that is known of it stands in headers.
    if (kind === 'error')
      return { event: 'error', data: JSON.stringify({ code: header(':error-code'), message: header(':error-message') }) }
    return { event: header(':event-type'), data }
  }

  const take = (bytes: Uint8Array, frames: Frame[]): void => {
    let at = 0
    due = preludeSize
    try {
      while (bytes.length - at >= preludeSize) {
        const length = lengthAt(bytes, at)
        if (bytes.length - at < length) {
          due = length
          break
        }
        frames.push(frameOf(bytes.subarray(at, at + length)))
        at += length
      }
    } catch (error) {
      fault = error
      at = bytes.length
    }
    held = at < bytes.length ? [bytes.slice(at)] : []
    size = bytes.length - at
  }

  return {
    push(bytes) {
      if (fault !== undefined) throw fault
      held.push(bytes)
      size += bytes.length
      if (size < due) return []
      const frames: Frame[] = []
      take(held.length === 1 ? bytes : joined(held, size), frames)
      if (fault !== undefined && frames.length === 0) throw fault
      return frames
    },
    end() {
      if (fault !== undefined) throw fault
      return []
    },
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0)
  if (length > maxFrameSize) throw new Error(`A frame of the stream is longer than ${maxFrameSize} bytes.`)
  if (length < minFrameSize) throw new Error('A frame of the stream is shorter than its own frame.')
  return length
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
