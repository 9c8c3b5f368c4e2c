import { GatewayError } from '@signalbox/dialects/errors'
import { bodyCaps } from '@signalbox/dialects/protocol'

// The number of values is checked in the text if it might be too large, because parsing ten million empty arrays takes seconds.

// Of a longer text, backslashes, commas and opening brackets are counted with the engine's own search, a tenth of the time of a loop over all
// characters; the structure is scanned only if there are too many of them.

/** A value takes at least two characters, as in `1,`, so a shorter text cannot contain too many. */
const shortestText = 2 * bodyCaps.values

/**
 * Throws `invalid_request` if parsing the text would take too long. Short texts cost nothing. Long texts are searched for commas and
 * brackets, and only if there are too many is their structure read.
 */
export function checkJsonLimits(text: string): void {
  if (text.length < shortestText) return
  if (isMoreThan(bodyCaps.escapes, ['\\'], text)) throw tooDense(`${bodyCaps.escapes} escaped characters`)
  checkNames(text)
  if (isMoreThan(bodyCaps.fields, [',', '{', '['], text)) checkStructure(text)
}

/** Checks only the ends of long strings. Parsers take seconds for some hundred long names. */
function checkNames(text: string): void {
  for (let at = text.indexOf('"'); at !== -1; ) {
    const end = endOfString(text, at)
    if (end - at - 1 > bodyCaps.fieldName && isName(text, end)) throw longName()
    at = text.indexOf('"', end + 1)
  }
}

const colon = /[\t\n\r ]*:/y

/** Whether the string that ends here is a field name. */
function isName(text: string, end: number): boolean {
  colon.lastIndex = end + 1
  return colon.test(text)
}

/** Stops counting at the limit. */
function isMoreThan(cap: number, characters: readonly string[], text: string): boolean {
  let count = 0
  for (const character of characters)
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) if (++count > cap) return true
  return false
}

/** The position of the reader. */
interface DensityState {
  readonly text: string
  fields: number
  values: number
  depth: number
  /** The position of the last string directly in the body: while reading a field, its name. */
  name: { readonly from: number; readonly to: number }
}

/** Strings, numbers and whitespace are skipped by the engine's own searches, which are ten times as fast as a loop. */
function checkStructure(text: string): void {
  const reading: DensityState = { text, fields: 0, values: 0, depth: 0, name: { from: 0, to: 0 } }
  const structure = /[,:[\]{}"]/g
  for (let at = 0; at < text.length; at += 1) {
    const step = steps.get(text.charCodeAt(at))
    if (step) at = step(reading, at)
    else {
      structure.lastIndex = at + 1
      if (!structure.test(text)) return
      at = structure.lastIndex - 2
    }
    const { fields, values } = reading
    if (fields > bodyCaps.fields) throw tooDense(`${bodyCaps.fields} fields`, nameIn(reading))
    // An empty array or object counts twice here, as a value and as an opening bracket.
    if (values > 2 * bodyCaps.values) throw tooDense(`${bodyCaps.values} values`, nameIn(reading))
  }
}

type Step = (reading: DensityState, at: number) => number

const opened: Step = (reading, at) => {
  reading.values += 1
  reading.depth += 1
  return at
}
const closed: Step = (reading, at) => {
  reading.depth -= 1
  return at
}

/** The step for each structural character, by its code. Returns the position where the step ends. */
const steps: ReadonlyMap<number, Step> = new Map<number, Step>([
  [
    0x22,
    (reading, at) => {
      const to = endOfString(reading.text, at)
      if (reading.depth === 1) reading.name = { from: at + 1, to }
      return to
    },
  ],
  [
    0x2c,
    (reading, at) => {
      reading.values += 1
      return at
    },
  ],
  [
    0x3a,
    (reading, at) => {
      reading.fields += 1
      return at
    },
  ],
  [0x5b, opened],
  [0x7b, opened],
  [0x5d, closed],
  [0x7d, closed],
])

const backslash = 0x5c

/** The closing quote of the string that begins at `start`: one preceded by an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slash = end - 1
    while (text.charCodeAt(slash) === backslash) slash -= 1
    if ((end - slash) % 2 === 1) return end
  }
  return text.length
}

/** The field name as written in the text. */
const nameIn = ({ text, depth, name: { from, to } }: DensityState): string => (depth > 1 ? text.slice(from, Math.min(to, from + 200)) : '')

const longName = (): GatewayError =>
  new GatewayError('invalid_request', {
    message: `The name of a field of the request body is longer than ${bodyCaps.fieldName} characters.`,
  })

const tooDense = (what: string, param = ''): GatewayError => {
  const where = param === '' ? '' : ` The limit was reached in \`${param}\`.`
  return new GatewayError('invalid_request', {
    message: `The request body has more than ${what} in total.${where} Send fewer.`,
    ...(param !== '' && { param }),
  })
}
