import { isObject, type JsonObject } from '../protocol/wire.ts'
import { placeholderSignature, type SignatureState } from './reasoning-state.ts'

// `contents`: alternating turns of user and model. Tool results are part of a user turn.

export interface ContentTurn {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
  /** Tool results with the position of their calls: results are sent in call order. */
  readonly results: { readonly position: number; readonly part: JsonObject }[]
  /** Media of tool results that cannot hold it. */
  readonly images: JsonObject[]
}

export const isEmpty = (turn: ContentTurn | undefined): boolean =>
  turn !== undefined && turn.parts.length === 0 && turn.results.length === 0 && turn.images.length === 0

interface TurnOptions {
  readonly needsSignatures: boolean
  /**
   * Whether tool results come after the other parts of their turn. Models since 3.6 refuse what follows them: 400 "Requests ending with a
   * model turn are not supported", although the turn is the user's. Sources: answers of the API in agentgateway/agentgateway#2811 and
   * MoonshotAI/kimi-code#3274; google/oss-rebuild#1559: text before the results is accepted by every model.
   */
  readonly resultsLast: boolean
}

export function encodeTurns(turns: readonly ContentTurn[], { needsSignatures, resultsLast }: TurnOptions): readonly JsonObject[] {
  return turns.flatMap(turn => {
    const parts = turnParts(turn, resultsLast)
    if (parts.length === 0) return []
    return [{ role: turn.role, parts: turn.role === 'model' && needsSignatures ? withCallSignature(parts) : parts }]
  })
}

function turnParts({ results, images, parts }: ContentTurn, resultsLast: boolean): readonly JsonObject[] {
  const ordered = results.toSorted((one, other) => one.position - other.position).map(({ part }) => part)
  return resultsLast ? [...parts, ...ordered] : [...ordered, ...images, ...parts]
}

/**
 * Ensures that the first call of each turn is signed, and no other. The provider checks only calls after the last user question, but
 * earlier ones are encoded the same way, because prompt caches match prefixes.
 */
function withCallSignature(parts: readonly JsonObject[]): readonly JsonObject[] {
  const first = parts.findIndex(({ functionCall }) => isObject(functionCall))
  return parts.map((part, at) =>
    at === first && part.thoughtSignature === undefined ? { ...part, thoughtSignature: placeholderSignature } : part,
  )
}

/** Encodes a text of the model, whose first characters may be signed. */
export function textParts(text: string, state: SignatureState | undefined): readonly JsonObject[] {
  if (!state) return text === '' ? [] : [{ text }]
  const rest = text.slice(state.length)
  return [{ text: text.slice(0, state.length), thoughtSignature: state.signature }, ...(rest === '' ? [] : [{ text: rest }])]
}

/** Signs the last characters of the turn, or an empty part if there is no text to sign. */
export function signEnd(parts: JsonObject[], { signature, length }: SignatureState): void {
  const last = parts.at(-1)
  const text = length > 0 && typeof last?.text === 'string' && last.thoughtSignature === undefined ? last.text : undefined
  if (text === undefined) {
    parts.push({ text: '', thoughtSignature: signature })
    return
  }
  const at = Math.max(0, text.length - length)
  parts.pop()
  if (at > 0) parts.push({ text: text.slice(0, at) })
  parts.push({ text: text.slice(at), thoughtSignature: signature })
}
