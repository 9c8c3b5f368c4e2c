/**
 * A text that grows piece by piece. Pieces are kept in a list and joined in groups: a string that grows by `+=` keeps 32 bytes
 * and the piece for each addition.
 */
export interface TextBuffer {
  /** Characters in all. */
  length: number
  joined: string
  readonly pieces: string[]
}

const maxPieces = 64

export const textBuffer = (): TextBuffer => ({ length: 0, joined: '', pieces: [] })

export function appendText(buffer: TextBuffer, piece: string): void {
  if (piece === '') return
  buffer.length += piece.length
  if (buffer.pieces.push(piece) >= maxPieces) textOf(buffer)
}

export function textOf(buffer: TextBuffer): string {
  if (buffer.pieces.length > 0) {
    buffer.joined += buffer.pieces.join('')
    buffer.pieces.length = 0
  }
  return buffer.joined
}

/** Puts another text in the place of what came piece by piece. */
export function replaceText(buffer: TextBuffer, text: string): void {
  buffer.length = text.length
  buffer.joined = text
  buffer.pieces.length = 0
}
