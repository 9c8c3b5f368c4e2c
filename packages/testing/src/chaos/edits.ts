import type { BuiltInDialect } from '@signalbox/dialects'
import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import type { AnswerContent, WrittenAnswer } from '../answers/answer.ts'
import { parsed } from '../parsed.ts'
import { answeringWith, type Respond } from './acts.ts'
import type { Exchange } from './exchange.ts'

// Correct responses with something wrong in them: modified after encoding.

export type Change = (object: JsonObject) => JsonObject

/** Applies the change to every object inside a value, innermost first. */
function everywhere(value: Json | undefined, change: Change): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[]).map(each => everywhere(each, change) ?? null)
  if (!isObject(value)) return value
  return change(Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, everywhere(inner, change)])))
}

const inObject = (body: JsonObject, change: Change): JsonObject => {
  const changed = everywhere(body, change)
  return isObject(changed) ? changed : body
}

/** The JSON of a frame; undefined if it is not JSON. */
export const bodyOf = ({ data }: Frame): JsonObject => parsed(data) ?? {}

export function inFrame(frame: Frame, change: Change): Frame {
  const body = parsed(frame.data)
  return body ? { ...frame, data: JSON.stringify(inObject(body, change)) } : frame
}

/** Applies the change to the whole response and to every frame. */
export const inAll = (told: WrittenAnswer, change: Change): WrittenAnswer => ({
  whole: inObject(told.whole, change),
  opening: told.opening.map(frame => inFrame(frame, change)),
  content: told.content.map(frame => inFrame(frame, change)),
  closing: told.closing.map(frame => inFrame(frame, change)),
})

/** A change for each dialect that has the changed field. */
export type Changes = Readonly<Partial<Record<BuiltInDialect, Change>>>

const unchanged: Change = object => object

/** Encodes content, applies the dialect's change, and replaces the content frames of a stream. */
export const editedAnswer = (
  script: AnswerContent,
  edit: (content: readonly Frame[], exchange: Exchange) => readonly Frame[],
  changes: Changes = {},
): Respond =>
  answeringWith(exchange => {
    const told = inAll(exchange.writer.write(script, exchange.request), changes[exchange.dialect] ?? unchanged)
    return { ...told, content: edit(told.content, exchange) }
  })

/** Encodes content and applies the dialect's change. */
export const changed = (script: AnswerContent, changes: Changes): Respond => editedAnswer(script, content => content, changes)

/** Replaces the field in objects that have it. */
export const put =
  (field: string, value: Json | undefined | ((before: Json | undefined) => Json | undefined)): Change =>
  object =>
    Object.hasOwn(object, field) ? { ...object, [field]: typeof value === 'function' ? value(object[field]) : value } : object

/** Applies the change only to matching objects. */
export const where =
  (holds: (object: JsonObject) => boolean, change: Change): Change =>
  object =>
    holds(object) ? change(object) : object
