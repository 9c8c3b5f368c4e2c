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

/** Parses JSON of a provider. Undefined if it is invalid, or beyond `answerLimits`, which are checked before parsing. */
export function parseBounded(text: string): Json | undefined {
  if (isTooComplex(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

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
