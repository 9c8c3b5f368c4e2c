import type { Frame } from '@signalbox/dialects/protocol'

/** What is read of a stream at once: bytes, or the frames of a provider that runs in this process. */
export type StreamRead = Uint8Array | readonly Frame[]

/** Turns what is read into frames. A read may complete none. Both functions throw if a frame is too long or broken. */
export interface FrameFormat<Read extends StreamRead> {
  readonly push: (read: Read) => readonly Frame[]
  /** The remaining frames at the end of the source. */
  readonly end: () => readonly Frame[]
}
