import { answerLimits } from '../protocol/answer-limits.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'

/** The content of a frame: an object, nothing, the end mark `[DONE]`, or text that is not valid JSON. */
export type Content = JsonObject | 'nothing' | 'done' | 'broken'

export function readFrame({ data }: Frame): Content {
  if (data === '') return 'nothing'
  if (data === '[DONE]' || data.trim() === '[DONE]') return 'done'
  const value = parseBounded(data)
  if (value === undefined) return 'broken'
  return isObject(value) ? value : 'nothing'
}

/**
 * Parses JSON of a provider. Undefined if it is invalid, or beyond `answerLimits`, which are checked before parsing. What a model wrote as the
 * input of a tool is no fault of its provider: if only such inputs are beyond the limits, they become text, as they are in other dialects.
 */
export function parseBounded(text: string): Json | undefined {
  const bounded = isTooComplex(text) ? withTextInputs(text) : text
  if (bounded === undefined) return undefined
  try {
    return JSON.parse(bounded) as Json
  } catch {
    return undefined
  }
}

/** The names of fields that hold the input of a tool call as an object: Messages and Converse, Gemini. */
const inputNames: ReadonlySet<string> = new Set(['"input"', '"args"'])
const longestInputField = '"input"'.length + 1

/** The JSON with the inputs of tool calls as text. Undefined if it is beyond the limits without them too. Takes time linear in the text. */
function withTextInputs(json: string): string | undefined {
  const pieces: string[] = []
  let copied = 0
  for (let at = 0; at < json.length; at++) {
    if (json.charCodeAt(at) !== quote) continue
    const end = endOfText(json, at)
    const name = json.slice(at, Math.min(end + 1, at + longestInputField))
    at = end
    if (!inputNames.has(name)) continue
    const start = valueAfter(json, end)
    if (json.charCodeAt(start) !== openBrace) continue
    const last = endOfContainer(json, start)
    pieces.push(json.slice(copied, start), JSON.stringify(json.slice(start, last + 1)))
    copied = last + 1
    at = last
  }
  const bounded = pieces.join('') + json.slice(copied)
  return pieces.length === 0 || isTooComplex(bounded) ? undefined : bounded
}

/** The place of the value of a field whose name ends at a quote. The length of the text if no colon follows. */
function valueAfter(json: string, endOfName: number): number {
  const colon = skipBlanks(json, endOfName + 1)
  return json.charCodeAt(colon) === 0x3a ? skipBlanks(json, colon + 1) : json.length
}

function skipBlanks(json: string, start: number): number {
  let at = start
  while (blanks.has(json.charCodeAt(at))) at++
  return at
}

/** The place of the bracket that closes a container, or the end of the text. */
function endOfContainer(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfText(json, at)
    else if (code === 0x5b || code === openBrace) depth++
    else if ((code === 0x5d || code === 0x7d) && --depth === 0) return at
  }
  return json.length
}

const openBrace = 0x7b
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Upper bounds on one JSON text. What is absent is not limited. */
export interface JsonCaps {
  readonly depth?: number
  /** Objects and arrays. */
  readonly containers?: number
  /** Fields of all objects. */
  readonly fields?: number
  readonly fieldsOfObject?: number
  /** Characters of the name of a field. */
  readonly fieldName?: number
  /** Elements of one array. */
  readonly elements?: number
  readonly commas?: number
  /** Commas and opening brackets together. */
  readonly values?: number
}

const none = Number.POSITIVE_INFINITY
const unlimited = {
  depth: none,
  containers: none,
  fields: none,
  fieldsOfObject: none,
  fieldName: none,
  elements: none,
  commas: none,
  values: none,
}

/** The caps that a response is read with. */
const answerCaps: JsonCaps = {
  depth: answerLimits.nesting,
  containers: answerLimits.containers,
  fieldsOfObject: answerLimits.keysOfObject,
  fieldName: answerLimits.keyCharacters,
  elements: answerLimits.elementsOfList,
  commas: answerLimits.values,
}
const { nesting, smallCharacters } = answerLimits
/** A shorter text cannot exceed any limit. */
const shortest = 2 * nesting

/** Whether JSON is nested deeper, or has more values, than allowed in a response. */
export const isTooComplex = (json: string): boolean =>
  json.length >= shortest && (json.length >= smallCharacters || !hasFewContainers(json)) && excessIn(json, answerCaps) !== undefined

/** The first cap that a JSON text exceeds, and the field of its object, as it is written, in which it does. */
interface JsonExcess {
  readonly cap: keyof JsonCaps
  /** Empty if the excess is not inside a field. */
  readonly field: string
}

const structure = /[,:[\]{}"]/g

/** Undefined if no cap is exceeded. One pass over the characters outside strings, before the text is parsed. */
export function excessIn(json: string, caps: JsonCaps): JsonExcess | undefined {
  const max: Required<JsonCaps> = { ...unlimited, ...caps }
  let depth = 0
  let containers = 0
  let commas = 0
  let fields = 0
  /** The last string, and the last one directly in the object that the text is: in a field, its name. */
  let text = { start: 0, end: 0 }
  let name = text
  /** Number of fields and commas so far of the open containers, by depth. */
  const fieldsAt: number[] = [0]
  const commasAt: number[] = [0]
  let cap: keyof JsonCaps | undefined
  /** Characters that are neither structure nor in a string. */
  let others = 0
  for (let index = 0; index < json.length && cap === undefined; index++) {
    const code = json.charCodeAt(index)
    if (code === quote) {
      const end = endOfText(json, index)
      text = { start: index + 1, end }
      if (depth === 1) name = text
      index = end
    } else if (code === 0x2c) {
      const count = (commasAt[depth] ?? 0) + 1
      commasAt[depth] = count
      commas += 1
      if (commas > max.commas) cap = 'commas'
      else if (count >= max.elements) cap = 'elements'
      else if (commas + containers > max.values) cap = 'values'
    } else if (code === 0x3a) {
      const count = (fieldsAt[depth] ?? 0) + 1
      fieldsAt[depth] = count
      fields += 1
      if (fields > max.fields) cap = 'fields'
      else if (count > max.fieldsOfObject) cap = 'fieldsOfObject'
      else if (text.end - text.start > max.fieldName) cap = 'fieldName'
    } else if (code === 0x5b || code === openBrace) {
      depth += 1
      containers += 1
      fieldsAt[depth] = 0
      commasAt[depth] = 0
      if (depth > max.depth) cap = 'depth'
      else if (containers > max.containers) cap = 'containers'
      else if (commas + containers > max.values) cap = 'values'
    } else if (code === 0x5d || code === 0x7d) depth = Math.max(0, depth - 1)
    else if (++others % 16 === 0) {
      // The engine's search is ten times as fast as this loop where there is a long run of blanks or digits.
      structure.lastIndex = index + 1
      index = structure.test(json) ? structure.lastIndex - 2 : json.length
    }
  }
  return cap && { cap, field: depth > 1 ? json.slice(name.start, Math.min(name.end, name.start + 200)) : '' }
}

/** Whether there are too few containers to be nested too deeply. Counts all brackets, including those in strings. */
function hasFewContainers(json: string): boolean {
  let count = 0
  for (let at = json.indexOf('{'); at !== -1 && count < nesting; at = json.indexOf('{', at + 1)) count += 1
  for (let at = json.indexOf('['); at !== -1 && count < nesting; at = json.indexOf('[', at + 1)) count += 1
  return count < nesting
}

export const quote = 0x22
export const backslash = 0x5c

/** The end of a string. Searches from quote to quote, because most of a response is text. */
export function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = at - 1
    while (escapes > start && json.charCodeAt(escapes) === backslash) escapes--
    if ((at - escapes) % 2 === 1) return at
  }
  return json.length
}
