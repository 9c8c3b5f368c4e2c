import { TextBuffer } from '../protocol/text-delta.ts'
import { objectIn } from './json.ts'

// Extracts the text of the field `input` from arguments that arrive in pieces, so that it can be streamed. The work is linear in the
// arguments.

/** The state of reading the input of one call. */
export interface CustomInputReader {
  /** `other`: not an object that begins with the field, so the end has to be awaited. */
  state: 'before' | 'inside' | 'after' | 'other'
  /** Characters that cannot be interpreted until more arrive. */
  pending: string
  /** A high surrogate that waits for its other half. */
  half: string
  readonly text: TextBuffer
}

export const startInput = (): CustomInputReader => ({ state: 'before', pending: '', half: '', text: new TextBuffer() })

const beginning = /^\s*\{\s*"input"\s*:\s*"/
/** Maximum characters before the field's text. */
const maxBeginning = 100

/** Adds a piece of the arguments. Returns what it adds to the input. */
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

/** A run of plain characters, an escape, or the closing quote. An escape that JSON does not define stands for its letter. */
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
  reader.text.append(text)
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

/** Ends a call. `input`: the whole input. `unsent`: the part that no piece returned. */
export function endOfInput(reader: CustomInputReader, written: string): { readonly input: string; readonly unsent: string } {
  const { state, half, text } = reader
  if (state === 'before' || state === 'other') {
    const input = withoutObject(written)
    return { input, unsent: input }
  }
  text.append(half)
  return { input: text.toString(), unsent: half }
}

/** The input in complete arguments. */
export function inputOf(written: string): string {
  const reader = startInput()
  readInput(reader, written)
  return endOfInput(reader, written).input
}

/** Arguments in any other format are the input themselves, so that nothing is lost. */
function withoutObject(written: string): string {
  const fields = objectIn(written)
  if (fields && Object.keys(fields).length === 0) return ''
  return typeof fields?.input === 'string' ? fields.input : written
}
