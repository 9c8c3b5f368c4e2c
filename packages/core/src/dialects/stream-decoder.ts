import type { EventDecoder } from '../protocol/dialect.ts'
import type { Outcome } from '../protocol/response.ts'
import type { Frame } from '../protocol/wire.ts'
import { truncated } from './answer-failures.ts'
import { drainEvents, type ItemAssembler } from './item-assembler.ts'

/** The state common to all stream decoders. */
export interface StreamDecoderState extends ItemAssembler {
  /** Whether `finished` was emitted. */
  isFinished: boolean
}

/** How a dialect decodes a stream. Both functions add events to the state; `finish` emits `finished` and sets `isFinished`. */
export interface FrameHandlers<State extends StreamDecoderState> {
  readonly decodeFrame: (state: State, frame: Frame) => void
  /** `outcome` is used only if the provider sent none. */
  readonly finish: (state: State, outcome: Outcome) => void
}

/** Creates a decoder from its state and the functions of a dialect. Frames after `finished` are ignored; a stream that ends early fails. */
export function streamDecoder<State extends StreamDecoderState>(state: State, { decodeFrame, finish }: FrameHandlers<State>): EventDecoder {
  return {
    read(frames) {
      for (let at = 0; at < frames.length && !state.isFinished; at += 1) decodeFrame(state, frames[at] as Frame)
      return drainEvents(state)
    },
    end() {
      if (!state.isFinished) finish(state, truncated)
      return drainEvents(state)
    },
  }
}
