import type { Failure } from '../../protocol/failure.ts'
import { originalOf } from '../../protocol/original.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readErrorDetails } from '../failure.ts'
import { objects, stringOf } from '../json.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'

export const dialect = 'chat'

export const originalBody = (reading: object): JsonObject | undefined => {
  const original = originalOf(reading)
  return original?.dialect === dialect ? original.body : undefined
}

export const without = (body: JsonObject, fields: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([field]) => !fields.has(field)))

/** What callers of our own language put into `include` to see probabilities. */
export const wantsLogprobs = 'message.output_text.logprobs'

/** Where thoughts stand in a message, in words or sealed. */
export const thoughtFields: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'])

/** What of a message or a delta we read; the rest is carried. */
export const messageFields: ReadonlySet<string> = new Set([
  ...thoughtFields,
  'role',
  'content',
  'text',
  'refusal',
  'annotations',
  'tool_calls',
  'function_call',
])

const failed = (kind: Failure['kind'], message: string): Outcome => ({ status: 'failed', error: { kind, message } })

/** Why an answer ended; what is not listed means that it simply did. */
const endings: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ['length', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['model_length', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['max_tokens', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['content_filter', { status: 'incomplete', reason: 'content_filter' }],
  ['error', failed('server_error', 'The provider broke the answer off with an error.')],
  ['abort', failed('server_error', 'The provider broke the answer off.')],
  ['insufficient_system_resource', failed('overloaded', 'The provider broke the answer off for want of resources.')],
])

export const outcomeOf = (reason: string): Outcome => endings.get(reason) ?? { status: 'completed' }

/** An object, or a bare text beside a code; null and absent are no error. */
export function errorOf(body: JsonObject): Failure | undefined {
  const { error } = body
  if (isObject(error)) return failureOf(readErrorDetails(error))
  if (typeof error === 'string' && error !== '') return failureOf(readErrorDetails(body))
  if (body.object === 'error' || body.type === 'error') return failureOf(readErrorDetails(withoutMark(body)))
  const extras = vendorCorner(body, 'error')
  return extras === undefined ? undefined : failureOf(readErrorDetails(extras))
}

/** Some put things of their own, and things that belong elsewhere, under a name such as `x_vendor`. */
function vendorCorner(body: JsonObject, field: string): Json | undefined {
  for (const key in body) {
    const corner = key.startsWith('x_') ? body[key] : undefined
    if (isObject(corner) && corner[field] !== undefined && corner[field] !== null) return corner[field]
  }
  return undefined
}

/** In a flat error `type: "error"` is a mark, not a name. */
const withoutMark = ({ type, ...body }: JsonObject): JsonObject => (type === 'error' ? body : { ...body, type })

/** The choice that counts: number 0, or the only one that has no number. */
export const firstChoice = (body: JsonObject): JsonObject | undefined => objects(body.choices).find(isFirst)

const isFirst = ({ index }: JsonObject): boolean => index === undefined || index === null || index === 0

/** Usage stands at the top, in a vendor's own corner, or inside the choice. */
export function usageIn(body: JsonObject, choice: JsonObject | undefined): Json | undefined {
  if (isObject(body.usage)) return body.usage
  const elsewhere = vendorCorner(body, 'usage') ?? choice?.usage
  return isObject(elsewhere) ? elsewhere : undefined
}

export function countUsage(wire: Json | undefined, answered: boolean): ReturnType<typeof readUsage> {
  const usage = readUsage(wire, usageNames.chat)
  return isCounted(usage, answered) ? usage : undefined
}

export const headOf = ({
  id,
  model,
  created,
}: JsonObject): { readonly id: string; readonly model: string; readonly created_at: number } => ({
  id: stringOf(id),
  model: stringOf(model),
  created_at: typeof created === 'number' && created >= 0 && created < 1e11 ? Math.floor(created) : 0,
})

/** What a message or a delta says, in the order in which it is meant to be read. */
export interface Said {
  readonly kind: 'reasoning' | 'text' | 'refusal'
  readonly text: string
}

/**
 * Thoughts stand in one of several fields (some providers fill two with the same words: the first wins), or are parts of
 * the content.
 */
export function saidIn(holder: JsonObject): readonly Said[] {
  const said: Said[] = []
  const thought = thoughtIn(holder)
  if (thought !== '') said.push({ kind: 'reasoning', text: thought })
  const content = holder.content ?? holder.text
  if (typeof content === 'string') {
    if (content !== '') said.push({ kind: 'text', text: content })
  } else for (const part of objects(content)) for (const piece of partSaid(part)) said.push(piece)
  if (typeof holder.refusal === 'string' && holder.refusal !== '') said.push({ kind: 'refusal', text: holder.refusal })
  return said
}

/** The text, where that is all that is said: as in nearly every piece, and there are thousands. */
export const plainText = (holder: JsonObject): string | undefined =>
  typeof holder.content === 'string' && holder.content !== '' && !holder.refusal && thoughtIn(holder) === '' ? holder.content : undefined

const thoughtIn = ({ reasoning_content, reasoning, reasoning_details }: JsonObject): string =>
  stringOf(reasoning_content) || stringOf(reasoning) || detailsText(reasoning_details)
const detailsText = (details: Json | undefined): string => (details ? objects(details).map(detailText).join('') : '')
const detailText = ({ text, summary }: JsonObject): string => stringOf(text) || stringOf(summary)

function partSaid(part: JsonObject): readonly Said[] {
  if (part.type === 'thinking' || part.type === 'reasoning') {
    const inner = part.thinking ?? part.text
    const text =
      typeof inner === 'string'
        ? inner
        : objects(inner)
            .map(piece => stringOf(piece.text))
            .join('')
    return text === '' ? [] : [{ kind: 'reasoning', text }]
  }
  if (part.type === 'refusal') return part.refusal === '' ? [] : [{ kind: 'refusal', text: stringOf(part.refusal) }]
  const text = stringOf(part.text)
  return text === '' ? [] : [{ kind: 'text', text }]
}

/** `choice.logprobs.content`, each entry with its list of alternatives. */
export function logprobsOf(choice: JsonObject): readonly JsonObject[] {
  const entries = isObject(choice.logprobs) ? objects(choice.logprobs.content) : []
  return entries.map(entry => ({ ...entry, top_logprobs: entry.top_logprobs ?? [] }))
}

/** Citations are nested here and flat in our items. */
export function annotationsOf({ annotations }: JsonObject): readonly JsonObject[] {
  const nested = objects(annotations)
  return nested.length === 0 ? nested : nested.flatMap(flat)
}

const flat = ({ type, url_citation }: JsonObject): readonly JsonObject[] =>
  type === 'url_citation' && isObject(url_citation) ? [{ type, ...url_citation }] : []

/** One entry of `tool_calls`, or the old single `function_call`. */
export interface CallPiece {
  readonly place: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** What the provider wants back with the call; blank where it wants nothing. */
  readonly signature: string
}

export function callsIn(holder: JsonObject): readonly CallPiece[] {
  const entries = objects(holder.tool_calls)
  if (entries.length > 0) return entries.map(readPiece)
  return isObject(holder.function_call) ? [readPiece({ index: 0, function: holder.function_call })] : noPieces
}

const noPieces: readonly CallPiece[] = []

function readPiece({ index, id, function: called, custom, extra_content }: JsonObject): CallPiece {
  const body = isObject(called) ? called : isObject(custom) ? custom : {}
  const given = body.arguments ?? body.input
  return {
    place: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined,
    id: stringOf(id),
    name: stringOf(body.name),
    arguments: isObject(given) ? JSON.stringify(given) : stringOf(given),
    signature: signatureIn(extra_content),
  }
}

export const signatureIn = (extra: Json | undefined): string =>
  isObject(extra) && isObject(extra.google) ? stringOf(extra.google.thought_signature) : ''
