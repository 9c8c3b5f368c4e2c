import type { AudioPart, FilePart, HostedCalls, Offer, Price, Prompt, Rates } from '@signalbox/dialects/protocol'
import { ratesUpTo } from '@signalbox/dialects/protocol'
import { tokensOfFile, tokensOfSound } from './count-blobs.ts'
import { charactersPerToken } from './count-text.ts'
import { costAt, hostedCost, type Microdollars } from './money.ts'
import { walkPrompt } from './walk-prompt.ts'

/** Tokens of an image or other base64 data, whatever its size: a model does not read base64 as text. */
export const tokensPerBlob = 1_600
/** Role, delimiters and names around one item. */
const tokensPerItem = 8
/** More tokens than a summary of a conversation, or the advice of another model, has. */
export const maxStepOutput = 20_000
/** More than any prompt or response can have; keeps tokens × price far below 2⁵³. */
export const maxCountedTokens = 10_000_000

export const tokensOfText = (characters: number): number => Math.ceil(characters / charactersPerToken)

/**
 * Estimates the input tokens of a prompt from its length in characters: no text is copied or scanned. `tokensIn` replaces that count.
 *
 * @example estimateInput(request.prompt, likelyTokensOfText)
 */
export function estimateInput(prompt: Prompt, tokensIn?: (text: string) => number): number {
  let characters = 0
  let others = tokensAroundItems(prompt)
  const count = (text: string): void => {
    characters += tokensIn ? tokensIn(text) * charactersPerToken : text.length
  }
  walkPrompt(prompt, {
    text: count,
    sealed: count,
    blob: () => {
      others += tokensPerBlob
    },
    media: part => {
      others += tokensOfMedia(part)
    },
  })
  return others + tokensOfText(characters)
}

export const tokensAroundItems = ({ input, instructions }: Prompt): number => (input.length + (instructions ? 1 : 0)) * tokensPerItem

export const tokensOfMedia = (part: FilePart | AudioPart): number => (part.type === 'file' ? tokensOfFile(part) : tokensOfSound(part))

/** An offer at the price that applies to the request: `{ ...offer, price: requestPrice(candidate, request) }`. */
interface Priced {
  readonly price?: Price | undefined
  readonly contextWindow?: Offer['contextWindow'] | undefined
}

/** Token counts of a request: its likely and maximum input, and its maximum output. */
export interface RequestTokens {
  readonly likely: number
  readonly max: number
  readonly output: number
  /** Calls of hosted tools. Default: none. */
  readonly hosted?: HostedCalls
  /** Calls of the model that read the prompt and summarize it before the answer. Default: 0. */
  readonly compactions?: number
  /** Whether the prompt contains audio. Default: false. */
  readonly hasAudio?: boolean
}

/**
 * The maximum cost of a response from this offer, at the most expensive tier that the prompt may fall into. Held before the call.
 * Always a safe integer. Input beyond the offer's context window is not counted.
 */
export function estimateMaxCost({ price, contextWindow }: Priced, tokens: RequestTokens): Microdollars {
  if (!price) return 0
  const { likely, max, output, hosted, hasAudio, compactions = 0 } = tokens
  const longest = Math.min(contextWindow ?? maxCountedTokens, maxCountedTokens)
  const prompt = { likely: Math.min(likely, longest), max: Math.min(max, longest), hasAudio }
  const written = Math.min(output, maxCountedTokens)
  const summary = Math.min(prompt.max, maxStepOutput)
  let highest = 0
  for (const rates of ratesUpTo(price, prompt.max)) {
    const steps = compactions > 0 ? compactions * maxCostAt(rates, prompt, summary) : 0
    highest = Math.max(highest, maxCostAt(rates, prompt, written) + steps + (hosted ? hostedCost(rates.tools, hosted) : 0))
  }
  return highest
}

interface PromptLength {
  readonly likely: number
  readonly max: number
  readonly hasAudio: boolean | undefined
}

/**
 * Assumes that the whole prompt is written to the cache if that is the most expensive rate. The 1-hour cache rate is applied without the
 * margin: few requests use it, and the margin would reject the others.
 */
function maxCostAt(rates: Rates, { likely, max, hasAudio }: PromptLength, output: number): Microdollars {
  const { input, cached = input, cacheWrite = input, cacheWrite1h } = rates
  const audio = hasAudio ? (rates.inputAudio ?? 0) : 0
  const anHour = cacheWrite1h ?? (rates.cacheWrite === undefined ? 0 : 2 * input)
  const cost = (rate: number, tokens: number): Microdollars =>
    costAt({ input: rate, output: rates.output, request: rates.request ?? 0 }, { ...none, input_tokens: tokens, output_tokens: output })
  return Math.max(cost(Math.max(input, audio, cached, cacheWrite), max), cost(anHour, likely))
}

const none = { cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
