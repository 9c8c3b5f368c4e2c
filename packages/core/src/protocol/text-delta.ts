import type { Delta, InferenceEvent } from './event.ts'

/**
 * A text that is built piece by piece. Pieces are joined in groups, and groups with others of their size, because a string extended by `+=`
 * keeps each piece and 32 bytes for each addition.
 */
export interface TextBuffer {
  /** Total number of characters. */
  length: number
  readonly groups: string[]
  readonly pieces: string[]
}

type DeltaEvent = Extract<InferenceEvent, { readonly type: 'delta' }>

/** A delta event with the text that it extends. Private fields are not copied, so a copy with another text does not have them. */
class TextDeltaEvent {
  readonly type = 'delta'
  readonly index: number
  readonly delta: Delta
  readonly #text: TextBuffer
  readonly #end: number

  constructor(index: number, delta: Delta, text: TextBuffer) {
    this.index = index
    this.delta = delta
    this.#text = text
    this.#end = text.length
  }

  static textOf(event: DeltaEvent, length: number): TextBuffer | undefined {
    return #text in event && event.#end === length ? event.#text : undefined
  }
}

/** A delta event whose text was just added to `text`, so that an encoder can refer to that text instead of keeping it again. */
export const textDelta = (index: number, delta: Delta, text: TextBuffer): DeltaEvent => new TextDeltaEvent(index, delta, text)

/**
 * The text that a delta event extends, if it had `length` characters after the event. It may be longer by now, but its beginning does not
 * change. Undefined if the event was copied.
 */
export const extendedText = (event: DeltaEvent, length: number): TextBuffer | undefined => TextDeltaEvent.textOf(event, length)
