import type { Frame } from '../protocol/wire.ts'

/** Turns what is read into frames. A read may complete none. */
export interface FrameFormat<Read> {
  /** Throws if an event is too long. */
  readonly toFrames: (read: Read) => readonly Frame[]
  /** The remaining frames at the end of the source. */
  readonly last: () => readonly Frame[]
  /** Called at the first content, after which frames are delivered at once instead of being held in memory. */
  readonly relax: () => void
}
