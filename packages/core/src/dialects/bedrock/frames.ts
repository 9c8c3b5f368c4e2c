import { answerLimits } from '../../protocol/answer-limits.ts'
import type { FrameReader } from '../../protocol/dialect.ts'
import type { Frame } from '../../protocol/wire.ts'
import { type Message, messageReader, preludeSize, sizeOfMessage } from './event-stream.ts'

export const maxFrameSize: number = answerLimits.messageBytes

/**
 * Bytes → frames, however the bytes were cut. What is whole before a broken message is still told: the break throws with the
 * read after it. Half a message at the end is none; whether the answer was over by then the decoder knows.
 */
export function readEventStream(): FrameReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const readMessage = messageReader()
  let held: Uint8Array[] = []
  let size = 0
  /** So many bytes have to be here before there is anything to decide. */
  let due = preludeSize
  let fault: unknown

  const take = (bytes: Uint8Array): readonly Frame[] => {
    const frames: Frame[] = []
    let at = 0
    due = preludeSize
    try {
      while (bytes.length - at >= preludeSize) {
        due = sizeOfMessage(bytes, at)
        if (due > maxFrameSize) throw new Error(`A message of the stream is longer than ${maxFrameSize} bytes.`)
        if (bytes.length - at < due) break
        frames.push(frameOf(readMessage(bytes, at, at + due), decoder))
        at += due
        due = preludeSize
      }
    } catch (error) {
      fault = error
      at = bytes.length
    }
    held = at < bytes.length ? [bytes.slice(at)] : []
    size = bytes.length - at
    return frames
  }

  return {
    push(bytes) {
      if (fault !== undefined) throw fault
      held.push(bytes)
      size += bytes.length
      if (size < due) return []
      const frames = take(held.length === 1 ? bytes : joined(held, size))
      if (fault !== undefined && frames.length === 0) throw fault
      return frames
    },
    end() {
      if (fault !== undefined) throw fault
      return []
    },
  }
}

function frameOf({ headers, payload }: Message, decoder: TextDecoder): Frame {
  const header = (name: string): string => headers.get(name) ?? ''
  const data = decoder.decode(payload)
  const kind = header(':message-type')
  if (kind === 'exception') return { event: header(':exception-type') || 'exception', data }
  // An error of the transport has no payload: all that is known of it stands in headers.
  if (kind === 'error') return { event: 'error', data: JSON.stringify({ code: header(':error-code'), message: header(':error-message') }) }
  return { event: header(':event-type'), data }
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
