import type { Delta, InferenceEvent } from './event.ts'

const maxPieces = 32

/**
 * A text that is built piece by piece. Pieces are joined in groups, and groups with others of their size, because a string extended by `+=`
 * keeps each piece and 32 bytes for each addition.
 */
export class TextBuffer {
  /** Total number of characters. */
  length: number
  readonly groups: string[]
  readonly pieces: string[] = []

  constructor(text = '') {
    this.length = text.length
    this.groups = text === '' ? [] : [text]
  }

  /** Adds a piece at the end. */
  append(piece: string): void {
    if (piece === '') return
    const { groups, pieces } = this
    this.length += piece.length
    if (pieces.push(piece) < maxPieces) return
    let group = pieces.join('')
    pieces.length = 0
    for (let last = groups.at(-1); last !== undefined && last.length <= group.length; last = groups.at(-1)) {
      groups.pop()
      group = [last, group].join('')
    }
    groups.push(group)
  }

  /** The text so far. */
  toString(): string {
    const { groups, pieces } = this
    if (pieces.length === 0 && groups.length < 2) return groups[0] ?? ''
    const text = groups.concat(pieces).join('')
    groups.length = 1
    groups[0] = text
    pieces.length = 0
    return text
  }
}

type DeltaEvent = Extract<InferenceEvent, { readonly type: 'delta' }>

// Symbols, because JSON of an event must not contain the text so far.
const extended = Symbol('signalbox.text')
const textEnd = Symbol('signalbox.end')

interface TextDeltaEvent extends DeltaEvent {
  readonly [extended]?: TextBuffer
  readonly [textEnd]?: number
}

/**
 * A delta event whose text was just added to `text`, so that an encoder can refer to that text instead of keeping it again. An event with
 * another text must be made anew: a copy by spreading would refer to this one.
 */
export const textDelta = (index: number, delta: Delta, text: TextBuffer): DeltaEvent & TextDeltaEvent => ({
  type: 'delta',
  index,
  delta,
  [extended]: text,
  [textEnd]: text.length,
})

/**
 * The text that a delta event extends, if it had `length` characters after the event. It may be longer by now, but its beginning does not
 * change.
 */
export const extendedText = (event: TextDeltaEvent, length: number): TextBuffer | undefined =>
  event[textEnd] === length ? event[extended] : undefined
