import type { EventEncoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { extendedText, TextBuffer } from '../protocol/text-delta.ts'
import { append, type Frame } from '../protocol/wire.ts'

export type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { readonly type: Type }>

/** The list without frames of all encoders. */
const noFrames: readonly Frame[] = []

/** Encodes the events of one stream as frames. Nothing is written after `finished`. */
export abstract class StreamEncoder implements EventEncoder {
  #frames = noFrames
  #phase: 'new' | 'started' | 'ended' = 'new'

  write(events: readonly InferenceEvent[]): readonly Frame[] {
    for (let index = 0; index < events.length && this.#phase !== 'ended'; index += 1) {
      const event = events[index] as InferenceEvent
      if (this.#phase === 'new' && this.begin(event)) this.#phase = 'started'
      this.encode(event)
      if (event.type === 'finished') this.#phase = 'ended'
    }
    const frames = this.#frames
    this.#frames = noFrames
    return frames
  }

  /** Announces the response. Called with the first event, of any type. False if there is nothing to announce, so that it is called again. */
  protected abstract begin(first: InferenceEvent): boolean

  protected abstract encode(event: InferenceEvent): void

  /** Adds a frame. A first frame gets a list of its own size. */
  protected emit(frame: Frame): void {
    this.#frames = append(this.#frames, frame)
  }
}

const needsEscapes = /["\\\p{Cc}\p{Cs}]/u

/** A text as JSON without its quotes. Most deltas need no escape, and finding that takes a quarter of the time of `JSON.stringify`. */
export const jsonText = (text: string): string => (needsEscapes.test(text) ? JSON.stringify(text).slice(1, -1) : text)

/** The text that was sent of a part or a call. */
export class SentText {
  /** Number of characters. */
  sent = 0
  /** Begins with what was sent. This is the decoder's text while every delta comes from it, so that an open stream keeps its text once. */
  buffer: TextBuffer | undefined = undefined
  #isShared = false

  /** Adds text to what was sent. `event`: the delta event with this text; undefined if no event had it. */
  add(text: string, event?: EventOf<'delta'>): void {
    const before = this.sent
    this.sent += text.length
    const shared = event && extendedText(event, this.sent)
    if (shared !== undefined && (shared === this.buffer || before === 0)) {
      this.buffer = shared
      this.#isShared = true
      return
    }
    if (this.#isShared || this.buffer === undefined) {
      this.buffer = new TextBuffer(this.buffer?.toString().slice(0, before))
      this.#isShared = false
    }
    this.buffer.append(text)
  }

  toString(): string {
    return this.buffer ? this.buffer.toString().slice(0, this.sent) : ''
  }

  /** The unsent rest of a text. Empty if another text was sent, because frames cannot be taken back. */
  restOf(text: string): string {
    return text.startsWith(this.toString()) ? text.slice(this.sent) : ''
  }
}

export const isFailure = (event: InferenceEvent): boolean => event.type === 'finished' && event.outcome.status === 'failed'
