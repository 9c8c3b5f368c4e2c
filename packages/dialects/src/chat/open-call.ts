import { OpenItem } from '../common/item-assembler.ts'
import type { CallPiece } from './message-fields.ts'

/** A call whose pieces arrive one by one. It is announced once its name is known. */
export class OpenCall extends OpenItem {
  /** The provider's id, or an empty string. */
  givenId = ''
  /** The provider's name of the tool, or an empty string until known. */
  name = ''
  /** A signature that the provider wants back with the call, until it is read. */
  signature = ''
  /** Number of the chunk with the latest piece of the call. */
  chunk: number
  // An incremental scan of the arguments: rescanning them with every piece would be quadratic.
  #depth = 0
  #isBlank = true
  #isText = false
  #isEscaped = false

  constructor(chunk: number) {
    super({ type: 'function_call', call_id: '', name: '', arguments: '' })
    this.chunk = chunk
  }

  /** Whether every opened bracket and string of the arguments is closed. Free text has no detectable end. */
  override get isComplete(): boolean {
    return !this.#isBlank && this.#depth <= 0 && !this.#isText
  }

  /** Reads a piece of JSON arguments. */
  scan(text: string): void {
    for (const character of text) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isText) {
        if (character === '\\') this.#isEscaped = true
        else if (character === '"') this.#isText = false
      } else {
        if (character === '"') this.#isText = true
        else if (character === '{' || character === '[') this.#depth++
        else if (character === '}' || character === ']') this.#depth--
        this.#isBlank &&= character <= ' '
      }
    }
  }

  /** Whether the piece repeats the whole call, as some providers do at the end. */
  isRepeated({ id, name, arguments: text }: CallPiece): boolean {
    if (id === '' || id !== this.givenId || name !== this.name || !this.isComplete) return false
    const written = this.part('arguments', 0).text
    return text.length === written.length && text === written.toString()
  }

  /**
   * Whether the piece starts another call. A piece without a name never does. With a name it does if it cannot belong to the same call:
   * another id or name, or arguments after complete ones.
   */
  endsBefore(piece: CallPiece, chunk: number): boolean {
    if (piece.name === '' || this.name === '') return false
    if (piece.id !== '' && this.givenId !== '' && piece.id !== this.givenId) return true
    if (piece.name !== this.name) return true
    return (this.chunk === chunk && piece.position === undefined) || (piece.arguments !== '' && this.isComplete)
  }
}
