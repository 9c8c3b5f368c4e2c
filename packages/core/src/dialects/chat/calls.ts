import type { FunctionCallItem, ItemStatus } from '../../protocol/item.ts'
import { type CallPiece, isWhole } from './wire.ts'

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
  /** Position among the items, once announced. */
  index: number | undefined
  finished: boolean
}

export interface Calls {
  readonly all: readonly Call[]
  take(pieces: readonly CallPiece[]): readonly { readonly call: Call; readonly piece: CallPiece; readonly isNew: boolean }[]
}

export function followCalls(mint: (place: number, name: string) => string): Calls {
  const all: Call[] = []
  const byPlace = new Map<number, Call>()
  const taken = new Set<string>()

  const find = (piece: CallPiece): Call | undefined => {
    if (piece.place !== undefined) return byPlace.get(piece.place)
    return (
      (piece.id === '' ? undefined : all.findLast(call => call.given === piece.id)) ??
      (piece.id === '' || piece.name === '' ? all.at(-1) : undefined)
    )
  }

  const start = (piece: CallPiece): Call => {
    const call: Call = { place: all.length, given: '', name: '', arguments: '', call_id: '', index: undefined, finished: false }
    all.push(call)
    if (piece.place !== undefined) byPlace.set(piece.place, call)
    return call
  }

  const add = (call: Call, piece: CallPiece): void => {
    call.arguments += piece.arguments
    if (call.name !== '') return
    if (call.given === '') call.given = piece.id
    call.name = piece.name
    if (call.name === '') return
    call.call_id = call.given !== '' && !taken.has(call.given) ? call.given : mint(call.place, call.name)
    taken.add(call.call_id)
  }

  return {
    all,
    take(pieces) {
      const touched = new Set<Call>()
      return pieces.flatMap(piece => {
        const known = find(piece)
        if (known && isRepeat(known, piece)) return []
        const isNew = !known || startsAnother(known, piece, touched.has(known))
        const call = isNew ? start(piece) : known
        touched.add(call)
        add(call, piece)
        return [{ call, piece, isNew }]
      })
    },
  }
}

/** The whole call once more, as some send it at the end. */
const isRepeat = (call: Call, piece: CallPiece): boolean =>
  piece.id !== '' && piece.id === call.given && piece.name === call.name && piece.arguments === call.arguments && isWhole(call.arguments)

/** Without a name nothing begins. With one it does where it cannot be the same call: another id, another name, or arguments after whole ones. */
function startsAnother(call: Call, piece: CallPiece, isTouched: boolean): boolean {
  if (piece.name === '' || call.name === '') return false
  if (piece.id !== '' && call.given !== '' && piece.id !== call.given) return true
  if (piece.name !== call.name) return true
  return (isTouched && piece.place === undefined) || (piece.arguments !== '' && isWhole(call.arguments))
}

export const isComplete = ({ arguments: written }: Call): boolean => isWhole(written)

export const callItem = ({ call_id, name, arguments: written }: Call, status: ItemStatus): FunctionCallItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: written,
  status,
})
