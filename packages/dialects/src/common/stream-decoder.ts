import type { EventDecoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { originalOf } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import type { Frame } from '../protocol/wire.ts'
import { truncated } from './answer-failures.ts'
import { type DeltaFrames, type DeltaTemplate, templateOf, textInFrame } from './delta-template.ts'
import type { ItemAssembler, OpenItem, TextDelta } from './item-assembler.ts'

/** How a dialect decodes one stream: both methods add to the items. */
export interface FrameDecoder {
  readonly items: ItemAssembler
  decodeFrame(frame: Frame): void
  /** Ends the response. `outcome` is used only if the provider sent none. */
  finish(outcome: Outcome): void
}

/** How many templates may be made before one fits. A stream in which none ever fits stops making them. */
const maxTries = 4

/** Decodes the frames of a stream. Frames after `finished` are ignored; a stream that ends early fails. */
export class StreamDecoder implements EventDecoder {
  readonly #decoder: FrameDecoder
  readonly #deltaFrames: DeltaFrames | undefined
  /** The template of the latest frame, if it was a delta. */
  #template: DeltaTemplate | undefined = undefined
  #item: OpenItem | undefined = undefined
  #delta: TextDelta | undefined = undefined
  #triesLeft = maxTries

  /** `deltaFrames`: undefined if every frame has to be decoded. */
  constructor(decoder: FrameDecoder, deltaFrames?: DeltaFrames) {
    this.#decoder = decoder
    this.#deltaFrames = deltaFrames
  }

  read(frames: readonly Frame[]): readonly InferenceEvent[] {
    const { items } = this.#decoder
    for (let index = 0; index < frames.length && !items.isFinished; index += 1) {
      const frame = frames[index] as Frame
      if (this.#template !== undefined && this.#repeatDelta(this.#template, frame)) continue
      const before = items.events.length
      this.#decoder.decodeFrame(frame)
      if (this.#deltaFrames) this.#template = this.#learnTemplate(frame, before, this.#deltaFrames)
    }
    return items.drain()
  }

  end(): readonly InferenceEvent[] {
    const { items } = this.#decoder
    if (!items.isFinished) this.#decoder.finish(truncated)
    return items.drain()
  }

  /** Adds the text of a frame that fits the template. Returns false if it does not fit. */
  #repeatDelta(template: DeltaTemplate, frame: Frame): boolean {
    const text = textInFrame(template, frame)
    if (text === undefined) return false
    this.#triesLeft = maxTries
    const { kind, part } = this.#delta as TextDelta
    this.#decoder.items.text(this.#item as OpenItem, { kind, part, text })
    return true
  }

  /** The template of a frame whose only event is text without anything beside it. Undefined for all others. `before`: events before it. */
  #learnTemplate(frame: Frame, before: number, deltaFrames: DeltaFrames): DeltaTemplate | undefined {
    const { events, extended } = this.#decoder.items
    const event = events.length === before + 1 ? events[before] : undefined
    if (event?.type !== 'delta' || event.delta.kind === 'annotation' || event.delta.logprobs || originalOf(event)) return undefined
    if (event.delta.text === '' || this.#triesLeft <= 0) return undefined
    this.#triesLeft -= 1
    this.#item = extended
    this.#delta = event.delta
    return templateOf(frame, event.delta.text, deltaFrames)
  }
}
