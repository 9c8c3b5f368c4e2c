import { callIdFor } from '../common/ids.ts'
import { bufferedText, type PartialItem, partialItem, partOf } from '../common/item-assembler.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { TextBuffer } from '../protocol/text-delta.ts'
import type { CallPiece } from './message-fields.ts'

// Assigns pieces of calls to calls. The position identifies the call if it is present and correct, but some providers omit it, omit ids,
// repeat names and ids with every piece, or send several whole calls under one position.

export interface PartialCall {
  readonly place: number
  /** Gets its name and call id once the name is known, and is not announced before. */
  readonly partial: PartialItem
  readonly arguments: TextBuffer
  /** The provider's id, or an empty string. */
  givenId: string
  /** The provider's name of the tool, or an empty string until known. */
  name: string
  /** Unique within the response; an empty string until the name is known. */
  callId: string
  /** A signature that the provider wants back with the call, until it is read. */
  signature: string
  /** Number of the chunk with the latest piece of the call. */
  chunk: number
  readonly scan: JsonScan
}

/** Incremental scan of the arguments. Rescanning them with every piece would be quadratic. */
interface JsonScan {
  depth: number
  isBlank: boolean
  isText: boolean
  isEscaped: boolean
}

export interface PartialCalls {
  readonly all: PartialCall[]
  /** Unfinished calls, in order. */
  readonly open: Set<PartialCall>
  /** Unfinished calls that have a name and complete arguments. */
  readonly whole: Set<PartialCall>
  readonly byId: Map<string, PartialCall>
  readonly byPosition: Map<number, PartialCall>
  readonly callIds: Set<string>
  readonly toolNames: ResponseMapping['toolNames']
  /** Values of the response that call ids are derived from. */
  readonly seed: readonly (string | number)[]
  /** The number of the current chunk. */
  chunk: number
}

export const partialCalls = (toolNames: ResponseMapping['toolNames'], seed: PartialCalls['seed']): PartialCalls => ({
  all: [],
  open: new Set(),
  whole: new Set(),
  byId: new Map(),
  byPosition: new Map(),
  callIds: new Set(),
  toolNames,
  seed,
  chunk: 0,
})

/** The call that a piece belongs to, updated with everything but the piece's arguments; undefined if the piece repeats a whole call. */
export function callOfPiece(calls: PartialCalls, piece: CallPiece): PartialCall | undefined {
  const known = findCall(calls, piece)
  if (known && isRepeat(known, piece)) return undefined
  const call = known && !startsAnother(known, piece, known.chunk === calls.chunk) ? known : startCall(calls, piece)
  call.chunk = calls.chunk
  if (piece.signature !== '') call.signature = piece.signature
  if (call.name === '') nameCall(calls, call, piece)
  // Free text has no detectable end.
  if (!isCustom(call)) for (const character of piece.arguments) scanCharacter(call.scan, character)
  if (call.partial.finished || call.name === '' || !isComplete(call)) calls.whole.delete(call)
  else calls.whole.add(call)
  return call
}

/** Removes a call from those that may still grow. */
export function closeCall({ open, whole }: PartialCalls, call: PartialCall): void {
  open.delete(call)
  whole.delete(call)
}

function findCall({ all, byId, byPosition }: PartialCalls, { position, id, name }: CallPiece): PartialCall | undefined {
  if (position !== undefined) return byPosition.get(position)
  return byId.get(id) ?? (id === '' || name === '' ? all.at(-1) : undefined)
}

function startCall({ all, open, byPosition, chunk }: PartialCalls, { position }: CallPiece): PartialCall {
  const partial = partialItem({ type: 'function_call', call_id: '', name: '', arguments: '' })
  const call: PartialCall = {
    place: all.length,
    partial,
    arguments: partOf(partial, 'arguments', 0).text,
    givenId: '',
    name: '',
    callId: '',
    signature: '',
    chunk,
    scan: { depth: 0, isBlank: true, isText: false, isEscaped: false },
  }
  all.push(call)
  open.add(call)
  if (position !== undefined) byPosition.set(position, call)
  return call
}

function nameCall({ byId, callIds, toolNames, seed }: PartialCalls, call: PartialCall, piece: CallPiece): void {
  if (call.givenId === '') call.givenId = piece.id
  if (call.givenId !== '') byId.set(call.givenId, call)
  const { name, isCustom } = piece
  if (name === '') return
  call.name = name
  call.callId = callIdFor(callIds, call.givenId, [...seed, call.place, name])
  call.partial.item = {
    type: 'function_call',
    call_id: call.callId,
    name: toolNames?.get(name) ?? name,
    arguments: '',
    ...(isCustom && { custom: true }),
  }
}

/** Whether the piece repeats the whole call, as some providers do at the end. */
const isRepeat = (call: PartialCall, { id, name, arguments: text }: CallPiece): boolean =>
  id !== '' &&
  id === call.givenId &&
  name === call.name &&
  isComplete(call) &&
  text.length === call.arguments.length &&
  text === bufferedText(call.arguments)

/**
 * Whether the piece starts another call. A piece without a name never does. With a name it does if it cannot belong to the same call:
 * another id or name, or arguments after complete ones.
 */
function startsAnother(call: PartialCall, piece: CallPiece, isSameChunk: boolean): boolean {
  if (piece.name === '' || call.name === '') return false
  if (piece.id !== '' && call.givenId !== '' && piece.id !== call.givenId) return true
  if (piece.name !== call.name) return true
  return (isSameChunk && piece.position === undefined) || (piece.arguments !== '' && isComplete(call))
}

/** Whether the arguments are complete: every opened bracket and string is closed. */
export const isComplete = ({ scan }: PartialCall): boolean => !scan.isBlank && scan.depth <= 0 && !scan.isText

export const isCustom = ({ partial: { item } }: PartialCall): boolean => item.type === 'function_call' && item.custom === true

function scanCharacter(scan: JsonScan, character: string): void {
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
