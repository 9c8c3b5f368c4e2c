import { charactersPerToken } from './count-text.ts'

// Upper bound for the tokens of a text, used for holds: one pass with a weight table that is high in every script. The test compares
// it with two tokenizers and with counts reported by providers.

// Bytes ÷ 3 is looser on prose and a third short on Chinese, base64 and numbers; characters ÷ 4 × 1.5 is up to five times short. Routing and
// token counts have estimates of their own, which an upper bound would mislead.

/** Weights are twelfths of a token, so that the table holds integers. */
const unit = 12

const letters = { count: 10, first: 9, next: 3, late: 6 }
const [upper, digit, space, line, mark, other] = [11, 12, 13, 14, 15, 16] as const
const states = 17

type Kind = 'lower' | 'upper' | 'digit' | 'space' | 'line' | 'mark'

function kindOf(code: number): Kind {
  const character = String.fromCharCode(code)
  if (/[a-z]/.test(character)) return 'lower'
  if (/[A-Z]/.test(character)) return 'upper'
  if (/\d/.test(character)) return 'digit'
  if (character === ' ' || character === '\t') return 'space'
  return character === '\n' || character === '\r' ? 'line' : 'mark'
}

interface WeightStep {
  readonly weight: number
  readonly state: number
}

/** The first letter of a word weighs most of a token, each further one a quarter; beyond the usual word length (random letters) a half. */
function lowerStep(state: number): WeightStep {
  if (state === upper) return { weight: letters.next, state: 1 }
  if (state > letters.count) return { weight: letters.first, state: 0 }
  return state === letters.count ? { weight: letters.late, state } : { weight: letters.next, state: state + 1 }
}

const digitWeights: ReadonlyMap<number, number> = new Map([
  [digit, 9],
  [space, 22],
])

const weightSteps: Readonly<Record<Kind, (state: number) => WeightStep>> = {
  lower: lowerStep,
  upper: state => ({ weight: state === upper ? letters.late : unit, state: upper }),
  // Some tokenizers make a token of every digit, and none joins a digit to the preceding space.
  digit: state => ({ weight: digitWeights.get(state) ?? 14, state: digit }),
  space: state => ({ weight: state === line ? 10 : 1, state: space }),
  line: state => ({ weight: state === line ? letters.next : unit, state: line }),
  mark: () => ({ weight: 10, state: mark }),
}

interface Tables {
  /** By state and ASCII character. */
  readonly weights: Uint8Array
  readonly next: Uint8Array
  /** By the upper byte of any other UTF-16 unit. */
  readonly pages: Uint8Array
}

/** Weight from each page on. A surrogate is half a character. */
const pageWeights: readonly (readonly [from: number, weight: number])[] = [
  [0x00, 14], // Latin letters with accents
  [0x01, 20], // rarer Latin letters, phonetics
  [0x03, 18], // accents on their own, Greek
  [0x04, 12], // Cyrillic, Armenian, Hebrew, Arabic
  [0x08, 14], // India, Thailand
  [0x0f, 36], // Tibet, Ethiopia, Georgia, and rare ones
  [0x20, 24], // typographic marks, arrows, mathematics, boxes
  [0x2c, 36],
  [0x30, 18], // kana
  [0x31, 36],
  [0x4e, 26], // Chinese
  [0xa0, 36],
  [0xac, 26], // Korean
  [0xd8, 20], // pairs: emoji, rare Chinese
  [0xe0, 36],
]

function makeTables(): Tables {
  const weights = new Uint8Array(states * 128)
  const next = new Uint8Array(states * 128)
  for (let state = 0; state < states; state++) {
    for (let code = 0; code < 128; code++) {
      const step = weightSteps[kindOf(code)](state)
      weights[state * 128 + code] = step.weight
      next[state * 128 + code] = step.state
    }
  }
  const pages = Uint8Array.from({ length: 256 }, (_, page) => pageWeights.findLast(([from]) => page >= from)?.[1] ?? unit)
  return { weights, next, pages }
}

/** Built on first use: only requests bounded by money need it. */
let tables: Tables | undefined

/** Divisors of the table's weights, for ASCII and for other characters. */
interface Reduction {
  readonly ascii: number
  readonly others: number
}

const unreduced: Reduction = { ascii: 1, others: 1 }
/** Ratio of the table's weights to what tokenizers count. */
const excess: Reduction = { ascii: 1.6, others: 2.5 }

/** Running weights of a text that arrives in pieces. */
export interface TextWeights {
  characters: number
  state: number
  ascii: number
  others: number
}

export const noText = (): TextWeights => ({ characters: 0, state: other, ascii: 0, others: 0 })

/** Adds the next piece of a text. Linear; no text is copied. */
export function addPiece(sum: TextWeights, text: string): void {
  tables ??= makeTables()
  const { weights, next, pages } = tables
  let { state, ascii, others } = sum
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 128) {
      const place = state * 128 + code
      ascii += weights[place] as number
      state = next[place] as number
    } else {
      others += pages[code >> 8] as number
      state = other
    }
  }
  sum.characters += text.length
  sum.state = state
  sum.ascii = ascii
  sum.others = others
}

const tokensOf = ({ ascii, others }: TextWeights, reduction: Reduction): number =>
  Math.ceil((ascii / reduction.ascii + others / reduction.others) / unit)

/** Maximum tokens of a text, exceeded only by artificial texts. Linear; no text is copied. */
export function maxTokensOfText(text: string): number {
  const sum = noText()
  addPiece(sum, text)
  return tokensOf(sum, unreduced)
}

/** Likely tokens of a text that arrived in pieces. */
export const likelyTokens = (sum: TextWeights): number => Math.max(sum.characters / charactersPerToken, tokensOf(sum, excess))

/**
 * Likely tokens of a text, by its scripts: billed for a response whose provider reported no usage.
 *
 * @example likelyTokensOfText('信号楼是铁路上用来控制道岔和信号的建筑。') // 18
 */
export function likelyTokensOfText(text: string): number {
  const sum = noText()
  addPiece(sum, text)
  return likelyTokens(sum)
}

/** UTF-8 bytes of a text: no tokenizer makes more tokens than bytes. A lone surrogate counts two. */
export function bytesOfText(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    // A surrogate pair has four bytes: each half counts two.
    bytes += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2
  }
  return bytes
}
