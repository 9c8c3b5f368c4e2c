import { createParser } from 'eventsource-parser'
import type { Frame } from '../protocol/wire.ts'

/** The longest event that we take in, in characters: the largest real ones hold an image. */
export const maxEventSize = 4 * 1024 * 1024

export interface FrameReader {
  /** The frames that these bytes completed. Throws where one event outgrows `maxEventSize`. */
  push(bytes: Uint8Array): readonly Frame[]
  /** The stream is over: an event that lacks only its closing blank line still counts. */
  end(): readonly Frame[]
}

/** Bytes → frames. Bytes may be cut anywhere, also inside a character or a CRLF; a byte-order mark is taken off. */
export function readFrames(): FrameReader {
  let frames: Frame[] = []
  let tooLong: Error | undefined
  const decoder = new TextDecoder()
  const parser = createParser({
    maxBufferSize: maxEventSize,
    onEvent: ({ event, data }) => frames.push(event === undefined ? { data } : { event, data }),
    onError: error => {
      if (error.type === 'max-buffer-size-exceeded') tooLong = error
    },
  })
  const take = (): readonly Frame[] => {
    if (tooLong) throw new Error(`An event of the stream is longer than ${maxEventSize} characters.`, { cause: tooLong })
    const taken = frames
    frames = []
    return taken
  }
  return {
    push(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }))
      return take()
    },
    end() {
      parser.feed(`${decoder.decode()}\n\n`)
      return take()
    },
  }
}
