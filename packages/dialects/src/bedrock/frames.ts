import { answerLimits } from '../protocol/answer-limits.ts'
import type { FrameReader } from '../protocol/dialect.ts'
import type { Frame } from '../protocol/wire.ts'
import { type Message, messageReader, preludeSize, sizeOfMessage } from './event-stream.ts'

// The frames are read here and not with `@smithy/eventstream-codec`: its `module` build cannot be loaded by Node, which broke programs
// that bundle core, and importing it took 25 ms. The tests compare both, frame by frame and split at every byte.

export const maxFrameSize: number = answerLimits.messageBytes

interface ReaderState {
  readonly readMessage: ReturnType<typeof messageReader>
  readonly decoder: TextDecoder
  /** Bytes of an incomplete message. */
  pending: Uint8Array[]
  pendingSize: number
  /** Bytes required before the next message can be read. */
  requiredSize: number
  error: unknown
}

/**
 * Turns bytes into frames. Complete messages before a broken one are returned first; the next read throws. An incomplete message at the end
 * is ignored, because the decoder knows whether the response was complete.
 */
export function readEventStream(): FrameReader {
  const state: ReaderState = {
    readMessage: messageReader(),
    decoder: new TextDecoder('utf-8', { ignoreBOM: true }),
    pending: [],
    pendingSize: 0,
    requiredSize: preludeSize,
    error: undefined,
  }
  return {
    push(bytes) {
      if (state.error !== undefined) throw state.error
      state.pending.push(bytes)
      state.pendingSize += bytes.length
      if (state.pendingSize < state.requiredSize) return []
      const frames = readFrames(state, state.pending.length === 1 ? bytes : concatenate(state.pending, state.pendingSize))
      if (state.error !== undefined && frames.length === 0) throw state.error
      return frames
    },
    end() {
      if (state.error !== undefined) throw state.error
      return []
    },
  }
}

function readFrames(state: ReaderState, bytes: Uint8Array): readonly Frame[] {
  const frames: Frame[] = []
  let at = 0
  state.requiredSize = preludeSize
  try {
    while (bytes.length - at >= preludeSize) {
      const size = sizeOfMessage(bytes, at)
      state.requiredSize = size
      if (size > maxFrameSize) throw new Error(`A message of the stream is longer than ${maxFrameSize} bytes.`)
      if (bytes.length - at < size) break
      frames.push(frameOf(state.readMessage(bytes, at, at + size), state.decoder))
      at += size
      state.requiredSize = preludeSize
    }
  } catch (error) {
    state.error = error
    at = bytes.length
  }
  state.pending = at < bytes.length ? [bytes.slice(at)] : []
  state.pendingSize = bytes.length - at
  return frames
}

function frameOf({ headers, payload }: Message, decoder: TextDecoder): Frame {
  const header = (name: string): string => headers.get(name) ?? ''
  const data = decoder.decode(payload)
  const type = header(':message-type')
  if (type === 'exception') return { event: header(':exception-type') || 'exception', data }
  // A transport error has no payload: code and message are in the headers.
  if (type === 'error') return { event: 'error', data: JSON.stringify({ code: header(':error-code'), message: header(':error-message') }) }
  return { event: header(':event-type'), data }
}

function concatenate(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
