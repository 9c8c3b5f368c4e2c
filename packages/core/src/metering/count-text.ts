import { estimateTokenCount } from 'tokenx'

/** Characters per token, assumed if text is not counted. */
export const charactersPerToken = 4

/** Corrections for English, code and JSON: the library's rules were made for other tokenizers. */
const options = {
  languageConfigs: [
    // Runs of letters and digits (hashes, base64, ids) contain no words, so tokenizers split them into short tokens.
    { pattern: /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]+$/, averageCharsPerToken: 1.8 },
    // Most words of this length are a single token.
    { pattern: /^[a-z]{9,11}$/, averageCharsPerToken: 11 },
  ],
}

/** Texts up to this length (in characters) are counted in full, in about 20 ms. Longer ones are sampled at even intervals. */
export const maxExactCharacters = 200_000
const pieceLength = 2_000

/** Estimated tokens of all texts, each by its own language. Up to `maxExactCharacters`, adding words never lowers the count. */
export function tokensOf(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length <= maxExactCharacters) return texts.reduce((sum, text) => sum + estimateTokenCount(text, options), 0)
  const whole = texts.join('')
  const step = (pieceLength * length) / maxExactCharacters
  const read = { characters: 0, tokens: 0 }
  for (let at = 0; at < length; at += step) {
    const piece = whole.slice(at, at + pieceLength)
    read.characters += piece.length
    read.tokens += estimateTokenCount(piece, options)
  }
  return Math.ceil((read.tokens / read.characters) * length)
}
