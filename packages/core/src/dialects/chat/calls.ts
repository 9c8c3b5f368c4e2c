import type { FunctionCallItem, ItemStatus } from '../../protocol/item.ts'
import type { CallPiece } from './wire.ts'

// Which call does a piece belong to? The position says so, where there is one and it is right; some providers leave it out,
// leave out ids, repeat names and ids with every piece, or send several whole calls under one position.

export interface Call {
  readonly place: number
  /** The id as it came; blank where none did. */
  given: string
  /** Blank until known. Nothing of a call can be told before. */
  name: string
  arguments: string
  /** Ours: never blank, and different from that of every other call of the answer. */
  call_id: string
  /** What the provider wants back with it, and is not yet told. */
  signature: string
  /** Position among the items, once announced. */
  index: number | undefined
  finished: boolean
  readonly scan: Scan
}

/** What is open in the arguments so far. Kept, since to look through them again with every piece would add up. */
interface Scan {
  depth: number
  isBlank: boolean
  isText: boolean
  isEscaped: boolean
}

export interface Calls {
  readonly all: readonly Call[]
  /** Those that are not finished, in order. */
  readonly open: ReadonlySet<Call>
  /** Those of them that have a name, and whose arguments are a whole value. */
  readonly whole: ReadonlySet<Call>
  finish(call: Call): void
  /** Calls `each` with every piece as it is added: what follows in the same chunk is not known yet. */
  take(pieces: readonly CallPiece[], each: (taken: TakenPiece) => void): void
}

export interface TakenPiece {
  readonly call: Call
  readonly piece: CallPiece
  readonly isNew: boolean
}

export function followCalls(mint: (place: number, name: string) => string): Calls {
  const all: Call[] = []
  const open = new Set<Call>()
  const whole = new Set<Call>()
  const byId = new Map<string, Call>()
  const byPlace = new Map<number, Call>()
  const taken = new Set<string>()

  const find = (piece: CallPiece): Call | undefined => {
    if (piece.place !== undefined) return byPlace.get(piece.place)
    return byId.get(piece.id) ?? (piece.id === '' || piece.name === '' ? all.at(-1) : undefined)
  }

  const start = (piece: CallPiece): Call => {
    const scan: Scan = { depth: 0, isBlank: true, isText: false, isEscaped: false }
    const call: Call = {
      place: all.length,
      given: '',
      name: '',
      arguments: '',
      call_id: '',
      signature: '',
      index: undefined,
      finished: false,
      scan,
    }
    all.push(call)
    open.add(call)
    if (piece.place !== undefined) byPlace.set(piece.place, call)
    return call
  }

  const add = (call: Call, piece: CallPiece): void => {
    call.arguments += piece.arguments
    if (piece.signature !== '') call.signature = piece.signature
    for (const character of piece.arguments) step(call.scan, character)
    name(call, piece)
    if (call.finished || call.name === '' || !isComplete(call)) whole.delete(call)
    else whole.add(call)
  }

  const name = (call: Call, piece: CallPiece): void => {
    if (call.name !== '') return
    if (call.given === '') call.given = piece.id
    if (call.given !== '') byId.set(call.given, call)
    call.name = piece.name
    if (call.name === '') return
    call.call_id = call.given !== '' && !taken.has(call.given) ? call.given : mint(call.place, call.name)
    taken.add(call.call_id)
  }

  return {
    all,
    open,
    whole,
    finish(call) {
      call.finished = true
      open.delete(call)
      whole.delete(call)
    },
    take(pieces, each) {
      if (pieces.length === 0) return
      const touched = new Set<Call>()
      for (const piece of pieces) {
        const known = find(piece)
        if (known && isRepeat(known, piece)) continue
        const isNew = !known || startsAnother(known, piece, touched.has(known))
        const call = isNew ? start(piece) : known
        touched.add(call)
        add(call, piece)
        each({ call, piece, isNew })
      }
    },
  }
}

/** The whole call once more, as some send it at the end. */
const isRepeat = (call: Call, piece: CallPiece): boolean =>
  piece.id !== '' && piece.id === call.given && piece.name === call.name && piece.arguments === call.arguments && isComplete(call)

/** Without a name nothing begins. With one it does where it cannot be the same call: another id, another name, or arguments after whole ones. */
function startsAnother(call: Call, piece: CallPiece, isTouched: boolean): boolean {
  if (piece.name === '' || call.name === '') return false
  if (piece.id !== '' && call.given !== '' && piece.id !== call.given) return true
  if (piece.name !== call.name) return true
  return (isTouched && piece.place === undefined) || (piece.arguments !== '' && isComplete(call))
}

/** Whether the arguments are a whole value: whatever was opened in them is closed. */
export const isComplete = ({ scan }: Call): boolean => !scan.isBlank && scan.depth <= 0 && !scan.isText

function step(scan: Scan, character: string): void {
  if (scan.isEscaped) scan.isEscaped = false
  else if (scan.isText) {
    if (character === '\\') scan.isEscaped = true
    else if (character === '"') scan.isText = false
  } else {
    if (character === '"') scan.isText = true
    else if (character === '{' || character === '[') scan.depth++
    else if (character === '}' || character === ']') scan.depth--
    scan.isBlank &&= character <= ' '
  }
}

export const callItem = ({ call_id, name, arguments: written }: Call, status: ItemStatus): FunctionCallItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: written,
  status,
})
