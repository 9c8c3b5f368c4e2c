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

const {
  nesting,
  containers: maxContainers,
  keysOfObject: maxKeys,
  keyCharacters,
  elementsOfList: maxElements,
  values: maxValues,
  smallCharacters,
} = answerLimits
/** A shorter text cannot exceed any limit. */
const shortest = 2 * nesting

/** Whether JSON is nested deeper, or has more values, than allowed in a response. One pass over the characters outside strings. */
export function isTooComplex(json: string): boolean {
  if (json.length < shortest || (json.length < smallCharacters && hasFewContainers(json))) return false
  let depth = 0
  let containers = 0
  let values = 0
  let lengthOfText = 0
  /** Number of keys and commas so far of the open containers, by depth. */
  const keys: number[] = [0]
  const commas: number[] = [0]
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) {
      const end = endOfText(json, at)
      lengthOfText = end - at - 1
      at = end
    } else if (code === 0x2c) {
      const count = (commas[depth] ?? 0) + 1
      if (++values > maxValues || count >= maxElements) return true
      commas[depth] = count
    } else if (code === 0x3a) {
      const count = (keys[depth] ?? 0) + 1
      if (count > maxKeys || lengthOfText > keyCharacters) return true
      keys[depth] = count
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > nesting || ++containers > maxContainers) return true
      keys[depth] = 0
      commas[depth] = 0
    } else if ((code === 0x5d || code === 0x7d) && depth > 0) depth--
  }
  return false
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
