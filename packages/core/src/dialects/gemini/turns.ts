import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { type Signed, standIn } from './reasoning-state.ts'

// `contents`: turns of user and model, one after the other. What tools returned is a turn of the user.

export interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
  /** What tools returned, with the place of the call among all calls: answers stand in the order of the questions. */
  readonly results: { readonly place: number; readonly part: JsonObject }[]
  /** Images that tools returned and their results cannot hold. */
  readonly images: JsonObject[]
}

/** Someone spoke and said nothing. */
export const isEmpty = (turn: Turn | undefined): boolean =>
  turn !== undefined && turn.parts.length === 0 && turn.results.length === 0 && turn.images.length === 0

export function writeTurns(turns: readonly Turn[], needsSignatures: boolean): readonly JsonObject[] {
  const current = needsSignatures ? turns.findLastIndex(({ role, results }) => role === 'user' && results.length === 0) : turns.length
  return turns.flatMap((turn, at) => {
    const parts = partsOf(turn)
    if (parts.length === 0) return []
    return [{ role: turn.role, parts: turn.role === 'model' && at > current ? vouched(parts) : parts }]
  })
}

const partsOf = ({ results, images, parts }: Turn): readonly JsonObject[] => [
  ...results.toSorted((one, other) => one.place - other.place).map(({ part }) => part),
  ...images,
  ...parts,
]

/** The first call of each step of the current turn has to be signed; the others never are. */
function vouched(parts: readonly JsonObject[]): readonly JsonObject[] {
  const first = parts.findIndex(({ functionCall }) => isObject(functionCall))
  return parts.map((part, at) => (at === first && part.thoughtSignature === undefined ? { ...part, thoughtSignature: standIn } : part))
}

/** A text of the model, of which the first characters may have been signed. */
export function textParts(text: string, signed: Signed | undefined): readonly JsonObject[] {
  if (!signed) return text === '' ? [] : [{ text }]
  const rest = text.slice(signed.length)
  return [{ text: text.slice(0, signed.length), thoughtSignature: signed.signature }, ...(rest === '' ? [] : [{ text: rest }])]
}

/** Signs the last characters that were said, or where it was nothing that was signed, nothing. */
export function signEnd(parts: JsonObject[], { signature, length }: Signed): void {
  const last = parts.at(-1)
  const said = length > 0 && typeof last?.text === 'string' && last.thoughtSignature === undefined ? last.text : undefined
  if (said === undefined) {
    parts.push({ text: '', thoughtSignature: signature })
    return
  }
  const at = Math.max(0, said.length - length)
  parts.pop()
  if (at > 0) parts.push({ text: said.slice(0, at) })
  parts.push({ text: said.slice(at), thoughtSignature: signature })
}
