import type { EventDecoder } from '../protocol/dialect.ts'
import { originalOf } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import type { Frame } from '../protocol/wire.ts'
import { truncated } from './answer-failures.ts'
import { type DeltaFrames, type DeltaTemplate, templateOf, textInFrame } from './delta-template.ts'
import { appendDelta, drainEvents, type ItemAssembler, type PartialItem, type TextDelta } from './item-assembler.ts'

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
  /** Undefined if every frame has to be decoded. */
  readonly deltaFrames?: DeltaFrames
}

/** The template of the latest frame, if it was a delta. */
interface LatestDelta {
  template: DeltaTemplate | undefined
  partial: PartialItem | undefined
  delta: TextDelta | undefined
  /** How many templates may still be made before one fits. A stream in which none ever fits stops making them. */
  triesLeft: number
}

const maxTries = 4

/** Creates a decoder from its state and the functions of a dialect. Frames after `finished` are ignored; a stream that ends early fails. */
export function streamDecoder<State extends StreamDecoderState>(state: State, handlers: FrameHandlers<State>): EventDecoder {
  const { decodeFrame, finish, deltaFrames } = handlers
  const latest: LatestDelta = { template: undefined, partial: undefined, delta: undefined, triesLeft: maxTries }
  return {
    read(frames) {
      for (let at = 0; at < frames.length && !state.isFinished; at += 1) {
        const frame = frames[at] as Frame
        if (latest.template !== undefined && repeatDelta(state, latest, frame)) continue
        const before = state.events.length
        decodeFrame(state, frame)
        if (deltaFrames) latest.template = learnTemplate(state, latest, { frame, before, deltaFrames })
      }
      return drainEvents(state)
    },
    end() {
      if (!state.isFinished) finish(state, truncated)
      return drainEvents(state)
    },
  }
}

/** Adds the text of a frame that fits the template. Returns false if it does not fit. */
function repeatDelta(state: ItemAssembler, latest: LatestDelta, frame: Frame): boolean {
  const text = textInFrame(latest.template as DeltaTemplate, frame)
  if (text === undefined) return false
  latest.triesLeft = maxTries
  const { kind, part } = latest.delta as TextDelta
  appendDelta(state, latest.partial as PartialItem, { kind, part, text })
  return true
}

interface DecodedFrame {
  readonly frame: Frame
  /** The number of events before it. */
  readonly before: number
  readonly deltaFrames: DeltaFrames
}

/** The template of a frame whose only event is text without anything beside it. Undefined for all others. */
function learnTemplate(state: ItemAssembler, latest: LatestDelta, { frame, before, deltaFrames }: DecodedFrame): DeltaTemplate | undefined {
  const event = state.events.length === before + 1 ? state.events[before] : undefined
  if (event?.type !== 'delta' || event.delta.kind === 'annotation' || event.delta.logprobs || originalOf(event)) return undefined
  if (event.delta.text === '' || latest.triesLeft <= 0) return undefined
  latest.triesLeft -= 1
  latest.partial = state.extended
  latest.delta = event.delta
  return templateOf(frame, event.delta.text, deltaFrames)
}
