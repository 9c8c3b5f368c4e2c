import { objectIn, stringOf } from '../json.ts'

// Signatures of thoughts. Here each sits on a part of the answer and must come back on exactly that part. Among our items it
// travels in the reasoning item beside the part, as a text of ours that says where it belongs.

export interface Signed {
  /**
   * `call`: the tool call that follows. `text`: the first `length` characters of the text that follows. `end`: the last
   * `length` characters of the text before, and where that is 0 an empty part of its own. `thought`: the thought itself.
   */
  readonly on: 'call' | 'text' | 'end' | 'thought'
  readonly signature: string
  readonly length: number
}

export const writeState = ({ on, signature, length }: Signed): string => JSON.stringify({ on, signature, ...(length > 0 && { length }) })

const places: ReadonlySet<string> = new Set(['call', 'text', 'end', 'thought'] satisfies readonly Signed['on'][])
const isPlace = (value: unknown): value is Signed['on'] => typeof value === 'string' && places.has(value)

/** Nothing where the text is not one of ours. */
export function readState(text: string | undefined): Signed | undefined {
  const { on, signature, length } = (text === undefined ? undefined : objectIn(text)) ?? {}
  if (!isPlace(on) || stringOf(signature) === '') return undefined
  return { on, signature: stringOf(signature), length: typeof length === 'number' && length > 0 ? Math.floor(length) : 0 }
}

/** What the provider takes in place of the signature of a call that it did not make. */
export const standIn = 'skip_thought_signature_validator'
