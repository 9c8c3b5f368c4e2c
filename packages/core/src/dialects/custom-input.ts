import { appendText, bufferedText, type TextBuffer, textBuffer } from './item-assembler.ts'
import { objectIn } from './json.ts'

// Reads the text of the field `input` out of arguments that come piece by piece, so that it can be passed on as it comes. Work is
// linear in the arguments.

/** The input of one call, as far as it has come. */
export interface CustomInputReader {
  /** `other`: not an object that begins with the field, so that its end has to be waited for. */
  state: 'before' | 'inside' | 'after' | 'other'
  /** Characters that cannot be read before more have come. */
  pending: string
  /** The first half of a character of two, until the second comes. */
  half: string
  readonly text: TextBuffer
}

export const startInput = (): CustomInputReader => ({ state: 'before', pending: '', half: '', text: textBuffer() })

const beginning = /^\s*\{\s*"input"\s*:\s*"/
/** In characters. */
const maxBeginning = 100

/** Adds arguments. Returns what they add to the input. */
export function readInput(reader: CustomInputReader, piece: string): string {
  if (reader.state === 'after' || reader.state === 'other') return ''
  const source = reader.pending + piece
  if (reader.state === 'inside') return readText(reader, source)
  const begun = beginning.exec(source)
  if (begun) {
    reader.state = 'inside'
    return readText(reader, source.slice(begun[0].length))
  }
  reader.pending = source
  if (source.length > maxBeginning) reader.state = 'other'
  return ''
}

/** A run of plain characters, an escape, or the quote that ends the text. An escape that JSON does not have stands for its letter. */
const token = /[^"\\]+|\\u[\da-fA-F]{4}|\\u(?=[\s\S]{4})|\\[^u]|"/y

function readText(reader: CustomInputReader, source: string): string {
  let read = reader.half
  let at = 0
  token.lastIndex = 0
  for (let match = token.exec(source); match; match = token.exec(source)) {
    at = token.lastIndex
    if (match[0] === '"') {
      reader.state = 'after'
      break
    }
    read += unescaped(match[0])
  }
  reader.pending = source.slice(at)
  const isHalf = reader.state === 'inside' && /[\ud800-\udbff]$/.test(read)
  reader.half = isHalf ? read.slice(-1) : ''
  const text = isHalf ? read.slice(0, -1) : read
  appendText(reader.text, text)
  return text
}

const controls: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
])

function unescaped(token: string): string {
  if (!token.startsWith('\\')) return token
  if (token.length > 2) return String.fromCharCode(Number.parseInt(token.slice(2), 16))
  const letter = token.slice(1)
  return controls.get(letter) ?? letter
}

/** The end of a call. `input`: all of it; `unsent`: what no piece has brought. */
export function endOfInput(reader: CustomInputReader, written: string): { readonly input: string; readonly unsent: string } {
  const { state, half, text } = reader
  if (state === 'before' || state === 'other') {
    const input = withoutObject(written)
    return { input, unsent: input }
  }
  appendText(text, half)
  return { input: bufferedText(text), unsent: half }
}

/** The input in whole arguments. */
export function inputOf(written: string): string {
  const reader = startInput()
  readInput(reader, written)
  return endOfInput(reader, written).input
}

/** Arguments that are something else are the input themselves: nothing that the model wrote is lost. */
function withoutObject(written: string): string {
  const fields = objectIn(written)
  if (fields && Object.keys(fields).length === 0) return ''
  return typeof fields?.input === 'string' ? fields.input : written
}
