import { mayThink } from '@signalbox/dialects/common'
import type { Model, Offer, Prompt, Quirks } from '@signalbox/dialects/protocol'
import { createLru } from '../runtime/lru.ts'

// Estimates the output tokens, both visible text and hidden reasoning, of a response whose client disconnected before usage arrived.

/** Output speed of each offer, reasoning included, from sending a request to the end of its response. */
export interface OutputPaces {
  /** Output tokens per second. Undefined if no response has been observed. */
  of(offerId: string): number | undefined
  learn(offerId: string, answer: { readonly outputTokens: number; readonly milliseconds: number }): void
}

/** Tokens per second assumed for an offer that is known to reason and has no observed response. */
const defaultPace = 60
/** Silence shorter than this is attributed to the network and to prompt processing. */
const latencyMs = 1_000
const maxPaces = 2_000
/** Responses shorter than this say little about the speed. */
const fewTokens = 12
/** Weight of the newest response, once several have been observed. */
const weight = 0.08

/** Creates the store of learned output paces. */
export function createOutputPaces(): OutputPaces {
  const paces = createLru<{ seen: number; logarithm: number }>(maxPaces)
  return {
    of: offerId => {
      const pace = paces.get(offerId)
      return pace && Math.exp(pace.logarithm)
    },
    learn(offerId, { outputTokens, milliseconds }) {
      if (outputTokens < fewTokens || milliseconds <= 0) return
      const pace = paces.get(offerId) ?? { seen: 0, logarithm: 0 }
      pace.seen += 1
      pace.logarithm += Math.max(weight, 1 / pace.seen) * (Math.log((outputTokens * 1_000) / milliseconds) - pace.logarithm)
      paces.set(offerId, pace)
    },
  }
}

/** Whether an offer reasons in a request: `unknown` if its abilities are not stated and the request does not ask for reasoning. */
export type Thinking = 'never' | 'unknown' | 'known'

/**
 * `never` if the offer lacks the ability, or if the request does not enable reasoning (or disables it where possible) and has no
 * extensions that may enable it.
 *
 * @example thinkingOf({ offer: { abilities: ['reasoning'] }, model: {}, quirks: {} }, { reasoning: { effort: 'none' } }) // 'never'
 */
export function thinkingOf(
  { offer: { abilities }, model: { capabilities }, quirks }: ThinkingFacts,
  prompt: Pick<Prompt, 'reasoning' | 'extensions' | 'native'>,
): Thinking {
  const { reasoning, extensions, native } = prompt
  const isAsked = reasoning?.budget_tokens !== undefined || (reasoning?.effort !== undefined && reasoning.effort !== 'none')
  const isOff = !mayThink(prompt, quirks) && (!isAsked || reasoning?.effort === 'none')
  const isAble = abilities?.includes('reasoning')
  if (isAble === false || (isOff && extensions === undefined && native === undefined)) return 'never'
  return isAble || isAsked || capabilities?.includes('reasoning') ? 'known' : 'unknown'
}

interface ThinkingFacts {
  readonly offer: Pick<Offer, 'abilities'>
  readonly model: Pick<Model, 'capabilities'>
  /** Quirks of the provider and the offer combined. */
  readonly quirks: Quirks
}

export interface UnfinishedAnswer {
  readonly characters: number
  /** Likely tokens of those characters. */
  readonly tokens: number
  /** How many of the characters are reasoning. */
  readonly reasoningCharacters: number
  /** Milliseconds in which the provider was generating, but sent no text. */
  readonly reasoningMs: number
  readonly thinking: Thinking
  /** Observed output speed of the offer in tokens per second. */
  readonly pace: number | undefined
}

/**
 * Output tokens of an abandoned response: the tokens seen, plus the reasoning tokens that the offer is assumed to have written while it
 * sent no text.
 */
export function estimateOutput({ characters, tokens, reasoningCharacters, reasoningMs, thinking, pace }: UnfinishedAnswer): number {
  const seen = Math.ceil(tokens)
  if (thinking === 'never' || reasoningMs < latencyMs) return seen
  const reasoning = Math.round((reasoningMs / 1_000) * (pace ?? (thinking === 'known' ? defaultPace : 0)))
  const seenReasoning = Math.ceil((tokens * reasoningCharacters) / Math.max(1, characters))
  return seen + Math.max(0, reasoning - seenReasoning)
}
