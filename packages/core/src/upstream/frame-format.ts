import type { Frame } from '../protocol/wire.ts'

/** How what is read becomes frames: none where it completed no event. */
export interface FrameFormat<Read> {
  /** Throws where an event grows too long. */
  readonly toFrames: (read: Read) => readonly Frame[]
  /** What is left when the source has ended. */
  readonly last: () => readonly Frame[]
  /** The first content is here: what comes now is handed on, and no longer held in memory. */
  readonly relax: () => void
}
