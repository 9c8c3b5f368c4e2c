import { answerLimits } from '../protocol/answer-limits.ts'
import { type Frame, isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { copySlice } from './copy-slice.ts'
import { backslash, endOfText, parseBounded, quote } from './parse-frame.ts'

// Most frames of a stream differ from the one before only in their text. The JSON of such a frame is compared with a template, and only its
// text is parsed. A frame that fits would decode to the same delta, because it has the same tokens in the same places.

// The alternative, passing bytes on where client and provider speak one dialect, would be a second path for ids, numbers, caps, warnings and
// usage. A stream makes no more templates after four in a row that no frame fitted, which bounds the extra work.

/** How a dialect writes frames that only add text. */
export interface DeltaFrames {
  /** The text that a frame adds. Undefined if the frame may have another effect, so that it must always be decoded. */
  readonly textOf: (body: JsonObject) => Json | undefined
  /** Top-level fields that are not decoded and differ from frame to frame: integers and strings. */
  readonly varying: readonly string[]
}

/** The only field of an object with a value, apart from its type and role. Undefined if there are others, or its name is not one of `names`. */
export function onlyText(holder: Json | undefined, names: readonly string[]): Json | undefined {
  if (!isObject(holder)) return undefined
  let text: Json | undefined
  for (const name in holder) {
    const value = holder[name]
    if (name === 'type' || name === 'role' || value === null || value === '') continue
    if (text !== undefined || !names.includes(name)) return undefined
    text = value
  }
  return text
}

/** A part of a frame that differs in the next. `field`: the name of a varying field; undefined for the text. */
interface Gap {
  readonly kind: 'text' | 'string' | 'integer'
  readonly field?: string
  readonly start: number
  readonly end: number
}

/** A frame without its text and its varying fields. */
export interface DeltaTemplate {
  readonly event: string | undefined
  /** The JSON before each gap, and after the last one. Quotes around a gap belong to them. */
  readonly literals: readonly string[]
  readonly gaps: readonly Gap[]
}

/** Longer frames are rare, and are not worth the search. A shorter one has no key that is too long once the text of a frame is long. */
const maxCharacters = answerLimits.keyCharacters
/** How many places with the same string as the text are tried. */
const maxPlaces = 3
/** Engines copy a shorter slice, and represent a longer one as a reference to the whole text. */
const shortText = 13

/** The template of a frame that has just been decoded to a delta with this text. Undefined if the frame may have had another effect. */
export function templateOf({ event, data }: Frame, text: string, deltaFrames: DeltaFrames): DeltaTemplate | undefined {
  if (data.length > maxCharacters || (event !== undefined && event.length > maxCharacters)) return undefined
  const json = copyOf(data)
  const varying = deltaFrames.varying.flatMap(field => gapOfField(json, field) ?? [])
  const written = writtenIn(json, text)
  let at = json.indexOf(written)
  for (let places = 0; at !== -1 && places < maxPlaces; places += 1) {
    const gaps = [...varying, { kind: 'text', start: at + 1, end: at + written.length - 1 } as const].toSorted((a, b) => a.start - b.start)
    const template = { event: event && copyOf(event), literals: literalsOf(json, gaps), gaps }
    if (isProven(template, text, deltaFrames)) return template
    at = json.indexOf(written, at + 1)
  }
  return undefined
}

/** The text as JSON: as it is, or with escapes for all characters beyond ASCII, which some servers write. */
function writtenIn(json: string, text: string): string {
  const written = JSON.stringify(text)
  if (json.includes(written)) return written
  return written.replace(/[\u0080-\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A copy: a frame consists of slices, which would keep the whole read in memory. */
const copyOf = (slice: string): string => copySlice(`${slice}\n`, slice.length)

/** The text of a frame that fits the template. Undefined if the frame does not fit, or has no text. */
export function textInFrame({ event, literals, gaps }: DeltaTemplate, frame: Frame): string | undefined {
  const { data } = frame
  if (frame.event !== event) return undefined
  let text: string | undefined
  let at = 0
  for (let index = 0; index < gaps.length; index += 1) {
    const literal = literals[index] as string
    if (!isAt(data, literal, at)) return undefined
    at += literal.length
    const kind = (gaps[index] as Gap).kind
    if (kind === 'text') {
      const plainEnd = endOfPlainText(data, at)
      const end = plainEnd === -1 ? endOfText(data, at - 1) : plainEnd
      text = plainEnd !== -1 && end - at < shortText ? data.slice(at, end) : parseText(data, at, end)
      at = end
    } else at = kind === 'integer' ? endOfInteger(data, at) : endOfPlainText(data, at)
    if (at === -1) return undefined
  }
  const last = literals[gaps.length] as string
  return data.length - at === last.length && data.endsWith(last) && text !== '' ? text : undefined
}

/** Like `startsWith`. A search takes a third of the time, but goes on to the end of a text that does not fit, so only a short one is searched. */
const isAt = (text: string, literal: string, at: number): boolean =>
  text.length > maxCharacters ? text.startsWith(literal, at) : text.indexOf(literal, at) === at

/** The string between two quotes. Undefined if it is not valid. Parsed even without escapes, if a slice would keep the whole read in memory. */
function parseText(json: string, start: number, end: number): string | undefined {
  try {
    return JSON.parse(json.slice(start - 1, end + 1)) as string
  } catch {
    return undefined
  }
}

/** The end of a string without escapes. -1 if it has some. */
function endOfPlainText(json: string, start: number): number {
  for (let at = start; ; at += 1) {
    const code = json.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash || !(code >= 0x20)) return -1
  }
}

/** The end of an integer. -1 if there is none, or it has a leading zero. */
function endOfInteger(json: string, start: number): number {
  let at = start
  while (isDigit(json.charCodeAt(at))) at += 1
  return at === start || (json.charCodeAt(start) === 0x30 && at > start + 1) ? -1 : at
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

function gapOfField(json: string, field: string): Gap | undefined {
  const name = `"${field}":`
  const found = json.indexOf(name)
  if (found === -1) return undefined
  const from = found + name.length
  const start = json.charCodeAt(from) === 0x20 ? from + 1 : from
  const isString = json.charCodeAt(start) === quote
  const gap: Gap = isString
    ? { kind: 'string', field, start: start + 1, end: endOfPlainText(json, start + 1) }
    : { kind: 'integer', field, start, end: endOfInteger(json, start) }
  return gap.end === -1 ? undefined : gap
}

const literalsOf = (json: string, gaps: readonly Gap[]): readonly string[] =>
  [...gaps, { start: json.length }].map(({ start }, index) => json.slice(gaps[index - 1]?.end ?? 0, start))

/** Whether each gap is exactly the value that it is taken for: with other values in the gaps, these are found where they belong. */
function isProven({ literals, gaps }: DeltaTemplate, text: string, { textOf }: DeltaFrames): boolean {
  const values = { text: `${text}.`, string: 'other', integer: 7_777 }
  const written = { text: JSON.stringify(values.text).slice(1, -1), string: values.string, integer: `${values.integer}` }
  const body = parseBounded(gaps.map(({ kind }, index) => `${literals[index]}${written[kind]}`).join('') + literals.at(-1))
  if (!isObject(body) || textOf(body) !== values.text) return false
  return gaps.every(({ kind, field }) => field === undefined || own(body, field) === values[kind])
}
