import { GatewayError } from '@signalbox/core/errors'
import { bodyCaps } from '@signalbox/core/protocol'

// What a body holds is counted in its text, where that may be more than it may hold: parsing ten million empty arrays takes seconds.

/** Each value takes two characters at the least, as in `1,`: a shorter text cannot hold too many. */
const shortestText = 2 * bodyCaps.values

/**
 * Throws an `invalid_request` where parsing the text would take too long. Costs nothing for short texts, and of long ones a search
 * for three characters, which a text without that many commas and brackets passes; only then its structure is read.
 */
export function checkDensity(text: string): void {
  if (text.length < shortestText) return
  if (isMoreThan(bodyCaps.escapes, ['\\'], text)) throw tooDense(`${bodyCaps.escapes} escaped characters`)
  checkNames(text)
  if (isMoreThan(bodyCaps.fields, [',', '{', '['], text)) checkStructure(text)
}

/** Looks at the end of long strings only: a parser takes seconds for some hundred long names. */
function checkNames(text: string): void {
  for (let at = text.indexOf('"'); at !== -1; ) {
    const end = endOfString(text, at)
    if (end - at - 1 > bodyCaps.fieldName && isName(text, end)) throw longName()
    at = text.indexOf('"', end + 1)
  }
}

const colon = /[\t\n\r ]*:/y

/** Whether the string that ends there is the name of a field. */
function isName(text: string, end: number): boolean {
  colon.lastIndex = end + 1
  return colon.test(text)
}

/** Stops at the cap. */
function isMoreThan(cap: number, characters: readonly string[], text: string): boolean {
  let count = 0
  for (const character of characters)
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) if (++count > cap) return true
  return false
}

/** Where reading stands. */
interface DensityState {
  readonly text: string
  fields: number
  values: number
  depth: number
  /** Where the last string stands that stood directly in the body: inside of a field that is its name. */
  name: { readonly from: number; readonly to: number }
}

/** Strings, numbers and blanks are stepped over by searches of the engine's own: those are ten times as fast as a loop. */
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
    // An empty array or object counts twice here, as a value and as an opening.
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

/** What each character of structure means, by its code; the character that it ends at. */
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

/** The quote that ends the string which begins at `start`: one before which stand no backslashes, or pairs of them. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slash = end - 1
    while (text.charCodeAt(slash) === backslash) slash -= 1
    if ((end - slash) % 2 === 1) return end
  }
  return text.length
}

/** As it stands in the text. */
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
