import { usableCallId } from '../common/ids.ts'
import { objects, stringOf } from '../common/json.ts'
import { remember } from '../protocol/original.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Readers of the fields of a message or delta.

/** A text of a message or a delta. */
export interface MessageText {
  readonly kind: 'reasoning' | 'text' | 'refusal'
  readonly text: string
  /** The field that contained the reasoning. */
  readonly field?: ReasoningField
}

/** Message fields that can hold reasoning. `content`: a part of type `thinking`, as Mistral sends it. */
export type ReasoningField = 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'content'

/** The texts of a message, in reading order. Reasoning is in one of several fields (if two hold the same text, the first wins), or in content parts. */
export function textsOf(holder: JsonObject): readonly MessageText[] {
  const texts: MessageText[] = []
  const field = reasoningFieldOf(holder)
  if (field) texts.push({ kind: 'reasoning', text: reasoningIn(holder), field })
  const content = holder.content ?? holder.text
  if (typeof content === 'string') {
    if (content !== '') texts.push({ kind: 'text', text: content })
  } else for (const part of objects(content)) for (const text of textsOfPart(part)) texts.push(text)
  if (typeof holder.refusal === 'string' && holder.refusal !== '') texts.push({ kind: 'refusal', text: holder.refusal })
  return texts
}

/** The content, if it is the only text. Checked first, because this is true of nearly every delta. */
export const plainTextOf = (holder: JsonObject): string | undefined =>
  typeof holder.content === 'string' && holder.content !== '' && !holder.refusal && reasoningIn(holder) === '' ? holder.content : undefined

const reasoningIn = ({ reasoning_content, reasoning, reasoning_details }: JsonObject): string =>
  stringOf(reasoning_content) || stringOf(reasoning) || detailsText(reasoning_details)

/** The field that holds the reasoning of a message: the first non-empty one. */
export function reasoningFieldOf({ reasoning_content, reasoning, reasoning_details }: JsonObject): ReasoningField | undefined {
  if (stringOf(reasoning_content) !== '') return 'reasoning_content'
  if (stringOf(reasoning) !== '') return 'reasoning'
  return detailsText(reasoning_details) === '' ? undefined : 'reasoning_details'
}

const detailsText = (details: Json | undefined): string => (details ? objects(details).map(detailText).join('') : '')
const detailText = ({ text, summary }: JsonObject): string => stringOf(text) || stringOf(summary)

function textsOfPart(part: JsonObject): readonly MessageText[] {
  if (part.type === 'thinking' || part.type === 'reasoning') {
    const inner = part.thinking ?? part.text
    const text =
      typeof inner === 'string'
        ? inner
        : objects(inner)
            .map(piece => stringOf(piece.text))
            .join('')
    return text === '' ? [] : [{ kind: 'reasoning', text, field: 'content' }]
  }
  if (part.type === 'refusal') return part.refusal === '' ? [] : [{ kind: 'refusal', text: stringOf(part.refusal) }]
  const text = stringOf(part.text)
  return text === '' ? [] : [{ kind: 'text', text }]
}

/** Images of a message or delta: those in their own field, then those among the content parts. */
export const imagesOf = ({ images, content }: JsonObject): readonly JsonObject[] => [
  ...objects(images),
  ...objects(content).filter(({ type }) => type === 'image_url'),
]

export function imageUrl({ image_url }: JsonObject): string {
  return isObject(image_url) ? stringOf(image_url.url) : stringOf(image_url)
}

const partTypes: ReadonlySet<string> = new Set(['text', 'output_text', 'thinking', 'reasoning', 'refusal', 'image_url'])

/** The content parts that are not decoded. */
export const unknownParts = (content: Json | undefined): readonly JsonObject[] =>
  objects(content).filter(({ type, text }) => typeof type === 'string' && !partTypes.has(type) && stringOf(text) === '')

/** The entries of `choice.logprobs.content`, each with a list of alternatives. */
export function logprobsOf(choice: JsonObject): readonly JsonObject[] {
  const entries = isObject(choice.logprobs) ? objects(choice.logprobs.content) : []
  return entries.map(entry => ({ ...entry, top_logprobs: entry.top_logprobs ?? [] }))
}

/** Citations are nested in this dialect and flat in items. An annotation that is not a link is kept for clients of this dialect. */
export function annotationsOf({ annotations }: JsonObject): readonly JsonObject[] {
  const nested = objects(annotations)
  return nested.length === 0 ? nested : nested.flatMap(flat)
}

const flat = (annotation: JsonObject): readonly JsonObject[] => {
  const { type, url_citation } = annotation
  if (type === 'url_citation' && isObject(url_citation)) return [{ type, ...url_citation }]
  return typeof type === 'string' ? [remember<JsonObject>({ ...annotation }, { dialect, body: annotation })] : []
}

/** One entry of `tool_calls`, or the legacy `function_call`. */
export interface CallPiece {
  readonly position: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** Whether the arguments are the free text of a custom tool. */
  readonly isCustom: boolean
  /** A signature that the provider wants back with the call, or an empty string. */
  readonly signature: string
}

/** The pieces of calls in a message or delta. `isTaken`: whether an entry belongs to a call of another type. */
export function callPiecesOf(holder: JsonObject, isTaken: (entry: JsonObject) => boolean): readonly CallPiece[] {
  const entries = objects(holder.tool_calls)
  if (entries.length > 0) return entries.filter(entry => !isTaken(entry)).map(readPiece)
  return isObject(holder.function_call) ? [readPiece({ index: 0, function: holder.function_call })] : noPieces
}

const noPieces: readonly CallPiece[] = []

function readPiece({ index, id, function: called, custom, extra_content }: JsonObject): CallPiece {
  const body = isObject(called) ? called : isObject(custom) ? custom : {}
  const given = body.arguments ?? body.input
  return {
    position: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined,
    id: usableCallId(stringOf(id)),
    name: stringOf(body.name),
    arguments: isObject(given) ? JSON.stringify(given) : stringOf(given),
    isCustom: isObject(custom),
    signature: signatureIn(extra_content),
  }
}

export const signatureIn = (extra: Json | undefined): string =>
  isObject(extra) && isObject(extra.google) ? stringOf(extra.google.thought_signature) : ''
