import { objectIn, stringOf } from '../common/json.ts'

// Signatures of reasoning. Each belongs to a part of the response and must be sent back on exactly that part. It is carried by a reasoning
// item next to the part, whose state says where the signature belongs.

export interface SignatureState {
  /**
   * `call`: the next tool call. `image`: the next image without a signature. `text`: the first `length` characters of the next text. `end`:
   * the last `length` characters of the previous text, or an empty part if that is 0. `thought`: the reasoning itself.
   */
  readonly on: 'call' | 'image' | 'text' | 'end' | 'thought'
  readonly signature: string
  readonly length: number
}

export const encodeReasoningState = ({ on, signature, length }: SignatureState): string =>
  JSON.stringify({ on, signature, length: length > 0 ? length : undefined })

const positions: ReadonlySet<string> = new Set(['call', 'image', 'text', 'end', 'thought'] satisfies readonly SignatureState['on'][])
const isPosition = (value: unknown): value is SignatureState['on'] => typeof value === 'string' && positions.has(value)

/** Parses state; undefined if the text is not state of this dialect. */
export function decodeReasoningState(text: string | undefined): SignatureState | undefined {
  const { on, signature, length } = (text === undefined ? undefined : objectIn(text)) ?? {}
  if (!isPosition(on) || stringOf(signature) === '') return undefined
  return { on, signature: stringOf(signature), length: typeof length === 'number' && length > 0 ? Math.floor(length) : 0 }
}

/** Accepted by the provider as the signature of a call that it did not make. */
export const placeholderSignature = 'skip_thought_signature_validator'
